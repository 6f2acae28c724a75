// Tiles of 64 rows by 128 columns, stages of 32 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(64, 128, 32, 32)
VOLTCHECK_GROUPED_GEMM(64, 128, 32, 64)
VOLTCHECK_GROUPED_GEMM(64, 128, 32, 128)
