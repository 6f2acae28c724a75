# Finds a CUDA Toolkit that can still target SM70 (11.x or 12.x; CUDA 13 dropped it).
#
# Sets SM70_NVCC, SM70_PTXAS, SM70_CUOBJDUMP, SM70_NVDISASM, SM70_TOOLKIT_BIN, SM70_TOOLKIT_VERSION and
# SM70_NVCC_COMMAND (a command prefix under which nvcc picks up its own ptxas: Debian's nvcc calls
# whichever ptxas is first on PATH). tools/setup/find_sm70_toolkit.sh says where it looks, so that
# set-up and build agree; -DVOLTCHECK_CUDA_ROOT names one toolkit and no other. The answer is left in
# sm70_toolkit.txt of the build folder: when it changes, tools/setup/build.sh configures afresh.
set(finder ${CMAKE_SOURCE_DIR}/tools/setup/find_sm70_toolkit.sh)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${finder})
set(root_setting)
if(VOLTCHECK_CUDA_ROOT)
  set(root_setting VOLTCHECK_CUDA_ROOT=${VOLTCHECK_CUDA_ROOT})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env ${root_setting} ${finder}
                RESULT_VARIABLE status OUTPUT_VARIABLE found ERROR_VARIABLE rejected)
if(status EQUAL 0)
  set(Sm70Toolkit_FOUND TRUE)
  file(WRITE ${CMAKE_BINARY_DIR}/sm70_toolkit.txt "${found}")
  string(REGEX MATCH "([^\n]*)\n([^\n]*)" _ "${found}")
  set(SM70_TOOLKIT_BIN ${CMAKE_MATCH_1})
  set(SM70_TOOLKIT_VERSION ${CMAKE_MATCH_2})
  set(SM70_NVCC ${SM70_TOOLKIT_BIN}/nvcc)
  set(SM70_PTXAS ${SM70_TOOLKIT_BIN}/ptxas)
  find_program(SM70_CUOBJDUMP cuobjdump HINTS ${SM70_TOOLKIT_BIN} PATHS /usr/bin NO_DEFAULT_PATH NO_CACHE)
  find_program(SM70_NVDISASM nvdisasm HINTS ${SM70_TOOLKIT_BIN} PATHS /usr/bin NO_DEFAULT_PATH NO_CACHE)
  # nvcc 11 refuses a host compiler newer than 11, though only its preprocessor is used here.
  set(SM70_NVCC_COMMAND ${CMAKE_COMMAND} -E env "PATH=${SM70_TOOLKIT_BIN}:$ENV{PATH}" ${SM70_NVCC}
      -allow-unsupported-compiler)
  # The host preprocessor searches /usr/local/include first, where another toolkit may have put its headers.
  # Ask which release's headers come out; if they are not this toolkit's, take those folders off the path.
  file(WRITE ${CMAKE_BINARY_DIR}/sm70_probe.cu "headers of CUDART_VERSION\n")
  function(sm70_header_release result)
    execute_process(COMMAND ${SM70_NVCC_COMMAND} ${ARGN} -E ${CMAKE_BINARY_DIR}/sm70_probe.cu
                    OUTPUT_VARIABLE text ERROR_QUIET)
    set(release "none")
    if(text MATCHES "headers of.*[ \n]([0-9]+)[ \n]*$")  # a line marker may stand between
      math(EXPR major "${CMAKE_MATCH_1} / 1000")
      math(EXPR minor "${CMAKE_MATCH_1} % 1000 / 10")
      set(release "${major}.${minor}")
    endif()
    set(${result} ${release} PARENT_SCOPE)
  endfunction()
  sm70_header_release(header_release)
  if(NOT header_release STREQUAL SM70_TOOLKIT_VERSION)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C gcc -E -v -x c++ /dev/null
                    ERROR_VARIABLE text OUTPUT_QUIET)
    string(REGEX REPLACE ".*#include <...> search starts here:(.*)\nEnd of search list.*" "\\1" text "${text}")
    string(REGEX MATCHALL "\n /[^\n]+" folders "${text}")
    set(header_flags -Xcompiler -nostdinc)
    foreach(folder ${folders})
      string(STRIP "${folder}" folder)
      set(foreign FALSE)
      if(EXISTS ${folder}/cuda_runtime_api.h)
        file(STRINGS ${folder}/cuda_runtime_api.h defined REGEX "define CUDART_VERSION +[0-9]+")
        string(REPLACE "." ";" parts ${SM70_TOOLKIT_VERSION})
        list(GET parts 0 major)
        list(GET parts 1 minor)
        math(EXPR wanted "${major} * 1000 + ${minor} * 10")
        if(NOT defined MATCHES " ${wanted}$")
          set(foreign TRUE)
          message(STATUS "CUDA headers of another release are passed over: ${folder}")
        endif()
      endif()
      if(NOT foreign)
        list(APPEND header_flags -Xcompiler -isystem -Xcompiler ${folder})
      endif()
    endforeach()
    sm70_header_release(header_release ${header_flags})
    if(NOT header_release STREQUAL SM70_TOOLKIT_VERSION)
      message(FATAL_ERROR "${SM70_NVCC} (release ${SM70_TOOLKIT_VERSION}) finds CUDA headers of release "
        "${header_release}; remove those from the compiler's include path, or pass -DVOLTCHECK_CUDA_ROOT.")
    endif()
    list(APPEND SM70_NVCC_COMMAND ${header_flags})
  endif()
  message(STATUS "CUDA Toolkit for SM70: ${SM70_TOOLKIT_BIN} (release ${SM70_TOOLKIT_VERSION})")
else()
  set(Sm70Toolkit_FOUND FALSE)
  if(Sm70Toolkit_FIND_REQUIRED)
    message(FATAL_ERROR "No CUDA Toolkit that can target SM70 was found (11.x or 12.x is needed; "
      "CUDA 13 dropped it).\n${rejected}"
      "Install one: 'apt-get install nvidia-cuda-toolkit' from Debian's non-free or Ubuntu's "
      "multiverse component, or pass -DVOLTCHECK_CUDA_ROOT=/path/to/cuda-12.x.")
  endif()
endif()
