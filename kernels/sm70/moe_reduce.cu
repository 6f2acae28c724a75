// Back from rows to tokens: the weighted sum over a token's routes.
#include <cuda_fp16.h>

#include <cstdint>

// out[t] = RN16(sum over j of weights[t, j] * y[inverse[t * top_k + j]]), one fused multiply-add
// after the other from +0 in the router's order, in fp32. Routes whose row was not computed add
// nothing.
//
// One thread makes eight columns of one token. Grid: x covers tokens * hidden / 8 threads.
extern "C" __global__ void __launch_bounds__(128)
    moe_reduce(__half* out, const __half* y, const float* weights, const int* inverse,
               const int* rows, int tokens, int top_k, int hidden) {
  const int pieces = hidden / 8;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int token = index / pieces;
  if (token >= tokens) return;
  union Halves8 {
    uint4 bits;
    __half h[8];
  };
  float sum[8] = {};
  for (int route = 0; route < top_k; ++route) {
    const int slot = token * top_k + route;
    const int row = inverse[slot];
    if (row >= *rows) continue;
    const float weight = weights[slot];
    Halves8 value;
    value.bits =
        reinterpret_cast<const uint4*>(y)[static_cast<std::size_t>(row) * pieces + index % pieces];
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] = __fmaf_rn(weight, __half2float(value.h[i]), sum[i]);
  }
  Halves8 result;
#pragma unroll
  for (int i = 0; i < 8; ++i) result.h[i] = __float2half_rn(sum[i]);
  reinterpret_cast<uint4*>(out)[index] = result.bits;
}
