// A run as CSV, one row per case.
#include "verify/report/render.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

constexpr const char* kStageColumns =
    "verdict,elements,over_budget,nonfinite,bits_compared,bits_differing,hash,own_use,own_use_p99,"
    "posterior_use,end_to_end_use,max_abs,max_abs_row,max_abs_col,rms,bias";

void AppendStage(const StageFigures& f, std::string& row) {
  const auto add = [&row](const std::string& value) { row.append(",").append(value); };
  if (!f.ran()) {
    row.append(16, ',');
    return;
  }
  add(std::string(verify::ToString(f.verdict)));
  for (const std::uint64_t count :
       {f.elements, f.over_budget, f.nonfinite_got, f.bits_compared, f.bits_differing}) {
    add(std::to_string(count));
  }
  add(f.hash == 0 ? "" : Hex(f.hash));
  for (const float figure : {f.own_use, f.own_use_p99, f.posterior_use, f.end_to_end_use}) {
    add(Exact(figure));
  }
  add(Exact(f.max_abs));
  add(std::to_string(f.worst_abs.row));
  add(std::to_string(f.worst_abs.col));
  add(Exact(f.rms));
  add(Exact(f.bias));
}

}  // namespace

void RenderCsv(const RunData& run, const Sink& sink) {
  std::string csv =
      "case,descriptor,verdict,reason,tokens,data,routing,w13,w2,findings,worst_use,"
      "reproduction";
  for (const verify::Stage stage : verify::kStages) {
    std::string column;
    for (const char* c = kStageColumns;; ++c) {
      if (*c == ',' || *c == '\0') {
        csv.append(",").append(verify::ToString(stage)).append("_").append(column);
        column.clear();
        if (*c == '\0') {
          break;
        }
      } else {
        column += *c;
      }
    }
  }
  csv += ",logit_rows,logit_nonfinite_rows,logit_argmax_equal,logit_kl_max\r\n";
  sink(csv);
  for (const CaseFigures& c : run.cases) {
    std::string row = std::to_string(c.number);
    for (const std::string& text :
         {c.descriptor, std::string(verify::ToString(c.verdict)), c.reason,
          std::to_string(c.tokens), c.data, c.routing, c.w13, c.w2, std::to_string(c.findings),
          Exact(c.WorstUse()), run.Reproduction(c.descriptor)}) {
      row.append(",").append(CsvField(text));
    }
    for (const StageFigures& f : c.stages) {
      AppendStage(f, row);
    }
    const verify::LogitFigures& l = c.logits;
    row += l.rows == 0 ? std::string(",0,,,")
                       : "," + std::to_string(l.rows) + "," + std::to_string(l.nonfinite_rows) +
                             "," + std::to_string(l.argmax_equal) + "," + Exact(l.kl_max);
    sink(row + "\r\n");
  }
}

}  // namespace voltcheck::report
