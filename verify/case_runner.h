#ifndef VOLTCHECK_VERIFY_CASE_RUNNER_H_
#define VOLTCHECK_VERIFY_CASE_RUNNER_H_

#include <string>

#include "fixtures/case/problem.h"
#include "verify/device_options.h"
#include "verify/judge_options.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Runs one case: reference, oracle and budgets, device, comparison of every stage on the device's
/// own input and end to end, bits against the order-faithful model where the device's arithmetic is
/// modelled, index buffers against the reference's, verdict. Throws Error only for bad input (ids
/// out of range or a non-finite reference that the case does not declare) or a missing device;
/// everything a kernel can do wrong ends in the record. A case for which the kernels have no plan
/// is skipped with the reason.
CaseRecord RunCase(const Problem& problem, const DeviceOptions& options,
                   const JudgeOptions& judge = {});

/// The command line that repeats a case.
std::string ReproductionLine(const std::string& descriptor, const DeviceOptions& options,
                             const JudgeOptions& judge = {});

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_CASE_RUNNER_H_
