#ifndef VOLTCHECK_TESTS_KERNELS_RIG_H_
#define VOLTCHECK_TESTS_KERNELS_RIG_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/plan_memory.h"
#include "kernels/plan_parts.h"
#include "kernels/stage_runner.h"
#include "reference/arith/fused_dot_add.h"

namespace voltcheck::kernels::testing {

/// The device that these tests run on: the simulator with every checker, or GPU 0 when the
/// environment says VOLTCHECK_TEST_DEVICE=cuda. On a GPU `numerics` and `schedule` have no effect.
std::unique_ptr<Device> MakeTestDevice(Numerics numerics = Numerics::kV100,
                                       std::uint64_t schedule = 0);

/// The arithmetic of m8n8k4 on that device.
arith::StepArithmetic ArithmeticOf(const Device& device);

/// Runs a problem's whole stage on a device of its own; every finding, broken promise or crash
/// fails the test.
ObservedStage Observe(const Problem& problem, const RunOptions& options = {},
                      std::uint64_t schedule = 0);

/// Runs the launches of a plan once and keeps the buffers for inspection. Outputs and workspaces
/// hold NaN before, on a GPU; on the simulator they are never-written.
class Rig {
 public:
  Rig(Device& device, Plan plan);
  template <typename T>
  std::vector<T> Get(const std::string& buffer) const {
    const std::vector<std::byte> bytes = memory_.Download(buffer);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  /// Findings and broken promises, one line each; empty when all is well.
  std::string complaints() const { return complaints_; }
  const Counters& counters() const { return counters_; }

 private:
  const Plan plan_;  ///< memory_ refers to it
  PlanMemory memory_;
  std::string complaints_;
  Counters counters_;
};

/// A grouped GEMM alone: segments of given lengths, one random matrix for each expert id, random
/// activations. Buffers "input" [rows, k], "out" [rows, n], "offsets", "segment_expert", and the
/// weights under "gemm".
struct GemmCase {
  Tactic tactic;
  int group = 32;
  Metadata metadata = Metadata::k4Byte;
  int k = 256;
  int n = 72;
  std::vector<int> lengths;       ///< rows of each segment
  std::vector<std::int32_t> ids;  ///< expert of each segment
  Schedule schedule = Schedule::kOffsets;
  bool fuse_silu = false;
};
struct GemmProblem {
  Plan plan;
  std::vector<AwqMatrix> experts;  ///< by id
  std::vector<std::uint16_t> input;
  std::vector<int> row_expert;
};
GemmProblem MakeGemm(const GemmCase& c, std::uint64_t seed = 3);
/// [rows, n] by the host model.
std::vector<std::uint16_t> ExpectedGemm(const GemmCase& c, const GemmProblem& problem,
                                        arith::StepArithmetic arithmetic);

}  // namespace voltcheck::kernels::testing

#endif  // VOLTCHECK_TESTS_KERNELS_RIG_H_
