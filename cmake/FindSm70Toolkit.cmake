# Finds a CUDA Toolkit that can still target SM70 (11.x or 12.x; CUDA 13 dropped it).
#
# Sets SM70_NVCC, SM70_PTXAS, SM70_CUOBJDUMP, SM70_NVDISASM, SM70_TOOLKIT_BIN, SM70_TOOLKIT_VERSION and
# SM70_NVCC_COMMAND (a command prefix under which nvcc picks up its own ptxas: Debian's nvcc calls
# whichever ptxas is first on PATH). The search order: -DVOLTCHECK_CUDA_ROOT, $CUDA_HOME, the
# distribution's toolkit, /usr/local/cuda*, the nvcc on PATH.
set(candidates)
if(VOLTCHECK_CUDA_ROOT)
  list(APPEND candidates ${VOLTCHECK_CUDA_ROOT}/bin)
endif()
if(DEFINED ENV{CUDA_HOME})
  list(APPEND candidates $ENV{CUDA_HOME}/bin)
endif()
list(APPEND candidates /usr/bin)
file(GLOB installed /usr/local/cuda*/bin)
list(SORT installed COMPARE NATURAL ORDER DESCENDING)
list(APPEND candidates ${installed})
find_program(path_nvcc nvcc NO_CACHE)
if(path_nvcc)
  get_filename_component(path_nvcc ${path_nvcc} REALPATH)
  get_filename_component(path_nvcc ${path_nvcc} DIRECTORY)
  list(APPEND candidates ${path_nvcc})
endif()

file(WRITE ${CMAKE_BINARY_DIR}/sm70_probe.ptx
     ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry probe() { ret; }\n")
set(Sm70Toolkit_FOUND FALSE)
set(rejected "")
foreach(bin ${candidates})
  if(NOT EXISTS ${bin}/nvcc OR NOT EXISTS ${bin}/ptxas)
    continue()
  endif()
  execute_process(COMMAND ${bin}/ptxas --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" _ "${version}")
  set(version ${CMAKE_MATCH_1})
  # The only proof is to assemble something: the help text of CUDA 13 still mentions sm_70.
  execute_process(COMMAND ${bin}/ptxas -arch=sm_70 -o ${CMAKE_BINARY_DIR}/sm70_probe.cubin
                          ${CMAKE_BINARY_DIR}/sm70_probe.ptx
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(SM70_TOOLKIT_BIN ${bin})
    set(SM70_TOOLKIT_VERSION ${version})
    set(Sm70Toolkit_FOUND TRUE)
    break()
  endif()
  string(APPEND rejected "\n  ${bin}: release ${version} cannot target SM70")
endforeach()

if(Sm70Toolkit_FOUND)
  set(SM70_NVCC ${SM70_TOOLKIT_BIN}/nvcc)
  set(SM70_PTXAS ${SM70_TOOLKIT_BIN}/ptxas)
  find_program(SM70_CUOBJDUMP cuobjdump HINTS ${SM70_TOOLKIT_BIN} PATHS /usr/bin NO_DEFAULT_PATH NO_CACHE)
  find_program(SM70_NVDISASM nvdisasm HINTS ${SM70_TOOLKIT_BIN} PATHS /usr/bin NO_DEFAULT_PATH NO_CACHE)
  # nvcc 11 refuses a host compiler newer than 11, though only its preprocessor is used here.
  set(SM70_NVCC_COMMAND ${CMAKE_COMMAND} -E env "PATH=${SM70_TOOLKIT_BIN}:$ENV{PATH}" ${SM70_NVCC}
      -allow-unsupported-compiler)
  message(STATUS "CUDA Toolkit for SM70: ${SM70_TOOLKIT_BIN} (release ${SM70_TOOLKIT_VERSION})")
elseif(Sm70Toolkit_FIND_REQUIRED)
  message(FATAL_ERROR "No CUDA Toolkit that can target SM70 was found (11.x or 12.x is needed; "
    "CUDA 13 dropped it).${rejected}\n"
    "Install one: 'apt-get install nvidia-cuda-toolkit' from Debian's non-free or Ubuntu's multiverse "
    "component, or pass -DVOLTCHECK_CUDA_ROOT=/path/to/cuda-12.x.")
endif()
