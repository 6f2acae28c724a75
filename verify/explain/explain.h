#ifndef VOLTCHECK_VERIFY_EXPLAIN_EXPLAIN_H_
#define VOLTCHECK_VERIFY_EXPLAIN_EXPLAIN_H_

#include "fixtures/case/problem.h"
#include "verify/device_options.h"
#include "verify/explain/explanation.h"

namespace voltcheck::explain {

struct ExplainOptions {
  verify::DeviceOptions device;
  /// k-steps at which the device is run on an input that ends there, beside those that the search
  /// for the departure needs. The ends of the splits are among them.
  int device_steps = 12;
};

/// Runs the case on the device and explains element (row, col) of a stage: rows of w13, silu and w2
/// are permuted slots, of output and logits tokens; columns of w13 are in checkpoint order, gate
/// then up. Throws Error (status 2) for a stage that the case does not have or an element outside
/// it, and for a device that crashes; status 3 without the device.
Explanation Explain(const Problem& problem, verify::Stage stage, int row, int col,
                    const ExplainOptions& options);

/// The element of `stage` that is worth explaining: the first that differs in bits from the
/// order-faithful model, else the one farthest from the fp64 oracle.
std::pair<int, int> WorstElement(const verify::StageRecord& record);

}  // namespace voltcheck::explain

#endif  // VOLTCHECK_VERIFY_EXPLAIN_EXPLAIN_H_
