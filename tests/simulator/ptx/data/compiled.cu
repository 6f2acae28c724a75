// CUDA code whose PTX holds what nvcc emits around plain kernels: calls, recursion, function
// pointers, tables of branch targets, printf, initialised tables, dynamic shared memory, inline
// assembly with labels.
#include <cuda_fp16.h>

#include <cstdio>

struct Pair {
  int number;
  double value;
  const char* text;
};

__constant__ float table[4] = {1.f, 2.f, 3.f, 4.f};
__device__ int counter = 5;
__device__ const char* messages[2] = {"hello", "world"};
__device__ Pair pair = {1, 3.0, "x"};
extern __shared__ float dynamic[];

__device__ __attribute__((noinline)) int Factorial(int n) {
  return n < 2 ? 1 : n * Factorial(n - 1);
}
typedef int (*Function)(int);
__device__ Function functions[1] = {Factorial};

__device__ __forceinline__ float Neighbour(float value) { return __shfl_xor_sync(~0u, value, 1); }

extern "C" __global__ void __launch_bounds__(128, 2)
    compiled(const __half2* in, float* out, int n, Pair by_value) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = n + t;
  dynamic[t] = table[t & 3];
  __syncthreads();
  const float v = Neighbour(dynamic[t]) + tile[t ^ 1];
  __half2 h = __hmul2(in[t], in[t + 1]);
  h = __hadd2(h, h);
  out[t] = v + __low2float(h) + Factorial(n) + functions[0](n) + by_value.value;
  switch (n) {
    case 0:
      out[1] = 1;
      break;
    case 1:
      out[2] = 4;
      break;
    case 2:
      out[9] = 3;
      break;
    case 3:
      out[10] = 5;
      break;
    case 4:
      out[7] = expf(v);
      break;
    case 5:
      out[5] = __fdividef(v, 2);
      break;
    default:
      printf("%d %s\n", n, messages[n & 1]);
  }
  atomicAdd(&counter, pair.number);
  asm volatile("{ .reg .pred p; L: setp.eq.s32 p, %0, 5; @!p bra D; bra L; D: }" ::"r"(n));
  asm volatile("{ .reg .pred p; L: setp.eq.s32 p, %0, 6; @!p bra D; bra L; D: }" ::"r"(n));
}
