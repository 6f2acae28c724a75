#ifndef VOLTCHECK_VERIFY_SCALE_NCCL_SUM_H_
#define VOLTCHECK_VERIFY_SCALE_NCCL_SUM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "verify/scale/ranks.h"

namespace voltcheck::verify {

/// NCCL's all-reduce over the GPUs of all ranks. The library, libnccl.so.2, is opened at run time;
/// building needs nothing of it.
class NcclSum {
 public:
  virtual ~NcclSum() = default;
  /// "NCCL 2.27.5".
  virtual std::string name() const = 0;
  /// Sums over all ranks, in place: of fp16 bits and of fp32, as the library adds them on the GPUs.
  /// Every rank calls it. Throws Error (status 3) when NCCL or the driver fails.
  virtual void SumHalves(std::span<std::uint16_t> halves) = 0;
  virtual void SumFloats(std::span<float> floats) = 0;
};

/// Every rank calls it with its GPU, or -1 when it has none of its own. Null, with the reason in
/// `why_not` on every rank, when a rank lacks a GPU of its own, the library or the driver. Starts
/// the driver in this process: no isolated device can be made in it afterwards.
std::unique_ptr<NcclSum> OpenNccl(Ranks& ranks, int gpu, std::string& why_not);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_NCCL_SUM_H_
