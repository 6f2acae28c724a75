// The measured tables as bytes of the library; CMakeLists.txt says where the files are.
    .section .rodata

    .macro table name, file
    .globl voltcheck_\name\()_begin
    .globl voltcheck_\name\()_end
voltcheck_\name\()_begin:
    .incbin "\file"
voltcheck_\name\()_end:
    .endm

    table ex2, ex2_approx_ftz_corrections.i8.zlib
    table rcp, rcp_approx_ftz_corrections.i8.zlib
    table sqrt_from_1, sqrt_approx_ftz_corrections_from_1.i8.zlib
    table sqrt_from_2, sqrt_approx_ftz_corrections_from_2.i8.zlib
    table rsqrt_from_1, rsqrt_approx_ftz_corrections_from_1.i8.zlib
    table rsqrt_from_2, rsqrt_approx_ftz_corrections_from_2.i8.zlib
    table lg2_from_1, lg2_approx_ftz_from_1.d32.zlib
    table lg2_from_half, lg2_approx_ftz_from_half.d32.zlib
    table sin_quarter, sin_approx_quarter.d32.zlib
    table rcp64, rcp64h_from_1.d32.zlib
    table rsqrt64, rsq64h_from_1.d32.zlib

// Nothing here is executable, so the program keeps a stack that is not.
    .section .note.GNU-stack, "", %progbits
