// The activation between the two GEMMs: silu(gate) * up.
#include <cstdint>

#include "kernels/sm70/silu.cuh"

namespace voltcheck::sm70 {

union Halves8 {
  uint4 bits;
  __half h[8];
};

// One thread makes eight outputs from 16 inputs. `gate_up` is [slots, 2 * intermediate]; rows
// behind *rows are neither read nor written.
template <bool kInterleaved>
__device__ __forceinline__ void SiluMulRows(__half* out, const __half* gate_up, const int* rows,
                                            int slots, int intermediate) {
  const int pieces = intermediate / 8;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = index / pieces;
  const int piece = index % pieces;
  if (row >= slots || row >= *rows) return;
  const uint4* source =
      reinterpret_cast<const uint4*>(gate_up) + static_cast<std::size_t>(row) * 2 * pieces;
  Halves8 first, second, result;
  first.bits = source[kInterleaved ? 2 * piece : piece];
  second.bits = source[kInterleaved ? 2 * piece + 1 : pieces + piece];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if constexpr (kInterleaved) {
      const Halves8& pair = i < 4 ? first : second;
      result.h[i] = SiluMul(pair.h[2 * (i % 4)], pair.h[2 * (i % 4) + 1]);
    } else {
      result.h[i] = SiluMul(first.h[i], second.h[i]);
    }
  }
  reinterpret_cast<uint4*>(out)[static_cast<std::size_t>(row) * pieces + piece] = result.bits;
}

}  // namespace voltcheck::sm70

// Columns g0, u0, g1, u1, ... Grid of both: x covers slots * intermediate / 8 threads.
extern "C" __global__ void __launch_bounds__(128)
    silu_mul_interleaved(__half* out, const __half* gate_up, const int* rows, int slots,
                         int intermediate) {
  voltcheck::sm70::SiluMulRows<true>(out, gate_up, rows, slots, intermediate);
}

// Columns [gate | up].
extern "C" __global__ void __launch_bounds__(128)
    silu_mul_halves(__half* out, const __half* gate_up, const int* rows, int slots,
                    int intermediate) {
  voltcheck::sm70::SiluMulRows<false>(out, gate_up, rows, slots, intermediate);
}
