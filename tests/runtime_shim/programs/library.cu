// Foreign device code: Thrust and CUB from the toolkit, with their own dispatch, tuning and
// temporary memory.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "check.h"

int main() {
  constexpr int kCount = 3000;
  std::vector<unsigned> keys(kCount);
  for (int i = 0; i < kCount; ++i) {
    keys[i] = Mix(i);
  }
  thrust::device_vector<unsigned> device(keys.begin(), keys.end());
  thrust::sort(device.begin(), device.end());
  std::vector<unsigned> sorted(kCount);
  thrust::copy(device.begin(), device.end(), sorted.begin());
  std::vector<unsigned> want = keys;
  std::sort(want.begin(), want.end());
  Compare("sort", sorted, want);

  thrust::inclusive_scan(device.begin(), device.end(), device.begin());
  thrust::copy(device.begin(), device.end(), sorted.begin());
  std::partial_sum(want.begin(), want.end(), want.begin());
  Compare("scan", sorted, want);
  std::printf("reduce %u\n", thrust::reduce(device.begin(), device.end(), 0u));

  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(Mix(i) % 100);
  }
  float* in = Upload(values);
  float* out = Upload(std::vector<float>(1));
  void* temporary = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceReduce::Sum(temporary, bytes, in, out, kCount));
  CHECK(cudaMalloc(&temporary, bytes));
  CHECK(cub::DeviceReduce::Sum(temporary, bytes, in, out, kCount));
  std::printf("cub sum %g, want %g\n", Download(out, 1)[0],
              std::accumulate(values.begin(), values.end(), 0.0));
  return 0;
}
