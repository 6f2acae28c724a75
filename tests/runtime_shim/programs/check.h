#ifndef VOLTCHECK_TESTS_RUNTIME_SHIM_PROGRAMS_CHECK_H_
#define VOLTCHECK_TESTS_RUNTIME_SHIM_PROGRAMS_CHECK_H_

// For the test programs: they print what they computed, one line a fact, and nothing that differs
// between a GPU and the simulator (no times, no addresses).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t check_status = (call);                                                     \
    if (check_status != cudaSuccess) {                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_status)); \
      std::exit(9);                                                                              \
    }                                                                                            \
  } while (false)

/// FNV-1a over bytes: a short form of an output's bits.
inline std::uint64_t Hash(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  }
  return hash;
}

template <typename T>
void Show(const char* name, const std::vector<T>& values) {
  std::printf("%s %zu %016llx\n", name, values.size(),
              static_cast<unsigned long long>(Hash(values.data(), values.size() * sizeof(T))));
}

template <typename T>
std::vector<T> Download(const T* device, std::size_t count) {
  std::vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <typename T>
T* Upload(const std::vector<T>& host) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

/// Numbers that are the same everywhere.
inline std::uint32_t Mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Compares with the host's own computation and says so.
template <typename T>
void Compare(const char* name, const std::vector<T>& got, const std::vector<T>& want) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    wrong += got[i] == want[i] ? 0 : 1;
  }
  std::printf("%s %s\n", name, wrong == 0 && got.size() == want.size() ? "equal" : "DIFFERENT");
}

#endif  // VOLTCHECK_TESTS_RUNTIME_SHIM_PROGRAMS_CHECK_H_
