# voltcheck_unity(TARGET BATCH [file...])
#
# Most of a build from nothing is reading the same headers and compiling the same templates again and again,
# so the files of TARGET are compiled BATCH at a time (VOLTCHECK_UNITY=OFF: each for itself). Each for itself
# in any case: the files named, which have names that others of the target have as well; files that go through
# Highway's instruction sets, whose loop over them serves one file of a translation unit; and, by CMake,
# files with options of their own.
function(voltcheck_unity TARGET BATCH)
  get_target_property(sources ${TARGET} SOURCES)
  set(apart ${ARGN})
  foreach(source ${sources})
    if(source MATCHES "\\.cpp$" AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${source} loop REGEX "include [<\"]hwy/foreach_target.h")
      if(loop)
        list(APPEND apart ${source})
      endif()
    endif()
  endforeach()
  set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD "${VOLTCHECK_UNITY}" UNITY_BUILD_BATCH_SIZE ${BATCH})
endfunction()
