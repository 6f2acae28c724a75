// Reads a run file into the model that reports are made from.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "fixtures/case/error.h"
#include "verify/h5.h"
#include "verify/report/columns.h"
#include "verify/report/run_data.h"
#include "verify/run_file.h"
#include "verify/run_reader.h"

namespace voltcheck::report {
namespace {

using verify::Stage;
using verify::Verdict;
using verify::h5::Check;
using verify::h5::Handle;

// A figure that may be missing: files of a smaller minor version have fewer columns.
enum class Presence { kRequired, kOptional };

class Reader {
 public:
  Reader(hid_t file, const std::string& path, const ReadOptions& options)
      : path_(path), options_(options), columns_(file, path) {}

  RunData Read() {
    CheckSchema();
    for (const auto& [name, value] : columns_.Attributes()) {
      run_.attributes[name] = value;
    }
    run_.complete = run_.Attribute("complete") == "1";
    rows_ = columns_.Size("case").rows;
    numbers_ = columns_.Numbers<std::uint64_t>("case", rows_);
    run_.has_mutants = columns_.Has("mutants");
    if (rows_ == 0 && !run_.has_mutants) {
      throw BadInput(path_, "holds no case", "a run without cases proves nothing; run some");
    }
    run_.cases.resize(rows_);
    ReadCases();
    for (const Stage stage : verify::kStages) {
      ReadStage(stage);
      ReadTotals(stage);
    }
    ReadLogits();
    RefuseNanColumns();
    ReadFindings();
    ReadProperties();
    ReadMutants();
    ReadWindows();
    return std::move(run_);
  }

 private:
  void CheckSchema() const {
    const std::string schema = columns_.Attribute("schema");
    if (schema == verify::kRunSchema) {
      return;
    }
    if (schema.empty()) {
      throw BadInput(path_, "has no schema", "name a run file, as 'voltcheck gate' writes it");
    }
    const bool is_run = schema.starts_with("voltcheck.run/");
    throw BadInput(path_, "has the schema " + Quote(schema),
                   is_run ? "read it with the version of voltcheck that wrote it: this one reads " +
                                std::string(verify::kRunSchema)
                          : "name a run file, " + std::string(verify::kRunSchema));
  }

  template <typename T, typename Set>
  void Fill(const std::string& name, Set set, Presence presence = Presence::kRequired) {
    if (presence == Presence::kOptional && !columns_.Has(name)) {
      return;
    }
    const std::vector<T> values = columns_.Numbers<T>(name, rows_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      set(run_.cases[i], values[i]);
    }
  }

  template <typename Set>
  void FillText(const std::string& name, Set set) {
    std::vector<std::string> texts = columns_.Texts(name, rows_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      set(run_.cases[i], std::move(texts[i]));
    }
  }

  Verdict ParseVerdict(const std::string& column, const std::string& text) const {
    for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
      if (verify::ToString(static_cast<Verdict>(v)) == text) {
        return static_cast<Verdict>(v);
      }
    }
    throw BadInput(path_, "/" + column + " holds " + Quote(text) + ", which is no verdict",
                   "read it with the version of voltcheck that wrote it");
  }

  void ReadCases() {
    using Case = CaseFigures;
    using Text = std::string;
    FillText("cases/descriptor", [](Case& c, Text&& t) { c.descriptor = std::move(t); });
    FillText("cases/verdict",
             [this](Case& c, const Text& t) { c.verdict = ParseVerdict("cases/verdict", t); });
    FillText("cases/reason", [](Case& c, Text&& t) { c.reason = std::move(t); });
    FillText("cases/data", [](Case& c, Text&& t) { c.data = std::move(t); });
    FillText("cases/routing", [](Case& c, Text&& t) { c.routing = std::move(t); });
    FillText("cases/w13_tile", [](Case& c, Text&& t) { c.w13 = std::move(t); });
    FillText("cases/w2_tile", [](Case& c, Text&& t) { c.w2 = std::move(t); });
    Fill<std::uint64_t>("cases/w13_splits",
                        [](Case& c, std::uint64_t n) { c.w13 += "/" + std::to_string(n); });
    Fill<std::uint64_t>("cases/w2_splits",
                        [](Case& c, std::uint64_t n) { c.w2 += "/" + std::to_string(n); });
    Fill<std::uint64_t>("cases/tokens", [](Case& c, std::uint64_t n) { c.tokens = n; });
    Fill<std::uint64_t>("cases/findings", [](Case& c, std::uint64_t n) { c.findings = n; });
  }

  // A column of figures. A NaN is in order where `absent` says that there is nothing to tell.
  void FillFigure(const std::string& name, float StageFigures::*member, std::size_t stage,
                  const std::function<bool(const StageFigures&)>& absent) {
    const std::vector<float> values = columns_.Numbers<float>(name, rows_);
    NanColumn nan{name, 0, 0};
    std::uint64_t due = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      StageFigures& s = run_.cases[i].stages[stage];
      if (absent(s)) {
        s.*member = 0;
        continue;
      }
      ++due;
      s.*member = values[i];
      if (std::isnan(values[i])) {
        nan.first_case = nan.count++ == 0 ? i : nan.first_case;
        run_.cases[i].has_nan = true;
      }
    }
    if (nan.count > 0) {
      run_.nan_columns.push_back(nan);
      all_nan_ = nan.count == due && all_nan_.empty() ? name : all_nan_;
    }
  }

  void FillPlace(const std::string& name, Place StageFigures::*member, std::size_t stage,
                 bool has_budget) {
    const auto set = [&](const char* suffix, auto part, auto type) {
      Fill<decltype(type)>(name + suffix, [=](CaseFigures& c, auto value) {
        c.stages[stage].*member.*part = value;
      });
    };
    set("_row", &Place::row, std::int32_t{});
    set("_col", &Place::col, std::int32_t{});
    set("_got", &Place::got, float{});
    set("_want", &Place::want, float{});
    if (has_budget) {
      set("_budget", &Place::budget, float{});
    }
  }

  void ReadStage(Stage stage) {
    const auto s = static_cast<std::size_t>(stage);
    const std::string base = "metrics/" + std::string(verify::ToString(stage)) + "/";
    FillText(base + "verdict", [&](CaseFigures& c, const std::string& t) {
      c.stages[s].verdict = ParseVerdict(base + "verdict", t);
    });
    const auto count = [&](const char* name, std::uint64_t StageFigures::*member,
                           Presence presence = Presence::kRequired) {
      Fill<std::uint64_t>(
          base + name, [=](CaseFigures& c, std::uint64_t n) { c.stages[s].*member = n; }, presence);
    };
    count("own/elements", &StageFigures::elements);
    count("own/over_budget", &StageFigures::over_budget);
    count("own/nonfinite_got", &StageFigures::nonfinite_got);
    count("own/nonfinite_want", &StageFigures::nonfinite_want);
    count("bits/compared", &StageFigures::bits_compared);
    count("bits/differing", &StageFigures::bits_differing);
    count("bits/open", &StageFigures::bits_open);
    count("bits/hash", &StageFigures::hash, Presence::kOptional);
    FillPlace(base + "own/max_use", &StageFigures::worst_use, s, true);
    FillPlace(base + "reference/max_abs", &StageFigures::worst_abs, s, false);
    const auto not_run = [](const StageFigures& f) { return !f.ran(); };
    const auto no_use = [](const StageFigures& f) { return f.worst_use.row < 0; };
    const auto no_abs = [](const StageFigures& f) { return f.worst_abs.row < 0; };
    FillFigure(base + "own/max_use", &StageFigures::own_use, s, no_use);
    FillFigure(base + "own/use_p99", &StageFigures::own_use_p99, s, not_run);
    FillFigure(base + "reference/max_abs", &StageFigures::max_abs, s, no_abs);
    FillFigure(base + "reference/rms", &StageFigures::rms, s, not_run);
    FillFigure(base + "reference/bias", &StageFigures::bias, s, not_run);
    const auto absent_by = [&](const char* name) {
      return [rows = columns_.Numbers<std::int32_t>(base + name, rows_),
              next = std::size_t{0}](const StageFigures&) mutable { return rows[next++] < 0; };
    };
    FillFigure(base + "posterior/max_use", &StageFigures::posterior_use, s,
               absent_by("posterior/max_use_row"));
    FillFigure(base + "end_to_end/max_use", &StageFigures::end_to_end_use, s,
               absent_by("end_to_end/max_use_row"));
  }

  void ReadLogits() {
    using F = verify::LogitFigures;
    const auto count = [&](const char* name, std::uint64_t F::*member) {
      Fill<std::uint64_t>(
          std::string("logits/") + name,
          [=](CaseFigures& c, std::uint64_t n) { c.logits.*member = n; }, Presence::kOptional);
    };
    const auto figure = [&](const char* name, double F::*member) {
      Fill<float>(
          std::string("logits/") + name, [=](CaseFigures& c, float x) { c.logits.*member = x; },
          Presence::kOptional);
    };
    count("rows", &F::rows);
    count("nonfinite_rows", &F::nonfinite_rows);
    count("elements", &F::elements);
    count("argmax_equal", &F::argmax_equal);
    figure("max_abs", &F::max_abs);
    figure("rms", &F::rms);
    figure("flipped_margin", &F::flipped_margin);
    figure("top5_overlap", &F::top_overlap);
    figure("top5_log_probability", &F::top_log_probability);
    figure("kl_mean", &F::kl_mean);
    figure("kl_max", &F::kl_max);
    Fill<std::int32_t>(
        "logits/first_flip", [](CaseFigures& c, std::int32_t n) { c.logits.first_flip = n; },
        Presence::kOptional);
  }

  void RefuseNanColumns() const {
    if (!all_nan_.empty()) {
      throw BadInput(path_, "/" + all_nan_ + " is NaN in every case that has that figure",
                     "make the run file again: nothing can be said of such a column");
    }
  }

  void ReadTotals(Stage stage) {
    const auto s = static_cast<std::size_t>(stage);
    const std::string name(verify::ToString(stage));
    StageTotals& totals = run_.totals[s];
    const auto ulp = [&](const std::string& column, auto& sums) {
      if (!columns_.Has(column)) {
        return;
      }
      Extent extent;
      const std::vector<std::uint64_t> bins = columns_.Matrix<std::uint64_t>(column, extent);
      if (extent.cols != sums.size()) {
        throw BadInput(path_, "/" + column + " has another number of bins",
                       "read it with the version of voltcheck that wrote it");
      }
      for (std::size_t i = 0; i < bins.size(); ++i) {
        sums[i % sums.size()] += bins[i];
      }
    };
    ulp("histograms/" + name + "/own", totals.ulp_own);
    ulp("histograms/" + name + "/reference", totals.ulp_reference);
    const std::string base = "totals/" + name + "/";
    if (columns_.Has(base + "density")) {
      Extent extent;
      totals.density = columns_.Matrix<std::uint64_t>(base + "density", extent);
      if (extent.rows != verify::kMagnitudeBins || extent.cols != verify::kMagnitudeBins) {
        totals.density.clear();
      }
    }
    totals.experts = ReadMaxima(base + "expert/", "expert");
    totals.tiles = ReadMaxima(base + "tile/", "tile");
  }

  std::vector<verify::PartMaximum> ReadMaxima(const std::string& base, const std::string& scale) {
    std::vector<verify::PartMaximum> parts;
    if (!columns_.Has(base + scale)) {
      return parts;
    }
    constexpr std::uint64_t kMostParts = 65536;
    const std::uint64_t rows = std::min(columns_.Size(base + scale).rows, kMostParts);
    const auto index = columns_.Numbers<std::int32_t>(base + scale, rows);
    const auto use = columns_.Numbers<float>(base + "max_use", rows);
    const auto abs = columns_.Numbers<float>(base + "max_abs", rows);
    for (std::size_t i = 0; i < rows; ++i) {
      parts.push_back({index[i], use[i], abs[i]});
    }
    return parts;
  }

  void ReadFindings() {
    if (!columns_.Has("findings/finding")) {
      return;
    }
    run_.findings_in_file = columns_.Size("findings/finding").rows;
    const std::uint64_t rows =
        std::min<std::uint64_t>(run_.findings_in_file, options_.most_findings);
    run_.findings.resize(rows);
    const auto text = [&](const char* name, std::string kernels::Finding::*member) {
      const std::vector<std::string> texts = columns_.Texts(std::string("findings/") + name, rows);
      for (std::size_t i = 0; i < rows; ++i) {
        run_.findings[i].finding.*member = texts[i];
      }
    };
    const auto number = [&](const char* name, auto set) {
      const auto values = columns_.Numbers<std::uint64_t>(std::string("findings/") + name, rows);
      for (std::size_t i = 0; i < rows; ++i) {
        set(run_.findings[i], values[i]);
      }
    };
    using F = kernels::Finding;
    text("checker", &F::checker);
    text("kernel", &F::kernel);
    text("message", &F::message);
    text("file", &F::file);
    text("source", &F::source);
    number("case", [this](FindingEntry& f, std::uint64_t n) { f.case_index = RowOf(n); });
    number("line", [](FindingEntry& f, std::uint64_t n) { f.finding.line = static_cast<int>(n); });
    number("address", [](FindingEntry& f, std::uint64_t n) { f.finding.address = n; });
    const auto axis = [&](const std::string& name, kernels::Dim3 F::*dim) {
      number((name + "_x").c_str(), [dim](FindingEntry& f, std::uint64_t n) {
        (f.finding.*dim).x = static_cast<std::uint32_t>(n);
      });
      number((name + "_y").c_str(), [dim](FindingEntry& f, std::uint64_t n) {
        (f.finding.*dim).y = static_cast<std::uint32_t>(n);
      });
      number((name + "_z").c_str(), [dim](FindingEntry& f, std::uint64_t n) {
        (f.finding.*dim).z = static_cast<std::uint32_t>(n);
      });
    };
    axis("block", &F::block);
    axis("thread", &F::thread);
  }

  void ReadProperties() {
    if (!columns_.Has("properties/check")) {
      return;
    }
    const std::uint64_t rows = columns_.Size("properties/check").rows;
    run_.properties.resize(rows);
    using P = verify::PropertyRecord;
    const auto text = [&](const char* name, auto set) {
      const std::vector<std::string> texts =
          columns_.Texts(std::string("properties/") + name, rows);
      for (std::size_t i = 0; i < rows; ++i) {
        set(run_.properties[i], texts[i]);
      }
    };
    text("property", [](P& p, const std::string& t) { p.property = t; });
    text("descriptor", [](P& p, const std::string& t) { p.descriptor = t; });
    text("verdict",
         [&](P& p, const std::string& t) { p.verdict = ParseVerdict("properties/verdict", t); });
    text("reason", [](P& p, const std::string& t) { p.reason = t; });
    text("reproduction", [](P& p, const std::string& t) { p.reproduction = t; });
    text("drawn", [](P& p, const std::string& t) { p.drawn = t; });
    const auto draws = columns_.Numbers<std::uint64_t>("properties/draw", rows);
    for (std::size_t i = 0; i < rows; ++i) {
      run_.properties[i].draw = draws[i];
    }
  }

  void ReadMutants() {
    if (!columns_.Has("mutants/mutant")) {
      return;
    }
    const std::uint64_t rows = columns_.Size("mutants/mutant").rows;
    run_.mutants.resize(rows);
    const auto text = [&](const char* name, std::string MutantEntry::*member) {
      const std::vector<std::string> texts = columns_.Texts(std::string("mutants/") + name, rows);
      for (std::size_t i = 0; i < rows; ++i) {
        run_.mutants[i].*member = texts[i];
      }
    };
    text("id", &MutantEntry::id);
    text("operator", &MutantEntry::op);
    text("kernel", &MutantEntry::kernel);
    text("change", &MutantEntry::change);
    text("fate", &MutantEntry::fate);
    text("reason", &MutantEntry::reason);
    const auto line = columns_.Numbers<std::uint64_t>("mutants/line", rows);
    const auto cases = columns_.Numbers<std::int32_t>("mutants/case", rows);
    const auto run = columns_.Numbers<std::uint64_t>("mutants/cases_run", rows);
    for (std::size_t i = 0; i < rows; ++i) {
      run_.mutants[i].line = line[i];
      run_.mutants[i].case_index = cases[i];
      run_.mutants[i].cases_run = run[i];
    }
  }

  // Rows are cases in ascending order of their number in the whole run; those that were not reached
  // are missing.
  std::uint64_t RowOf(std::uint64_t number) const {
    const auto it = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    return static_cast<std::uint64_t>(it - numbers_.begin());
  }

  void ReadWindows() {
    std::size_t read = 0;
    for (const std::size_t index : WorstFirst(run_.cases)) {
      if (read == options_.most_windows || run_.cases[index].verdict == Verdict::kPassed) {
        return;
      }
      const std::string base = "failures/" + std::to_string(numbers_[index]);
      if (!columns_.Has(base)) {
        continue;
      }
      ++read;
      for (const Stage stage : verify::kStages) {
        const std::string name = base + "/" + std::string(verify::ToString(stage));
        if (columns_.Has(name)) {
          ReadWindow(index, stage, name);
        }
      }
    }
  }

  void ReadWindow(std::size_t index, Stage stage, const std::string& name) {
    constexpr std::uint64_t kMostSide = 64;
    FailureWindow w;
    w.case_index = index;
    w.stage = stage;
    const Extent size = columns_.Size(name + "/got");
    if (size.rows == 0 || size.cols == 0 || size.rows > kMostSide || size.cols > kMostSide) {
      throw BadInput(path_, "/" + name + " is no window of 64 x 64 at most",
                     "make the run file again");
    }
    w.rows = static_cast<int>(size.rows);
    w.cols = static_cast<int>(size.cols);
    w.first_row = columns_.Numbers<std::int32_t>(name + "/row", size.rows).front();
    w.first_col = columns_.Numbers<std::int32_t>(name + "/col", size.cols).front();
    const auto values = [&](const char* what) {
      Extent extent;
      std::vector<double> read = columns_.Matrix<double>(name + what, extent);
      if (extent.rows != size.rows || extent.cols != size.cols) {
        throw BadInput(path_, "/" + name + what + " has another shape than got",
                       "make the run file again");
      }
      return read;
    };
    w.got = values("/got");
    w.want = values("/want");
    w.budget = values("/budget");
    FindWorst(w);
    run_.windows.push_back(std::move(w));
  }

  // An element that is finite on one side only is worse than any budget use.
  static void FindWorst(FailureWindow& w) {
    double worst = -1;
    for (std::size_t i = 0; i < w.got.size(); ++i) {
      const double diff = std::abs(w.got[i] - w.want[i]);
      double use = diff == 0 ? 0 : diff / w.budget[i];
      if (std::isnan(use)) {
        use = std::isfinite(w.got[i]) == std::isfinite(w.want[i]) ? 0 : HUGE_VAL;
      }
      if (use > worst) {
        worst = use;
        w.worst_row = w.first_row + static_cast<int>(i) / w.cols;
        w.worst_col = w.first_col + static_cast<int>(i) % w.cols;
      }
    }
  }

  std::string path_;
  ReadOptions options_;
  Columns columns_;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> numbers_;  // of the cases, by row
  RunData run_;
  std::string all_nan_;  ///< the first column that is NaN wherever it should be a figure
};

}  // namespace

RunData ReadRun(const std::string& path, const ReadOptions& options) {
  if (!verify::IsHdf5(path)) {
    throw BadInput(path, "is no HDF5 file", "name a run file, as 'voltcheck gate' writes it");
  }
  verify::h5::Quiet();
  H5PLset_loading_state(0);  // no code that a file asks for
  try {
    const Handle file(Check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), H5Fclose);
    return Reader(file.get(), path, options).Read();
  } catch (const verify::h5::Failure& failure) {
    throw BadInput(path, "is damaged or truncated (" + failure.reason() + ")",
                   "make it again or name another file");
  }
}

}  // namespace voltcheck::report
