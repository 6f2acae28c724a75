# Builds the project in house/ as CASE says and asserts that only the allowed one builds, and that the
# others fail for the reason they were made for.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/house/ DESTINATION ${WORK}/source)
# The two that walk around the rooms are written here, so that no such include stands in the tree.
if(CASE STREQUAL "climbing")
  file(WRITE ${WORK}/source/user/climbing.cpp
       "#include \"../shut/shut.h\"\nint User() { return Shut(); }\n")
elseif(CASE STREQUAL "absolute")
  file(WRITE ${WORK}/source/user/absolute.cpp
       "#include \"${WORK}/source/shut/shut.h\"\nint User() { return Shut(); }\n")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR} -DCASE=${CASE}
          -DCMAKE_CXX_COMPILER=${COMPILER} -DROOM_MODULE=${SOURCE}/cmake/Room.cmake
  RESULT_VARIABLE configured OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(configured EQUAL 0)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target voltcheck_user
                  RESULT_VARIABLE built OUTPUT_VARIABLE output ERROR_VARIABLE output)
endif()

string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps its messages anywhere.
set(reason_forbidden "shut/shut.h: No such file")
set(reason_climbing "leaves its room")
set(reason_absolute "leaves its room")
set(reason_widened "has .* on its include path")
if(CASE STREQUAL "allowed")
  if(NOT configured EQUAL 0 OR NOT built EQUAL 0)
    message(FATAL_ERROR "a room that uses an allowed room does not build:\n${output}")
  endif()
elseif(configured EQUAL 0 AND built EQUAL 0)
  message(FATAL_ERROR "a room reached into a forbidden room (${CASE}) and built")
elseif(NOT output MATCHES "${reason_${CASE}}" AND NOT output MATCHES "shut/shut.h' file not found")
  message(FATAL_ERROR "the build failed for another reason than the forbidden include:\n${output}")
endif()
