# voltcheck_embed_ptx(TARGET FOLDER SOURCES file.cu... VARIANTS "NAME file.cu definition..."... HEADERS file.cuh...)
#
# Compiles device code for SM70 and embeds it in TARGET: per file NAME.cu, and per variant (a file compiled with
# preprocessor definitions, the words of one string), in the build tree under FOLDER,
#
#   NAME.ptx         nvcc -ptx, with line information, made independent of where the checkout lies
#   NAME.cubin       the same toolkit's ptxas, for real SM70 chips
#   NAME.ptxas.txt   what ptxas -v said: registers, shared memory, spills
#
# and one assembler file that takes PTX and cubins in with .incbin and lists them in a table
# (kernels/embedded_modules.h). Sets VOLTCHECK_PTX_DIR in the caller's scope.
function(voltcheck_embed_ptx TARGET FOLDER)
  cmake_parse_arguments(PTX "" "" "SOURCES;VARIANTS;HEADERS" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/${FOLDER})
  file(MAKE_DIRECTORY ${out})
  set(view ${CMAKE_BINARY_DIR}/rooms/kernels)  # device code sees its room alone, as voltcheck_room has it
  set(products)
  set(data "    .section .rodata,\"a\",@progbits\n")
  set(table "    .section .data.rel.ro,\"aw\",@progbits\n    .balign 8\n    .globl voltcheck_embedded_modules\nvoltcheck_embedded_modules:\n")
  set(modules ${PTX_VARIANTS})
  if(VOLTCHECK_FUZZ)  # the fuzz targets run no kernel
    set(modules)
    set(PTX_SOURCES)
  endif()
  foreach(source ${PTX_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    list(APPEND modules "${name} ${source}")
  endforeach()
  list(SORT modules)
  foreach(module ${modules})
    separate_arguments(definitions UNIX_COMMAND "${module}")
    list(POP_FRONT definitions name source)
    list(TRANSFORM definitions PREPEND "-D")
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    add_custom_command(
      OUTPUT ${out}/${name}.ptx
      COMMAND ${SM70_NVCC_COMMAND} -ptx -arch=compute_70 -std=c++17 -O3 -lineinfo -I ${view} ${definitions}
              -o ${out}/${name}.raw.ptx ${CMAKE_SOURCE_DIR}/${relative}
      COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DVIEW=${view} -DIN=${out}/${name}.raw.ptx
              -DOUT=${out}/${name}.ptx -P ${CMAKE_SOURCE_DIR}/cmake/NormalisePtx.cmake
      DEPENDS ${CMAKE_SOURCE_DIR}/${relative} ${PTX_HEADERS}
              ${CMAKE_SOURCE_DIR}/cmake/NormalisePtx.cmake
      COMMENT "PTX ${name}" VERBATIM)
    add_custom_command(
      OUTPUT ${out}/${name}.cubin ${out}/${name}.ptxas.txt
      COMMAND sh -c "\"$1\" -arch=sm_70 -O3 -v -o \"$2.cubin\" \"$2.ptx\" >\"$2.ptxas.txt\" 2>&1 || { cat \"$2.ptxas.txt\" >&2; exit 1; }"
              sh ${SM70_PTXAS} ${out}/${name}
      DEPENDS ${out}/${name}.ptx
      COMMENT "SM70 cubin ${name}" VERBATIM)
    list(APPEND products ${out}/${name}.ptx ${out}/${name}.cubin)
    # Each file is followed by a zero byte, so that the PTX is a C string as the driver wants it.
    string(APPEND data
      "name_${name}: .asciz \"${name}.ptx\"\n"
      "    .balign 16\nptx_${name}: .incbin \"${out}/${name}.ptx\"\nptx_end_${name}: .byte 0\n"
      "    .balign 16\ncubin_${name}: .incbin \"${out}/${name}.cubin\"\ncubin_end_${name}: .byte 0\n")
    string(APPEND table "    .quad name_${name}, ptx_${name}, ptx_end_${name}, cubin_${name}, cubin_end_${name}\n")
  endforeach()
  string(APPEND table "    .quad 0, 0, 0, 0, 0\n")
  set(assembler ${out}/embedded_modules.S)
  file(CONFIGURE OUTPUT ${assembler} @ONLY CONTENT
    "${data}${table}    .section .note.GNU-stack,\"\",@progbits\n")
  set_source_files_properties(${assembler} PROPERTIES OBJECT_DEPENDS "${products}")
  target_sources(${TARGET} PRIVATE ${assembler})
  set(VOLTCHECK_PTX_DIR ${out} PARENT_SCOPE)
endfunction()
