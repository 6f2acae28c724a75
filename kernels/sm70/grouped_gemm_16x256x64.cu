// Tiles of 16 rows by 256 columns, stages of 64 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(16, 256, 64, 128)
