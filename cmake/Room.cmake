# voltcheck_room(NAME FOLDER SOURCES file... [USES room...] [LIBRARIES target...] [PRIVATE_LIBRARIES target...])
#
# One room of the house as a static library. Its headers are included by their path from the project's
# root ("reference/awq.h"). A room sees only its own headers and those of the rooms it USES: the
# include path of the room is a folder of its own in the build tree that holds one link, to FOLDER.
# A header of any other room is not found, and an include that climbs with ".." fails the build.
function(voltcheck_room NAME FOLDER)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(view ${CMAKE_BINARY_DIR}/rooms/${NAME})
  get_filename_component(parent ${view}/${FOLDER} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${FOLDER} ${view}/${FOLDER} SYMBOLIC)

  add_library(voltcheck_${NAME} STATIC ${ROOM_SOURCES})
  target_include_directories(voltcheck_${NAME} PUBLIC ${view})
  foreach(used ${ROOM_USES})
    target_link_libraries(voltcheck_${NAME} PUBLIC voltcheck_${used})
  endforeach()
  target_link_libraries(voltcheck_${NAME} PUBLIC ${ROOM_LIBRARIES} PRIVATE ${ROOM_PRIVATE_LIBRARIES})

  add_custom_target(voltcheck_${NAME}_includes
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_SOURCE_DIR}/${FOLDER}
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckIncludes.cmake
    COMMENT "" VERBATIM)
  add_dependencies(voltcheck_${NAME} voltcheck_${NAME}_includes)
endfunction()
