// The measured tables as bytes of the library; the paths come from CMakeLists.txt.
    .section .rodata
    .globl voltcheck_ex2_corrections
    .globl voltcheck_ex2_corrections_end
voltcheck_ex2_corrections:
    .incbin VOLTCHECK_EX2_TABLE
voltcheck_ex2_corrections_end:
    .globl voltcheck_rcp_corrections
    .globl voltcheck_rcp_corrections_end
voltcheck_rcp_corrections:
    .incbin VOLTCHECK_RCP_TABLE
voltcheck_rcp_corrections_end:

// Nothing here is executable, so the program keeps a stack that is not.
    .section .note.GNU-stack, "", %progbits
