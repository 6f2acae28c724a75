#ifndef VOLTCHECK_KERNELS_CUDA_CUDA_CONTEXT_H_
#define VOLTCHECK_KERNELS_CUDA_CUDA_CONTEXT_H_

#include <string>
#include <vector>

#include "kernels/cuda/driver_api.h"
#include "kernels/device.h"

namespace voltcheck::cuda {

/// One GPU's primary context with a stream of its own, and what the driver's error codes mean for
/// us.
class CudaContext {
 public:
  /// Throws Error (status 3, one sentence) when there is no driver or no such GPU.
  CudaContext(const std::string& library, int ordinal);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const DriverApi& api() const { return api_; }
  CuStream stream() const { return stream_; }
  const std::string& gpu_name() const { return gpu_name_; }
  /// "580.159.04 (CUDA 13.0)", or the second half alone where the kernel module does not say.
  const std::string& driver_version() const { return driver_version_; }
  int major() const { return major_; }
  int minor() const { return minor_; }

  /// Makes the context current in the calling thread. The driver keeps that per thread.
  void Enter() const;
  /// The same for destructors, which have nobody to tell.
  void EnterQuietly() const noexcept { api_.ContextSetCurrent(context_); }

  /// Judges a result of the driver. Success gives true. The fault of a kernel, which poisons the
  /// context, becomes a finding about `kernel` and gives false, at once and for every later call.
  /// Anything else throws: status 2 when the caller asked for the impossible, status 3 otherwise.
  /// `what` begins the line: "copy of 16 bytes to the device".
  bool Survives(CuResult result, const std::string& what, const std::string& kernel);

  bool faulted() const { return faulted_; }
  std::vector<kernels::Finding> TakeFindings();

  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  std::string Text(CuResult result) const;

 private:
  void Require(CuResult result, const std::string& what) const;

  DriverApi api_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  std::string gpu_name_;
  std::string driver_version_;
  int major_ = 0;
  int minor_ = 0;
  bool faulted_ = false;
  std::vector<kernels::Finding> findings_;
};

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_CUDA_CONTEXT_H_
