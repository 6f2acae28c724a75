# Flags that hold for every C++ target of the project.
#
# -ffp-contract=off: a fused multiply-add is written as std::fma where it is meant, so the bits of the
# reference and of the simulator do not depend on what the compiler finds profitable.
add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-Wall>
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
  $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Werror>
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)
# GCC 12 takes `"text" + std::string` at -O3 for overlapping copies (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# With every access checked, the vector code takes minutes a file to compile: -O1, and AVX2 alone of the
# instruction sets that Highway would compile it for.
if(VOLTCHECK_SANITIZE)
  add_compile_options(-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  add_link_options(-fsanitize=address,undefined)
endif()
