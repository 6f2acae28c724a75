# voltcheck_room(NAME FOLDER [SOURCES file...] [APART file...] [USES room...] [LIBRARIES target...] [PRIVATE_LIBRARIES target...])
#
# One room of the house as a static library; without SOURCES an interface, and FOLDER may then be a
# single header. Its headers are included by their path from the project's
# root ("reference/awq.h"). A room sees only its own headers and those of the rooms it USES: the
# include path of the room is a folder of its own in the build tree that holds one link, to FOLDER.
# A header of any other room is not found, and an include that walks around that (through ".." or an
# absolute path) fails the build. Which rooms may use which is written in docs/architecture.md.
#
# The files are compiled ten at a time (Unity.cmake). Files of APART have names that others of the room have
# as well, and are compiled each for itself.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/CheckIncludes.cmake)
set(VOLTCHECK_ROOM_MODULES ${CMAKE_CURRENT_LIST_DIR})

include(${CMAKE_CURRENT_LIST_DIR}/Unity.cmake)

function(voltcheck_room NAME FOLDER)
  cmake_parse_arguments(ROOM "" "" "SOURCES;APART;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(view ${CMAKE_BINARY_DIR}/rooms/${NAME})
  get_filename_component(parent ${view}/${FOLDER} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${FOLDER} ${view}/${FOLDER} SYMBOLIC)

  if(ROOM_SOURCES)
    add_library(voltcheck_${NAME} STATIC ${ROOM_SOURCES} ${ROOM_APART})
    voltcheck_unity(voltcheck_${NAME} 10 ${ROOM_APART})
    set(scope PUBLIC)
    target_link_libraries(voltcheck_${NAME} PRIVATE ${ROOM_PRIVATE_LIBRARIES})
  else()
    add_library(voltcheck_${NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(voltcheck_${NAME} ${scope} ${view})
  foreach(used ${ROOM_USES})
    target_link_libraries(voltcheck_${NAME} ${scope} voltcheck_${used})
  endforeach()
  target_link_libraries(voltcheck_${NAME} ${scope} ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY VOLTCHECK_ROOMS ${NAME})

  add_custom_target(voltcheck_${NAME}_includes
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_SOURCE_DIR}/${FOLDER}
            -P ${VOLTCHECK_ROOM_MODULES}/CheckIncludes.cmake
    COMMENT "" VERBATIM)
  add_dependencies(voltcheck_${NAME} voltcheck_${NAME}_includes)
endfunction()

# Writes rooms.txt in the build folder, one line "room: used rooms" for each room, as the targets say
# it at the end of configuring (so links made beside voltcheck_room count too), and refuses a room
# whose include path leads into the source tree.
function(voltcheck_write_rooms)
  get_property(rooms GLOBAL PROPERTY VOLTCHECK_ROOMS)
  set(text "")
  foreach(room ${rooms})
    get_target_property(kind voltcheck_${room} TYPE)
    set(prefix "")
    if(kind STREQUAL "INTERFACE_LIBRARY")
      set(prefix INTERFACE_)
    endif()
    get_target_property(links voltcheck_${room} ${prefix}LINK_LIBRARIES)
    set(used "")
    foreach(other ${rooms})
      if("${links}" MATCHES "voltcheck_${other}($|[;>])")
        string(APPEND used " ${other}")
      endif()
    endforeach()
    string(APPEND text "${room}:${used}\n")
    get_target_property(folders voltcheck_${room} ${prefix}INCLUDE_DIRECTORIES)
    foreach(folder ${folders})
      string(FIND "${folder}/" "${CMAKE_BINARY_DIR}/" in_build)
      string(FIND "${folder}/" "${CMAKE_SOURCE_DIR}/" in_source)
      if(in_source EQUAL 0 AND NOT in_build EQUAL 0)
        message(FATAL_ERROR "voltcheck_${room} has ${folder} on its include path: that opens other "
          "rooms to it; name the room in USES instead")
      endif()
    endforeach()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/rooms.txt "${text}")
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL voltcheck_write_rooms)
