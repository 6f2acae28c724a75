// Launches of every form, held against the host's own result; with an argument, a function that the
// stand-in does not have.
#include <cooperative_groups.h>

#include <cstring>

#include "check.h"

namespace {

constexpr int kCount = 256;

struct Parameters {
  const int* in;
  int* out;
  int factor;
  short offset;
};

template <int kStep>
__global__ void Scale(Parameters p) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += kStep) {
    p.out[i] = p.in[i] * p.factor + p.offset;
  }
}

/// Every block reads what its neighbour wrote: only right with a barrier of the whole grid.
__global__ void Neighbours(int* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i] = i;
  cooperative_groups::this_grid().sync();
  const int other = cells[(i + blockDim.x) % kCount];
  cooperative_groups::this_grid().sync();
  cells[i] = other;
}

void Missing(const char* which) {
  if (std::strcmp(which, "texture") == 0) {
    cudaTextureObject_t texture = 0;
    const cudaError_t status = cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr);
    std::printf("%s\n", cudaGetErrorName(status));
  } else {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const cudaError_t status = cudaMallocArray(&array, &format, 16, 16);
    std::printf("%s\n", cudaGetErrorName(status));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    Missing(argv[1]);
    return 0;
  }
  std::vector<int> in(kCount);
  std::vector<int> want(kCount);
  for (int i = 0; i < kCount; ++i) {
    in[i] = static_cast<int>(Mix(i) % 1000);
    want[i] = in[i] * 3 - 2;
  }
  Parameters p{Upload(in), nullptr, 3, -2};
  CHECK(cudaMalloc(&p.out, kCount * sizeof(int)));
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));

  Scale<128><<<2, 64>>>(p);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Compare("launch", Download(p.out, kCount), want);

  CHECK(cudaMemset(p.out, 0, kCount * sizeof(int)));
  void* arguments[] = {&p};
  CHECK(cudaLaunchKernel(reinterpret_cast<void*>(Scale<128>), dim3(2), dim3(64), arguments, 0,
                         stream));
  CHECK(cudaStreamSynchronize(stream));
  Compare("launch by symbol", Download(p.out, kCount), want);
  CHECK(cudaMemset(p.out, 0, kCount * sizeof(int)));

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(64);
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = 0;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, Scale<128>, p));
  CHECK(cudaStreamSynchronize(stream));
  Compare("launch ex", Download(p.out, kCount), want);

  CHECK(cudaMemset(p.out, 0, kCount * sizeof(int)));
  CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(Scale<128>), arguments));
  CHECK(cudaStreamSynchronize(stream));
  Compare("launch ex by symbol", Download(p.out, kCount), want);

  int* cells = nullptr;
  CHECK(cudaMallocManaged(&cells, kCount * sizeof(int)));
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.gridDim = dim3(kCount / 64);
  CHECK(cudaLaunchKernelEx(&config, Neighbours, cells));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) {
    want[i] = (i + 64) % kCount;
  }
  Compare("cooperative launch ex", std::vector<int>(cells, cells + kCount), want);

  for (int i = 0; i < kCount; ++i) {
    cells[i] = -1;
  }
  void* only_cells[] = {&cells};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Neighbours), dim3(kCount / 64),
                                    dim3(64), only_cells, 0, stream));
  CHECK(cudaDeviceSynchronize());
  Compare("cooperative launch", std::vector<int>(cells, cells + kCount), want);
  return 0;
}
