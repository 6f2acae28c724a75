// Tiles of 8 rows by 128 columns, stages of 64 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(8, 128, 64, 32)
VOLTCHECK_GROUPED_GEMM(8, 128, 64, 64)
VOLTCHECK_GROUPED_GEMM(8, 128, 64, 128)
