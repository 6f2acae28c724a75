// Ordinary CUDA C++ for the simulator's tests: what nvcc makes of it is what has to run.
#include <cuda_fp16.h>

extern "C" {

__global__ void silu(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] / (1.0f + expf(-x[i]));
  }
}

// A local array with computed indices: the compiler keeps it in local memory.
__global__ void sort_rows(const int* in, int* out) {
  int row[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    row[k] = in[16 * i + k];
  }
  for (int k = 1; k < 16; ++k) {
    const int value = row[k];
    int at = k;
    while (at > 0 && row[at - 1] > value) {
      row[at] = row[at - 1];
      --at;
    }
    row[at] = value;
  }
  for (int k = 0; k < 16; ++k) {
    out[16 * i + k] = row[(k + i) % 16];
  }
}

__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ float parts[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += in[blockIdx.x * n + i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) {
      total += parts[w];
    }
    out[blockIdx.x] = total;
  }
}

__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  extern __shared__ unsigned local_bins[];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    local_bins[b] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local_bins[in[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    atomicAdd(&bins[b], local_bins[b]);
  }
}

__global__ void choose(const int* in, int* out) {
  const int i = threadIdx.x;
  const int x = in[i];
  int y = 0;
  switch (x) {
    case 0:
      y = 7;
      break;
    case 1:
      y = x * 3 + i;
      break;
    case 2:
      y = i * i;
      break;
    case 3:
      y = -i;
      break;
    case 4:
      y = in[(i + 1) % 32];
      break;
    case 5:
      y = x << i % 8;
      break;
    case 6:
      y = i / 3;
      break;
    case 7:
      y = i % 5;
      break;
    default:
      y = -1;
  }
  out[i] = y;
}

__attribute__((noinline)) __device__ int collatz(unsigned n) {
  return n == 1 ? 0 : 1 + collatz(n % 2 == 0 ? n / 2 : 3 * n + 1);
}
__attribute__((noinline)) __device__ int twice(unsigned n) { return 2 * n; }
using Function = int (*)(unsigned);
__constant__ Function table[2] = {collatz, twice};

__global__ void call_table(int* out) {
  const unsigned i = threadIdx.x;
  out[i] = table[i % 2](i + 1);
}

struct Weights {
  float w[8];
  long long bias;
};
__global__ void by_value(Weights weights, const int* index, double* out) {
  const int i = threadIdx.x;
  out[i] = sqrt(static_cast<double>(weights.w[index[i] & 7])) / 3.0 +
           static_cast<double>((weights.bias + i) / (i + 1)) +
           static_cast<double>((weights.bias - i) % (i + 7));
}

__global__ void halves(const __half2* a, const __half2* b, __half2* out) {
  const int i = threadIdx.x;
  const __half2 fused = __hfma2(a[i], b[i], a[i]);
  out[i] = __hgt2(fused, b[i]).x == __float2half(1.0f) ? __hadd2_rn(fused, b[i])
                                                       : __hsub2_rn(fused, b[i]);
}

// Split-K as the kernels under test do it: parts are added in order under a semaphore.
__global__ void ordered_add(float* sum, int* lock, int parts) {
  if (threadIdx.x == 0) {
    while (atomicAdd(lock, 0) != blockIdx.x) {
    }
  }
  __syncthreads();
  __threadfence();
  volatile float* total = sum;
  total[threadIdx.x] = total[threadIdx.x] * 0.5f + blockIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(lock, blockIdx.x + 1 == parts ? 0 : blockIdx.x + 1);
  }
}

}  // extern "C"
