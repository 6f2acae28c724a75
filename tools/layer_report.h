#ifndef VOLTCHECK_TOOLS_LAYER_REPORT_H_
#define VOLTCHECK_TOOLS_LAYER_REPORT_H_

#include <string>
#include <vector>

#include "tools/session.h"
#include "verify/outputs_judge.h"
#include "verify/problem_source.h"

namespace voltcheck::tools {

/// What `replay` says of fixture files beside their cases: the files worst first with their sum,
/// and how captured outputs did, against the reference and against the device.
class LayerReport : public SessionExtra {
 public:
  /// `cases`: one for each fixture, all of its tokens, with the fixture's own column layout. The
  /// captured outputs of each are judged in Finish with `judge` and `numerics`, the arithmetic of
  /// the chip that they come from.
  LayerReport(std::vector<Case> cases, const verify::ProblemSource& source,
              const verify::JudgeOptions& judge, Numerics numerics);

  void Add(const verify::CaseRecord& record) override;
  void Finish() override;
  bool Passed() const override;
  void Print(std::FILE* out, bool colour) const override;
  std::string Json() const override;

 private:
  /// One fixture: the worst over its cases, and sums for the RMS over all.
  struct Layer {
    std::string name;
    verify::Verdict verdict = verify::Verdict::kPassed;
    double use = 0;      ///< largest budget use of any stage on its own input
    double max_abs = 0;  ///< of the output's difference to the FP32 reference
    double squares = 0;
    double want_squares = 0;
    double elements = 0;
    int cases = 0;
  };
  /// The captured outputs of one fixture.
  struct Capture {
    std::string name;
    verify::ForeignVerdict verdict;
    /// Per stage: tactics of the cases whose device outputs are the captured ones, bit for bit.
    std::vector<std::pair<verify::Stage, std::vector<std::string>>> equal;
  };
  /// The bits of one stage as one device gave them.
  struct DeviceHash {
    std::string fixture;
    verify::Stage stage;
    std::uint64_t hash;
    std::string tactics;  ///< "8x256x64/4, 64x128x32/1"
  };

  std::vector<const Layer*> WorstFirst() const;

  std::vector<Case> cases_;
  const verify::ProblemSource& source_;
  verify::JudgeOptions judge_;
  Numerics numerics_;
  std::vector<Layer> layers_;
  std::vector<DeviceHash> device_;
  std::vector<Capture> captures_;
};

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_LAYER_REPORT_H_
