// Tiles of 32 rows by 256 columns, stages of 32 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(32, 256, 32, 128)
