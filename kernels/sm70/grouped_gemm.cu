// The grouped GEMM's entries for one tile and group. Compiled once for each row of the tactic
// table, to a module of its own (kernels/CMakeLists.txt), so that whoever needs one tactic loads no
// others.
#include "kernels/sm70/grouped_gemm.cuh"

VOLTCHECK_GROUPED_GEMM(TILE_M, TILE_N, TILE_K, GROUP)
