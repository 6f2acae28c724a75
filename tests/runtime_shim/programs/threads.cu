// Several host threads, a stream each and the per-thread default stream: the same bits every time.
#include <cooperative_groups.h>

#include <thread>

#include "check.h"

__global__ void Step(float* x, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = fmaf(x[i], a, 1.f / (i + 1));
  }
}

__global__ void Sum(float* out, const float* x, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    sum += x[i];
  }
  part[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      part[threadIdx.x] += part[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    *out = part[0];
  }
}

/// Phases of the whole grid: every block reads what the others wrote before.
__global__ void Phases(int* a, int* b, int rounds) {
  const auto grid = cooperative_groups::this_grid();
  const int n = gridDim.x * blockDim.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    b[i] = a[(i + 1) % n] + a[(i + n / 2) % n];
    grid.sync();
    a[i] = b[(i + 3) % n] ^ round;
    grid.sync();
  }
}

void Work(int id, std::vector<float>* result) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  const int n = 3000 + id;
  float *x, *out;
  CHECK(cudaMallocAsync(&x, n * sizeof(float), stream));
  CHECK(cudaMallocAsync(&out, sizeof(float), stream));
  CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
  for (int step = 0; step < 5; ++step) {
    Step<<<(n + 127) / 128, 128, 0, stream>>>(x, n, 1.f + 0.01f * id);
    Sum<<<1, 256, 0, stream>>>(out, x, n);
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaStreamWaitEvent(cudaStreamPerThread, done, 0));
    float sum = 0;
    CHECK(cudaMemcpyAsync(&sum, out, sizeof(sum), cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    result->push_back(sum);
  }
  CHECK(cudaFreeAsync(x, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  std::vector<std::vector<float>> results(6);
  std::vector<std::thread> threads;
  for (int id = 0; id < 6; ++id) {
    threads.emplace_back(Work, id, &results[id]);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& result : results) {
    Show("thread", result);
  }

  constexpr int kBlocks = 6;
  constexpr int kThreads = 64;
  std::vector<int> start(kBlocks * kThreads);
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] = static_cast<int>(Mix(i) % 1000);
  }
  int* a = Upload(start);
  int* b = Upload(start);
  int rounds = 4;
  void* arguments[] = {&a, &b, &rounds};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Phases), dim3(kBlocks), dim3(kThreads),
                                    arguments, 0, nullptr));
  std::vector<int> want = start, next(start.size());
  const int n = static_cast<int>(start.size());
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) {
      next[i] = want[(i + 1) % n] + want[(i + n / 2) % n];
    }
    for (int i = 0; i < n; ++i) {
      want[i] = next[(i + 3) % n] ^ round;
    }
  }
  Compare("grid", Download(a, n), want);
  const dim3 too_many(100000);
  std::printf("too many blocks: %s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(
                                           reinterpret_cast<void*>(Phases), too_many,
                                           dim3(kThreads), arguments, 0, nullptr)));
  return 0;
}
