#ifndef VOLTCHECK_KERNELS_CUDA_CUDA_MODULE_H_
#define VOLTCHECK_KERNELS_CUDA_CUDA_MODULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/cuda_context.h"
#include "kernels/device.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::cuda {

/// A module on the GPU beside what its PTX declares. On SM70 the cubin is loaded where there is
/// one; everywhere else the driver compiles the PTX.
class CudaModule {
 public:
  /// Throws Error (status 2) for PTX that is malformed or that the driver does not take, with the
  /// driver's own words. Names of kernels and parameters come from the PTX in both cases.
  CudaModule(CudaContext& context, const kernels::ModuleImage& image);
  ~CudaModule();
  CudaModule(CudaModule&& other) noexcept;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  CudaModule& operator=(CudaModule&&) = delete;

  const std::string& name() const { return ptx_.file; }
  bool from_cubin() const { return from_cubin_; }

  std::uint32_t FindKernel(std::string_view name) const;
  std::vector<std::string> KernelNames() const;
  /// The PTX entry of a kernel and its function on the GPU.
  const simulator::ptx::Function& Entry(std::uint32_t kernel) const;
  CuFunction Function(std::uint32_t kernel) const { return functions_.at(kernel); }

 private:
  CudaContext& context_;
  simulator::ptx::Module ptx_;
  bool from_cubin_ = false;
  CuModule module_ = nullptr;
  std::vector<std::size_t> entries_;   ///< kernel -> index into ptx_.functions
  std::vector<CuFunction> functions_;  ///< kernel -> function on the GPU
};

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_CUDA_MODULE_H_
