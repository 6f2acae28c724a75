#ifndef VOLTCHECK_TESTS_VERIFY_SYNTHETIC_RECORD_H_
#define VOLTCHECK_TESTS_VERIFY_SYNTHETIC_RECORD_H_

#include <string>

#include "fixtures/case/descriptor.h"
#include "verify/record.h"
#include "verify/run_file.h"

namespace voltcheck::verify {

/// A record whose values follow from `index`, so that a reader can say what it must find. Every
/// fifth one failed in W2, with a finding and a 2 x 3 window at (7, 11).
inline CaseRecord SyntheticRecord(int index) {
  CaseRecord r;
  r.c = ParseDescriptor("t=" + std::to_string(1 + index % 9) + ",seed=" + std::to_string(index));
  r.descriptor = ToDescriptor(r.c);
  r.active_experts = index % 16;
  r.reproduction = "voltcheck replay --case '" + r.descriptor + "'";
  r.verdict = Verdict::kPassed;
  r.counters.mma = 3U * static_cast<unsigned>(index);
  r.seconds.reference = 1.0 / (1 + index);  // must not reach the file
  for (const Stage stage : kStages) {
    StageRecord& s = r.stages[static_cast<std::size_t>(stage)];
    s.present = true;
    s.verdict = Verdict::kPassed;
    s.bits_compared = 100;
    s.own.elements = 100;
    s.own.rms = 0.25 * index;
    s.own.max_abs = {index, 2, 1.5, 1.25, 0.5, 0.25};
    s.own.ulp_histogram[0] = 99;
    s.own.ulp_histogram[kUlpBins - 1] = 1;
    s.posterior = s.own;
    s.end_to_end = s.own;
    s.hidden = static_cast<std::uint64_t>(index);
    s.worst_part[static_cast<std::size_t>(Part::kTile)] = {3, 32, 0, 0.5, 0.25, -0.125, 2};
    s.reference = s.own;
  }
  r.logits.rows = 9;
  r.logits.kl_max = 0.5 * index;
  r.logits.first_flip = index - 1;
  if (index % 5 == 4) {
    r.stages[2].departure = {7, 11, 1, 64, 1.5, 1.25};
    r.stages[2].breakdown[static_cast<std::size_t>(Part::kTile)] = {{0, 32, 0, 0.5, 0.25, 0, 1},
                                                                    {1, 31, 1, 4, 2, 1, 1}};
    r.verdict = Verdict::kFailed;
    r.reason = "w2: \xC2\xB5 over budget";  // not ASCII on purpose
    r.stages[2].verdict = Verdict::kFailed;
    kernels::Finding finding;
    finding.checker = "race";
    finding.kernel = "grouped_gemm";
    finding.line = 17;
    finding.thread = {31, 0, 0};
    r.findings.push_back(finding);
    r.failures.push_back({Stage::kW2,
                          2,
                          3,
                          7,
                          11,
                          {0x3C00, 0x4000, 0xC000, 0, 0x7C00, 0x0001},
                          {1, 2, -2, 0, 3, 0},
                          {0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                          {}});
    r.failures.push_back({Stage::kLogits, 1, 2, 0, 5, {}, {1, 2}, {0.5, 0.5}, {1.25F, 2.5F}});
  }
  return r;
}

inline RunProvenance SyntheticProvenance() {
  RunProvenance p;
  p.tool_version = "0.1.0";
  p.commit = "0123456789ab";
  p.arguments = "gate --suite synthetic --seed 7";
  p.options = "--device simulator";
  kernels::ModuleImage image;
  image.name = "/some/where/mine.ptx";
  image.ptx = ".version 7.8\n";
  p.overrides.push_back(image);
  p.seed = 7;
  p.device.kind = "simulator";
  p.device.numerics = "v100";
  p.kernels_hash = "abc";
  return p;
}

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_TESTS_VERIFY_SYNTHETIC_RECORD_H_
