# Fails when a file under FOLDER (or FOLDER itself, where it is a file) includes a header through ".." or
# an absolute path: either would walk around the rooms.
file(GLOB_RECURSE files ${FOLDER}/*.h ${FOLDER}/*.cpp ${FOLDER}/*.cu ${FOLDER}/*.cuh)
if(NOT IS_DIRECTORY ${FOLDER})
  set(files ${FOLDER})
endif()
foreach(file ${files})
  file(STRINGS ${file} climbing REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<](/|[^\">]*\\.\\./|\\.\\./)")
  if(climbing)
    message(FATAL_ERROR "${file}: an include leaves its room by '..' or an absolute path: ${climbing}")
  endif()
endforeach()
