#ifndef VOLTCHECK_VERIFY_CASE_RUNNER_H_
#define VOLTCHECK_VERIFY_CASE_RUNNER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/device.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Which device runs the kernels and which modules replace the built-in ones.
struct DeviceOptions {
  std::string kind = "simulator";  ///< or "cuda"
  std::uint64_t schedule = 0;
  bool all_checks = true;
  int jobs = 0;
  std::vector<kernels::ModuleImage> overrides;  ///< from --kernels
};

/// Makes the device that `options` and the case's numerics ask for.
std::unique_ptr<kernels::Device> MakeDevice(const DeviceOptions& options, Numerics numerics);

/// Runs one case: reference, oracle and budgets, device, comparison of every stage on the device's own input
/// and end to end, verdict. Throws Error only for bad input or a missing device; everything a kernel can do
/// wrong ends in the record.
CaseRecord RunCase(const Problem& problem, const DeviceOptions& options);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_CASE_RUNNER_H_
