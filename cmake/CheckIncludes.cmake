# Fails when a file under FOLDER includes a header through ".." or an absolute path: either would walk
# around the rooms.
file(GLOB_RECURSE files ${FOLDER}/*.h ${FOLDER}/*.cpp ${FOLDER}/*.cu ${FOLDER}/*.cuh)
foreach(file ${files})
  file(STRINGS ${file} climbing REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<](/|[^\">]*\\.\\./|\\.\\./)")
  if(climbing)
    message(FATAL_ERROR "${file}: an include leaves its room by '..' or an absolute path: ${climbing}")
  endif()
endforeach()
