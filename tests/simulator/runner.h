#ifndef VOLTCHECK_TESTS_SIMULATOR_RUNNER_H_
#define VOLTCHECK_TESTS_SIMULATOR_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::simulator::testing {

/// A kernel in PTX text: `body` inside `.visible .entry k(params)`, with registers of every kind
/// declared
/// (%p, %rs, %r, %f, %rd, %fd: 64 of each).
std::string EntryText(const std::string& params, const std::string& body,
                      const std::string& before = "");

/// `.visible .entry k(.param .u64 out)` whose body finds out + 4 * linear thread id in %rd1, the
/// thread index in the block in %r1 and `out` itself in %rd2.
std::string WriterText(const std::string& body, const std::string& before = "");

/// A device with helpers for small tests.
class Runner {
 public:
  explicit Runner(const Options& options = {});

  kernels::Device& device() { return *device_; }
  /// The kernel `k` (or `name`) of PTX text.
  kernels::KernelHandle Load(const std::string& ptx, const std::string& name = "k",
                             const std::string& file = "test.ptx");
  /// A buffer of `bytes`, not written.
  kernels::DeviceAddress Buffer(std::size_t bytes, const std::string& name = "buffer");
  template <typename T>
  kernels::DeviceAddress Upload(const std::vector<T>& values, const std::string& name = "input") {
    const kernels::DeviceAddress address = Buffer(values.size() * sizeof(T), name);
    device_->CopyToDevice(address, std::as_bytes(std::span<const T>(values)));
    return address;
  }
  template <typename T>
  std::vector<T> Download(kernels::DeviceAddress address, std::size_t count) {
    std::vector<T> values(count);
    device_->CopyFromDevice(std::as_writable_bytes(std::span<T>(values)), address);
    return values;
  }
  template <typename... A>
  void Run(kernels::KernelHandle kernel, kernels::Dim3 grid, kernels::Dim3 block,
           std::uint32_t shared, const A&... arguments) {
    device_->Run({kernel, grid, block, shared, {kernels::ArgumentBytes(arguments)...}});
  }
  /// All findings so far, one line each: "checker line thread: message".
  std::string Findings();

 private:
  std::unique_ptr<kernels::Device> device_;
};

/// Runs WriterText(body) with one block and returns what it stored.
std::vector<std::uint32_t> RunWriter(const std::string& body, std::uint32_t threads = 32,
                                     std::uint64_t schedule = 0, const std::string& before = "");

/// The text of a file that the build compiled from tests/simulator/kernels/NAME.cu.
std::string CompiledPtx(const std::string& name);

}  // namespace voltcheck::simulator::testing

#endif  // VOLTCHECK_TESTS_SIMULATOR_RUNNER_H_
