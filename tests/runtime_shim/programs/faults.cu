// One thing that a checker finds, named by the argument; without one, an assert that fails.
#include <cassert>
#include <cstring>

#include "check.h"

__global__ void OutOfBounds(int* p, int n) { p[n + threadIdx.x] = 1; }
__global__ void Uninitialised(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }
__global__ void SharedRace(int* out) {
  __shared__ int value[64];
  value[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = value[63 - threadIdx.x];  // no barrier between
}
__global__ void Asserts(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "assert";
  int *a, *b;
  CHECK(cudaMalloc(&a, 64 * sizeof(int)));
  CHECK(cudaMalloc(&b, 64 * sizeof(int)));
  if (std::strcmp(what, "bounds") == 0) {
    OutOfBounds<<<1, 32>>>(a, 64);
  } else if (std::strcmp(what, "uninitialised") == 0) {
    Uninitialised<<<1, 32>>>(a, b);
  } else if (std::strcmp(what, "race") == 0) {
    SharedRace<<<1, 64>>>(a);
  } else {
    Asserts<<<1, 32>>>(31);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(status));
  if (argc > 2 && std::strcmp(argv[2], "abort") == 0) {
    std::abort();
  }
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
