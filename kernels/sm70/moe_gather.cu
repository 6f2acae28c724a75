// The permuted input: row d is the activation of the token whose slot lies there.
#include <cuda_fp16.h>

#include <cstdint>

// One thread copies 16 bytes. `rows`: the number of computed rows, on the device; rows behind it
// are not written. Grid: x covers slots * hidden / 8 threads.
extern "C" __global__ void __launch_bounds__(128)
    moe_gather(__half* permuted, const __half* hidden_states, const int* row_token, const int* rows,
               int slots, int hidden) {
  const int pieces = hidden / 8;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = index / pieces;
  if (row >= slots || row >= *rows) return;
  const std::size_t token = row_token[row];
  reinterpret_cast<uint4*>(permuted)[index] =
      __ldg(reinterpret_cast<const uint4*>(hidden_states) + token * pieces + index % pieces);
}
