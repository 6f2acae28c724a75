#include "verify/promises.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace voltcheck::verify {
namespace {

kernels::Finding Broken(std::string_view checker, std::string message) {
  kernels::Finding finding;
  finding.checker = checker;
  finding.message = std::move(message);
  return finding;
}

// Compares an index buffer that the plan made; one that it does not make is empty.
void CompareIndices(const char* name, const std::vector<std::int32_t>& got,
                    const std::vector<std::int32_t>& want, std::vector<kernels::Finding>& broken) {
  if (got.empty()) {
    return;
  }
  if (got.size() != want.size()) {
    broken.push_back(Broken(kPromiseChecker, std::string(name) + " has " +
                                                 std::to_string(got.size()) + " entries, not " +
                                                 std::to_string(want.size())));
    return;
  }
  const auto [g, w] = std::mismatch(got.begin(), got.end(), want.begin());
  if (g != got.end()) {
    broken.push_back(
        Broken(kPromiseChecker, std::string(name) + "[" + std::to_string(g - got.begin()) +
                                    "] is " + std::to_string(*g) + ", not " + std::to_string(*w)));
  }
}

}  // namespace

std::vector<kernels::Finding> CheckPromises(const Problem& problem,
                                            const reference::Permutation& permutation,
                                            const kernels::ObservedStage& observed) {
  std::vector<kernels::Finding> broken;
  for (const std::string& violation : observed.violations) {
    const bool repeats = violation.find("differs between run") != std::string::npos;
    broken.push_back(Broken(repeats ? kRepeatChecker : kPromiseChecker, violation));
  }
  CompareIndices("source", observed.source, permutation.source, broken);
  CompareIndices("expert", observed.expert, permutation.expert, broken);
  CompareIndices("active_expert_offsets", observed.offsets, permutation.offsets, broken);
  CompareIndices("active_expert_ids", observed.segment_expert, permutation.segment_expert, broken);
  if (observed.rows >= 0 && observed.rows != permutation.rows) {
    broken.push_back(Broken(kPromiseChecker, "the device computes " +
                                                 std::to_string(observed.rows) + " rows, not " +
                                                 std::to_string(permutation.rows)));
  }
  const bool whole = problem.c.stage == StageSelection::kAll;
  if (whole && !observed.crashed && (observed.source.empty() || observed.output.empty())) {
    broken.push_back(Broken(kPromiseChecker, "the plan ran no permute or no reduction"));
  }
  return broken;
}

Verdict PromiseVerdict(const std::vector<kernels::Finding>& promises) {
  const bool repeats = std::any_of(promises.begin(), promises.end(), [](const kernels::Finding& f) {
    return f.checker == kRepeatChecker;
  });
  return repeats ? Verdict::kNondeterministic : Verdict::kFailed;
}

}  // namespace voltcheck::verify
