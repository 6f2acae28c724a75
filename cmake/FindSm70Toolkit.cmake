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
