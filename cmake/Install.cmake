# `cmake --install BUILD --prefix DIR` makes a folder that can be moved anywhere, to other machines too:
#   bin/voltcheck             kernels and suites are inside
#   lib/*.so*                 the shared libraries it needs, but for the C and C++ runtimes of the system
#   share/voltcheck/fixtures  the shipped fixtures
include(GNUInstallDirs)

# DT_RPATH, not DT_RUNPATH: it also serves the libraries that libraries need.
set_target_properties(voltcheck PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
target_link_options(voltcheck PRIVATE -Wl,--disable-new-dtags)
install(TARGETS voltcheck RUNTIME_DEPENDENCY_SET voltcheck_libraries
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(RUNTIME_DEPENDENCY_SET voltcheck_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|dl|gcc_s|m|pthread|resolv|rt|stdc\\+\\+)\\.so"
  LIBRARY DESTINATION lib)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/fixtures/data/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/voltcheck/fixtures
        FILES_MATCHING PATTERN "*.h5" PATTERN "LICENSE*" PATTERN "*.md")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/voltcheck)
