#ifndef VOLTCHECK_VERIFY_REPORT_DIFF_H_
#define VOLTCHECK_VERIFY_REPORT_DIFF_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/report/render.h"
#include "verify/report/run_data.h"

namespace voltcheck::report {

/// Two runs of one case: base against head.
struct CasePair {
  std::size_t base = 0;  ///< index in the run's cases
  std::size_t head = 0;
  bool verdict_changed = false;
  bool worse = false;           ///< head's verdict is graver, or a figure has become NaN
  bool tactic_changed = false;  ///< the same case but for w13 or w2
  std::vector<verify::Stage> bits_changed;
  /// Stages that ran in both, one of which has no hash of its output.
  std::vector<verify::Stage> bits_unknown;
  /// Stages that ran in one of both only.
  std::vector<verify::Stage> stages_changed;
  double base_use = 0;
  double head_use = 0;

  bool changed() const {
    return verdict_changed || worse || tactic_changed || !bits_changed.empty() ||
           !stages_changed.empty() || base_use != head_use;
  }
};

/// A property that held in base and is broken in head, or the other way round.
struct PropertyChange {
  std::string property;
  bool broken_in_base = false;
  bool broken_in_head = false;
  std::string reason;  ///< head's, where it is broken there
  std::string reproduction;
};

struct RunDiff {
  std::vector<CasePair> pairs;         ///< in head's order
  std::vector<std::size_t> only_base;  ///< gone in head
  std::vector<std::size_t> only_head;  ///< new in head
  std::vector<PropertyChange> properties;
  /// Attributes of the root that differ: what else is not the same between the runs.
  std::vector<std::string> attributes;
  /// Same kernels, device and arguments: the runs should be equal (A/A); otherwise A/B.
  bool same_setup = false;
  std::uint64_t worse = 0, better = 0, bits_changed = 0, bits_unknown = 0, tactic_changed = 0,
                use_changed = 0, stages_changed = 0;
  std::uint64_t new_not_passed = 0;  ///< of only_head, or with a NaN
  bool head_incomplete = false;      ///< base is complete, head is not

  /// Every case is in both runs, and every stage of it has the same bits.
  bool bit_equal() const {
    return only_base.empty() && only_head.empty() && bits_changed == 0 && bits_unknown == 0 &&
           stages_changed == 0;
  }
  /// A graver verdict, a figure that has become NaN, a new case that did not pass, a property
  /// broken that held, or an interrupted run where there was a whole one.
  bool regressed() const;
};

/// Reads both runs once, in the order of their files, and keeps some 100 bytes of each case.
/// Matches by descriptor; what is left, by descriptor without the tactics. Equal descriptors match
/// in order. `base_name` and `head_name` are for the error. Throws Error (status 2) when no case is
/// in both.
RunDiff DiffRuns(const RunData& base, const RunData& head, const std::string& base_name,
                 const std::string& head_name);

/// Pairs that changed, gravest first: worse verdicts, other verdicts, bits, then the largest rise
/// of the budget use.
std::vector<const CasePair*> WorstChangesFirst(const RunDiff& diff, const RunData& head);

/// What is compared, for titles and reproduction lines.
struct DiffInput {
  const RunData& base;
  const RunData& head;
  const RunDiff& diff;
};
/// Pins the cases of these pairs, and no others, in both runs: for what is shown worst first.
void PinPairs(const DiffInput& input, std::span<const CasePair* const> pairs);
/// "A/A: bit-equal, 122 cases" or what differs, one line.
std::string DiffHeadline(const DiffInput& input);
/// The case's verdict, and whether one of its figures is NaN: "passed (NaN)".
std::string VerdictWord(const CaseKey& key);
/// Why a case of head is worse.
std::string WhyWorse(const CaseFigures& head);
/// What is NaN in either run, a line each: NaN is in none of the figures that are compared.
std::vector<std::string> NanNotes(const DiffInput& input);
/// "w13, w2".
std::string StageNames(const std::vector<verify::Stage>& stages);

/// For a terminal of 80 columns, worst first; descriptors and reproduction lines may be longer.
std::string DiffText(const DiffInput& input);
/// For a comment on a pull request, at most 60 lines.
std::string DiffMarkdown(const DiffInput& input);
/// `voltcheck.diff/1`, docs/schemas/diff.schema.json, in parts.
void DiffJson(const DiffInput& input, const Sink& sink);
/// The same in one piece.
std::string DiffJson(const DiffInput& input);
/// One page, like a report's.
std::string DiffHtml(const DiffInput& input);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_DIFF_H_
