#include "tools/summary_table.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "fixtures/case/descriptor.h"
#include "tools/terminal.h"
#include "verify/report/run_data.h"
#include "verify/report/text.h"

namespace voltcheck::tools {
namespace {

using report::Gravity;
using verify::Verdict;

constexpr std::size_t kWorstShown = 8;
constexpr std::size_t kFailuresShown = 20;

Colour ColourOf(Verdict verdict) {
  if (verdict == Verdict::kPassed) {
    return Colour::kGreen;
  }
  return Gravity(verdict) >= Gravity(Verdict::kFailed) ? Colour::kRed : Colour::kYellow;
}

unsigned long long Wide(std::uint64_t value) { return value; }

}  // namespace

bool SummaryTable::Worse(const Row& a, const Row& b) {
  if (Gravity(a.verdict) != Gravity(b.verdict)) {
    return Gravity(a.verdict) > Gravity(b.verdict);
  }
  if (a.use != b.use) {
    return a.use > b.use;
  }
  return a.index < b.index;
}

void SummaryTable::Keep(std::vector<Row>& rows, Row row, std::size_t most) {
  const auto at = std::upper_bound(rows.begin(), rows.end(), row, Worse);
  rows.insert(at, std::move(row));
  if (rows.size() > most) {
    rows.pop_back();
  }
}

void SummaryTable::Add(const verify::CaseRecord& record) {
  Row row;
  row.index = cases_++;
  row.verdict = record.verdict;
  row.use = record.WorstUse();
  row.c = record.c;
  row.descriptor = record.descriptor;
  row.reason = record.reason;
  row.reproduction = record.reproduction;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const verify::StageRecord& s = record.stages[i];
    if (!s.present) {
      continue;
    }
    StageTotals& t = stages_[i];
    t.elements += s.reference.elements;
    t.bits_compared += s.bits_compared;
    t.bits_differing += s.bits_differing;
    t.squares += s.reference.rms * s.reference.rms * static_cast<double>(s.reference.elements);
    t.use_own = std::max(t.use_own, s.own.max_use.magnitude);
    t.use_end_to_end = std::max(t.use_end_to_end, s.end_to_end.max_use.magnitude);
    if (s.reference.max_abs.row >= 0 &&
        (t.max_abs.row < 0 || s.reference.max_abs.magnitude > t.max_abs.magnitude)) {
      t.max_abs = s.reference.max_abs;
      t.max_abs_case = row.index;
    }
    row.max_abs = std::max(row.max_abs, s.reference.max_abs.magnitude);
  }
  if (row.verdict != Verdict::kPassed) {
    ++not_passed_;
    Keep(failures_, row, kFailuresShown);
  }
  Keep(worst_, std::move(row), kWorstShown);
}

void SummaryTable::Print(std::FILE* out, bool colour, const std::string& suffix) const {
  PrintStages(out);
  PrintWorst(out, colour);
  PrintFailures(out, colour, suffix);
}

void SummaryTable::PrintStages(std::FILE* out) const {
  std::fprintf(out, "%-7s %10s %11s %9s %9s %9s %9s\n", "stage", "elements", "max|d| fp32",
               "rms fp32", "own use", "e2e use", "bits off");
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const StageTotals& t = stages_[i];
    if (t.elements == 0) {
      continue;
    }
    const std::string bits = t.bits_compared == 0 ? "-" : std::to_string(t.bits_differing);
    std::fprintf(out, "%-7s %10llu %11.3g %9.2g %9.3g %9.3g %9s\n",
                 std::string(verify::ToString(verify::kStages[i])).c_str(), Wide(t.elements),
                 t.max_abs.magnitude, std::sqrt(t.squares / static_cast<double>(t.elements)),
                 t.use_own, t.use_end_to_end, bits.c_str());
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const verify::Extremum& x = stages_[i].max_abs;
    if (x.row >= 0) {
      std::fprintf(out, "  %-6s max|d|: case %llu at (%d, %d): got %.7g, fp32 %.7g\n",
                   std::string(verify::ToString(verify::kStages[i])).c_str(),
                   Wide(stages_[i].max_abs_case), x.row, x.col, x.got, x.want);
    }
  }
}

void SummaryTable::PrintWorst(std::FILE* out, bool colour) const {
  if (worst_.empty()) {
    return;
  }
  std::fprintf(out, "\n%4s %-10s %8s %9s %4s %-10s %-10s %s\n", "case", "verdict", "own use",
               "max|d|", "t", "data", "routing", "w13");
  for (const Row& row : worst_) {
    char verdict[16];
    std::snprintf(verdict, sizeof(verdict), "%-10.10s",
                  std::string(verify::ToString(row.verdict)).c_str());
    const bool fixture = row.c.data == Data::kFixture;
    std::fprintf(out, "%4llu %s %8.3g %9.3g %4d %-10.10s %-10.10s %s\n", Wide(row.index),
                 Paint(verdict, ColourOf(row.verdict), colour).c_str(), row.use, row.max_abs,
                 row.c.shape.tokens, fixture ? row.c.fixture.c_str() : ToString(row.c.data).c_str(),
                 fixture ? "-" : ToString(row.c.routing).c_str(), ToString(row.c.w13).c_str());
  }
  if (cases_ > worst_.size()) {
    std::fprintf(out, "     ... and %llu cases that are no worse\n", Wide(cases_ - worst_.size()));
  }
}

void SummaryTable::PrintFailures(std::FILE* out, bool colour, const std::string& suffix) const {
  for (const Row& row : failures_) {
    const std::string number = " case " + std::to_string(row.index) + ": ";
    const std::string_view verdict = verify::ToString(row.verdict);
    const std::string reason =
        report::Wrap(report::Clean(row.reason), verdict.size() + number.size(), 2);
    std::fprintf(out, "\n%s%s%s\n  %s%s\n", Paint(verdict, ColourOf(row.verdict), colour).c_str(),
                 number.c_str(), reason.c_str(), row.reproduction.c_str(), suffix.c_str());
  }
  if (not_passed_ > failures_.size()) {
    std::fprintf(out, "\n... and %llu more that did not pass\n",
                 Wide(not_passed_ - failures_.size()));
  }
}

std::string VerdictLine(const verify::Summary& summary) {
  std::string line = std::to_string(summary.cases) + (summary.cases == 1 ? " case" : " cases");
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (summary.count(verdict) > 0) {
      line.append(", ").append(std::to_string(summary.count(verdict))).append(" ");
      line.append(verify::ToString(verdict));
    }
  }
  return line;
}

}  // namespace voltcheck::tools
