// Tiles of 128 rows by 128 columns, stages of 16 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(128, 128, 16, 32)
VOLTCHECK_GROUPED_GEMM(128, 128, 16, 64)
VOLTCHECK_GROUPED_GEMM(128, 128, 16, 128)
