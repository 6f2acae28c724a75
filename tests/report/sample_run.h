#ifndef VOLTCHECK_TESTS_REPORT_SAMPLE_RUN_H_
#define VOLTCHECK_TESTS_REPORT_SAMPLE_RUN_H_

#include <functional>
#include <string>

#include "../verify/synthetic_record.h"
#include "../verify/temporary_folder.h"
#include "fixtures/case/error.h"
#include "verify/report/run_data.h"
#include "verify/run_file.h"

namespace voltcheck::report {

/// A run file of synthetic records, each changed by `edit` before it is written.
inline void WriteRun(const std::string& path, int cases,
                     const std::function<void(verify::CaseRecord&)>& edit = {},
                     const std::function<void(verify::RunProvenance&)>& edit_provenance = {},
                     bool complete = true) {
  verify::RunProvenance provenance = verify::SyntheticProvenance();
  provenance.arguments = "gate --suite synthetic --seed 7 --device simulator --schedule 3";
  provenance.options = "--device simulator --schedule 3";
  provenance.device.name = "simulated V100 (SM70)";
  if (edit_provenance) {
    edit_provenance(provenance);
  }
  verify::RunFileWriter writer(path, provenance);
  for (int i = 0; i < cases; ++i) {
    verify::CaseRecord record = verify::SyntheticRecord(i);
    for (verify::StageRecord& stage : record.stages) {
      stage.own.max_use = {i, 3, 1.5, 1.25, 0.5, 0.01 * (i % 100)};
      stage.posterior.max_use = stage.own.max_use;
      stage.end_to_end.max_use = stage.own.max_use;
      stage.hash = 0x1000 + static_cast<std::uint64_t>(i);
      stage.profile.density = {{5 * verify::kMagnitudeBins + 7, 90},
                               {6 * verify::kMagnitudeBins, 9}};
      stage.profile.experts = {{2, 0.5F, 0.25F}, {5, 0.75F, 0.125F}};
      stage.profile.tiles = {{0, 0.5F, 0.25F}};
    }
    if (edit) {
      edit(record);
    }
    writer.Append(record);
  }
  writer.Finish(complete);
}

/// The model of such a run.
inline RunData SampleRun(int cases, const std::function<void(verify::CaseRecord&)>& edit = {},
                         const std::function<void(verify::RunProvenance&)>& edit_provenance = {}) {
  const verify::TemporaryFolder folder;
  WriteRun(folder / "run.h5", cases, edit, edit_provenance);
  return ReadRun(folder / "run.h5");
}

/// A row of /properties.
inline verify::PropertyRecord Property(const std::string& name, const std::string& descriptor,
                                       verify::Verdict verdict, const std::string& reason = "",
                                       const std::string& reproduction = "") {
  verify::PropertyRecord p;
  p.property = name;
  p.descriptor = descriptor;
  p.verdict = verdict;
  p.reason = reason;
  p.reproduction = reproduction;
  return p;
}

/// The line of the Error (status 2) that `work` throws; empty when it throws none.
inline std::string Refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.status() == ExitStatus::kBadInput ? error.what() : "another status";
  }
  return "";
}

inline bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace voltcheck::report

#endif  // VOLTCHECK_TESTS_REPORT_SAMPLE_RUN_H_
