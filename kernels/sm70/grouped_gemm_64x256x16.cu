// Tiles of 64 rows by 256 columns, stages of 16 rows of K.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(64, 256, 16, 128)
