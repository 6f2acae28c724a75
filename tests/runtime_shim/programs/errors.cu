// Errors as CUDA keeps them: launches that do not fit, errors that go when they are read, a fault
// that stays.
#include "check.h"

__global__ void Write(int* p, int at) { p[at] = 1; }
__global__ void __launch_bounds__(128) Bound(int* p) { p[threadIdx.x] = 1; }
__global__ void Dynamic(int* p) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
  p[threadIdx.x] = shared[threadIdx.x];
}

void Say(const char* what, cudaError_t status) {
  std::printf("%s: %s (%s)\n", what, cudaGetErrorName(status), cudaGetErrorString(status));
}

int main() {
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 4096 * sizeof(int)));
  Write<<<1, 2048>>>(p, 0);
  Say("too many threads", cudaPeekAtLastError());
  Say("read once", cudaGetLastError());
  Say("read twice", cudaGetLastError());
  Write<<<0, 1>>>(p, 0);
  Say("no blocks", cudaGetLastError());
  Dynamic<<<1, 32, 50 * 1024>>>(p);
  Say("50 KB without asking", cudaGetLastError());
  CHECK(cudaFuncSetAttribute(Dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  Dynamic<<<1, 32, 64 * 1024>>>(p);
  Say("64 KB after asking", cudaGetLastError());
  Say("a null copy", cudaMemcpy(nullptr, p, 4, cudaMemcpyDeviceToHost));
  Say("remembered", cudaGetLastError());
  Say("no such device", cudaSetDevice(7));
  Say("free of a middle", cudaFree(p + 5));
  cudaGetLastError();
  cudaEvent_t early, late;
  CHECK(cudaEventCreate(&early));
  CHECK(cudaEventCreate(&late));
  float milliseconds;
  Say("events not recorded", cudaEventElapsedTime(&milliseconds, early, late));
  cudaGetLastError();
  Say("copy too far", cudaMemcpyToSymbol(early, p, 4));
  cudaGetLastError();
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, Bound));
  std::printf("bound %d\n", attributes.maxThreadsPerBlock);
  CHECK(cudaDeviceSynchronize());

  Write<<<1, 1>>>(nullptr, 16);
  Say("after the launch", cudaGetLastError());
  Say("synchronised", cudaDeviceSynchronize());
  Say("every call", cudaMalloc(&p, 4));
  Say("copy", cudaMemcpy(&milliseconds, p, 4, cudaMemcpyDeviceToHost));
  Write<<<1, 1>>>(p, 0);
  Say("launch", cudaGetLastError());
  Say("and again", cudaDeviceSynchronize());
  return 0;
}
