// Reads a run file into the model that reports are made from.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "fixtures/case/error.h"
#include "verify/h5.h"
#include "verify/report/columns.h"
#include "verify/report/read_tables.h"
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
    ReadFindings(columns_, options_.most_findings, numbers_, run_);
    ReadProperties(columns_, path_, run_);
    ReadMutants(columns_, run_);
    ReadWindows(columns_, path_, options_.most_windows, numbers_, run_);
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

  void ReadCases() {
    using Case = CaseFigures;
    using Text = std::string;
    FillText("cases/descriptor", [](Case& c, Text&& t) { c.descriptor = std::move(t); });
    FillText("cases/verdict", [this](Case& c, const Text& t) {
      c.verdict = ParseVerdict(path_, "cases/verdict", t);
    });
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
      c.stages[s].verdict = ParseVerdict(path_, base + "verdict", t);
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
    totals.experts = ReadMaxima(columns_, base + "expert/", "expert");
    totals.tiles = ReadMaxima(columns_, base + "tile/", "tile");
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
