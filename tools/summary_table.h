#ifndef VOLTCHECK_TOOLS_SUMMARY_TABLE_H_
#define VOLTCHECK_TOOLS_SUMMARY_TABLE_H_

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "verify/record.h"
#include "verify/sweep.h"

namespace voltcheck::tools {

/// Gathers what a person wants to see of a run, in memory that does not grow with the cases:
/// figures per stage over all cases, the worst cases, the gravest failures. Everything but
/// descriptors and reproduction lines fits 80 columns.
class SummaryTable {
 public:
  void Add(const verify::CaseRecord& record);
  /// `suffix` is what a reproduction line needs beside the case: --kernels and --fixtures as given.
  void Print(std::FILE* out, bool colour, const std::string& suffix) const;

 private:
  struct StageTotals {
    std::uint64_t elements = 0;
    std::uint64_t bits_compared = 0;
    std::uint64_t bits_differing = 0;
    double squares = 0;  ///< sum of squared differences to the FP32 reference
    double use_own = 0;
    double use_end_to_end = 0;
    verify::Extremum max_abs;  ///< to the FP32 reference
    std::uint64_t max_abs_case = 0;
  };
  /// What is kept of a case.
  struct Row {
    std::uint64_t index = 0;
    verify::Verdict verdict = verify::Verdict::kUntested;
    double use = 0;
    double max_abs = 0;
    Case c;
    std::string descriptor;
    std::string reason;
    std::string reproduction;
  };
  static bool Worse(const Row& a, const Row& b);
  static void Keep(std::vector<Row>& rows, Row row, std::size_t most);
  void PrintStages(std::FILE* out) const;
  void PrintWorst(std::FILE* out, bool colour) const;
  void PrintFailures(std::FILE* out, bool colour, const std::string& suffix) const;

  std::uint64_t cases_ = 0;
  std::uint64_t not_passed_ = 0;
  std::array<StageTotals, verify::kStages.size()> stages_;
  std::vector<Row> worst_;     ///< worst first
  std::vector<Row> failures_;  ///< gravest first
};

/// One line: how many cases ended how.
std::string VerdictLine(const verify::Summary& summary);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_SUMMARY_TABLE_H_
