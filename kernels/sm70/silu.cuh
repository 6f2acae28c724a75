// SiLU(gate) * up, in the two forms that the operator family has.
#ifndef VOLTCHECK_KERNELS_SM70_SILU_CUH_
#define VOLTCHECK_KERNELS_SM70_SILU_CUH_

#include <cuda_fp16.h>

namespace voltcheck::sm70 {

// s = RN16(g / (1 + exp(-g))) evaluated in fp32 with an IEEE division, then a half multiply.
__device__ __forceinline__ __half SiluMul(__half gate, __half up) {
  const float g = __half2float(gate);
  const float s = __fdiv_rn(g, __fadd_rn(1.0f, expf(-g)));
  return __hmul_rn(__float2half_rn(s), up);
}

// The fused epilogue's form: the same roundings, but an approximate division.
__device__ __forceinline__ __half SiluMulApproximate(__half gate, __half up) {
  const float g = __half2float(gate);
  const float s = __fdividef(g, __fadd_rn(1.0f, expf(-g)));
  return __hmul_rn(__float2half_rn(s), up);
}

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_SILU_CUH_
