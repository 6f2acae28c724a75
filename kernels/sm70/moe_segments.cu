// Run-length encoding of the rows' experts: the segments of the grouped GEMM.
#include <cstdint>

// offsets[s] is the first row of run s and segment_expert[s] its expert. Behind the last run every
// offset is the number of computed rows and every expert 0: empty segments that name a valid
// expert.
//
// `rows`: the number of computed rows, on the device. `each_row`: every row is a segment of its own
// (the single-token route). Written: offsets [slots + 1], segment_expert [slots]. One CTA.
extern "C" __global__ void __launch_bounds__(256)
    moe_segments(int* offsets, int* segment_expert, const int* row_expert, const int* rows,
                 int slots, int each_row) {
  constexpr int kWarps = 256 / 32;
  __shared__ int warp_runs[kWarps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int row_count = *rows;

  int runs = 0;  // runs that begin before this round's rows
  for (int base = 0; base < row_count; base += 256) {
    const int row = base + static_cast<int>(threadIdx.x);
    bool begins = false;
    int expert = 0;
    if (row < row_count) {
      expert = row_expert[row];
      begins = each_row != 0 || row == 0 || row_expert[row - 1] != expert;
    }
    const unsigned beginning = __ballot_sync(0xffffffffu, begins);
    if (lane == 0) warp_runs[warp] = __popc(beginning);
    __syncthreads();
    int segment = runs + __popc(beginning & ((1u << lane) - 1));
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) segment += warp_runs[w];
      runs += warp_runs[w];
    }
    if (begins) {
      offsets[segment] = row;
      segment_expert[segment] = expert;
    }
    __syncthreads();  // warp_runs is written again in the next round
  }
  for (int s = runs + static_cast<int>(threadIdx.x); s <= slots; s += 256) {
    offsets[s] = row_count;
    if (s < slots) segment_expert[s] = 0;
  }
}
