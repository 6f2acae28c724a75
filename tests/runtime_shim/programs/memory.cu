// Memory of every kind, copies and fills in every direction, variables, occupancy, printf.
#include <cuda_runtime.h>

#include <cstring>

#include "check.h"

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int totals[8];
__managed__ int shared_count = 5;

__global__ void Polynomial(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = ((coefficients[3] * x[i] + coefficients[2]) * x[i] + coefficients[1]) * x[i] +
           coefficients[0];
    atomicAdd(totals + i % 8, 1);
  }
}

__global__ void Touch(int* managed, int* pinned, int* registered, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    managed[i] += 1;
    pinned[i] += 2;
    registered[i] += 3;
  }
  if (i == 0) {
    shared_count *= 2;
  }
}

__global__ void Rows(float* data, size_t pitch, int width, int height) {
  for (int y = threadIdx.y; y < height; y += blockDim.y) {
    auto* row = reinterpret_cast<float*>(reinterpret_cast<char*>(data) + y * pitch);
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
      row[x] += 100.f * y + x;
    }
  }
}

__global__ void Say(const char* unit) {
  if (threadIdx.x == 0) {
    printf("block %d: %5.2f %s, %u %llx %c%% %-4d|\n", blockIdx.x, blockIdx.x * 1.5, unit, 7u,
           0x123456789abcull, 'x', 42);
  }
}

void Symbols() {
  const int n = 500;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(Mix(i) % 17);
  }
  float* device_x = Upload(x);
  float* y = nullptr;
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  const float replaced[2] = {5, 6};
  CHECK(cudaMemcpyToSymbol(coefficients, replaced, sizeof(replaced), sizeof(float)));
  Polynomial<<<4, 128>>>(y, device_x, n);
  std::vector<float> want(n);
  for (int i = 0; i < n; ++i) {
    want[i] = ((4 * x[i] + 6) * x[i] + 5) * x[i] + 1;
  }
  Compare("polynomial", Download(y, n), want);
  int counts[8];
  CHECK(cudaMemcpyFromSymbol(counts, totals, sizeof(counts)));
  std::printf("totals %d %d\n", counts[0], counts[7]);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, totals));
  CHECK(cudaGetSymbolSize(&bytes, totals));
  CHECK(cudaMemset(address, 0, bytes));
  CHECK(cudaMemcpyFromSymbol(counts, totals, sizeof(counts)));
  std::printf("size %zu, cleared %d\n", bytes, counts[3]);
  CHECK(cudaGetSymbolAddress(&address, coefficients));
  float constant[4];
  CHECK(cudaMemcpy(constant, address, sizeof(constant), cudaMemcpyDefault));
  std::printf("constants %g %g %g %g\n", constant[0], constant[1], constant[2], constant[3]);
}

void HostMemory() {
  int *managed, *pinned, *mapped;
  CHECK(cudaMallocManaged(&managed, 64 * sizeof(int)));
  CHECK(cudaHostAlloc(&pinned, 64 * sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  static int own[64];
  CHECK(cudaHostRegister(own, sizeof(own), cudaHostRegisterMapped));
  int* device_own = nullptr;
  CHECK(cudaHostGetDevicePointer(&device_own, own, 0));
  for (int i = 0; i < 64; ++i) {
    managed[i] = pinned[i] = own[i] = i;
  }
  shared_count += 1;
  Touch<<<1, 64>>>(managed, mapped, device_own, 64);
  CHECK(cudaDeviceSynchronize());
  std::printf("host sees %d %d %d, managed variable %d\n", managed[10], pinned[10], own[10],
              shared_count);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  std::printf("types %d", attributes.type);
  CHECK(cudaPointerGetAttributes(&attributes, pinned + 3));
  std::printf(" %d", attributes.type);
  int stack = 0;
  CHECK(cudaPointerGetAttributes(&attributes, &stack));
  std::printf(" %d\n", attributes.type);
  CHECK(cudaHostUnregister(own));
  std::printf("again: %s\n", cudaGetErrorName(cudaHostUnregister(own)));
  cudaGetLastError();
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(pinned));
}

void Pitched() {
  constexpr int kWidth = 37;
  constexpr int kHeight = 5;
  float* data = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&data, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMemset2D(data, pitch, 0, kWidth * sizeof(float), kHeight));
  Rows<<<1, dim3(32, 4)>>>(data, pitch, kWidth, kHeight);
  std::vector<float> host(kWidth * kHeight), want(kWidth * kHeight);
  CHECK(cudaMemcpy2D(host.data(), kWidth * sizeof(float), data, pitch, kWidth * sizeof(float),
                     kHeight, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; ++i) {
    want[i] = 100.f * (i / kWidth) + i % kWidth;
  }
  Compare("pitched", host, want);
  cudaPitchedPtr cube;
  const cudaExtent extent = make_cudaExtent(kWidth * sizeof(float), kHeight, 3);
  CHECK(cudaMalloc3D(&cube, extent));
  CHECK(cudaMemset3D(cube, 1, extent));
  cudaMemcpy3DParms copy = {};
  std::vector<float> block(kWidth * kHeight * 3, 0.f);
  copy.srcPtr = cube;
  copy.dstPtr = make_cudaPitchedPtr(block.data(), kWidth * sizeof(float), kWidth, kHeight);
  copy.extent = make_cudaExtent(kWidth * sizeof(float), kHeight, 2);
  copy.dstPos = make_cudaPos(0, 0, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  Show("cube", block);
  CHECK(cudaFree(cube.ptr));
  CHECK(cudaFree(data));
}

void Pools() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float *a, *b;
  CHECK(cudaMallocAsync(&a, 4096, stream));
  CHECK(cudaMemsetAsync(a, 0x3f, 4096, stream));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(cudaMallocFromPoolAsync(&b, 4096, pool, stream));
  CHECK(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDeviceToDevice, stream));
  std::vector<float> host(1024);
  CHECK(cudaMemcpyAsync(host.data(), b, 4096, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaFreeAsync(b, stream));
  CHECK(cudaStreamSynchronize(stream));
  Show("pool", host);
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  Symbols();
  HostMemory();
  Pitched();
  Pools();
  char* unit = nullptr;
  CHECK(cudaMalloc(&unit, 8));
  CHECK(cudaMemcpy(unit, "metres", 7, cudaMemcpyHostToDevice));
  for (int block = 0; block < 2; ++block) {
    Say<<<1, 32>>>(unit);
    CHECK(cudaDeviceSynchronize());
  }
  return 0;
}
