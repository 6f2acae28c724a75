// Reads a run file into the model that reports are made from.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

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

// The cases of an open file.
class CasesOfFile : public CaseSource {
 public:
  CasesOfFile(Handle file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), columns_(file_.get(), path_) {}

  const Columns& columns() const { return columns_; }

  // Of each case, whether one of its figures is NaN.
  void SetNanRows(std::vector<bool> rows) { nan_rows_ = std::move(rows); }

  std::vector<CaseFigures> Read(std::size_t first, std::size_t count) const override {
    try {
      Page page{columns_, path_, first, count, std::vector<CaseFigures>(count)};
      page.Read();
      for (std::size_t i = 0; i < count; ++i) {
        page.cases[i].has_nan = nan_rows_[first + i];
      }
      return std::move(page.cases);
    } catch (const verify::h5::Failure& failure) {
      throw BadInput(path_, "is damaged or truncated (" + failure.reason() + ")",
                     "make it again or name another file");
    }
  }

 private:
  struct Page {
    const Columns& columns;
    const std::string& path;
    std::uint64_t first;
    std::uint64_t count;
    std::vector<CaseFigures> cases;

    void Read() {
      ReadCases();
      for (const Stage stage : verify::kStages) {
        ReadStage(stage);
      }
      ReadLogits();
    }

    template <typename T, typename Set>
    void Fill(const std::string& name, Set set, Presence presence = Presence::kRequired) {
      if (presence == Presence::kOptional && !columns.Has(name)) {
        return;
      }
      const std::vector<T> values = columns.Numbers<T>(name, first, count);
      for (std::size_t i = 0; i < values.size(); ++i) {
        set(cases[i], values[i]);
      }
    }

    template <typename Set>
    void FillText(const std::string& name, Set set) {
      std::vector<std::string> texts = columns.Texts(name, first, count);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        set(cases[i], std::move(texts[i]));
      }
    }

    void ReadCases() {
      using Case = CaseFigures;
      using Text = std::string;
      Fill<std::uint64_t>("case", [](Case& c, std::uint64_t n) { c.number = n; });
      FillText("cases/descriptor", [](Case& c, Text&& t) { c.descriptor = std::move(t); });
      FillText("cases/verdict", [this](Case& c, const Text& t) {
        c.verdict = ParseVerdict(path, "cases/verdict", t);
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
      const std::vector<float> values = columns.Numbers<float>(name, first, count);
      for (std::size_t i = 0; i < values.size(); ++i) {
        StageFigures& s = cases[i].stages[stage];
        s.*member = absent(s) ? 0 : values[i];
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
        c.stages[s].verdict = ParseVerdict(path, base + "verdict", t);
      });
      const auto number = [&](const char* name, std::uint64_t StageFigures::*member,
                              Presence presence = Presence::kRequired) {
        Fill<std::uint64_t>(
            base + name, [=](CaseFigures& c, std::uint64_t n) { c.stages[s].*member = n; },
            presence);
      };
      number("own/elements", &StageFigures::elements);
      number("own/over_budget", &StageFigures::over_budget);
      number("own/nonfinite_got", &StageFigures::nonfinite_got);
      number("own/nonfinite_want", &StageFigures::nonfinite_want);
      number("bits/compared", &StageFigures::bits_compared);
      number("bits/differing", &StageFigures::bits_differing);
      number("bits/open", &StageFigures::bits_open);
      number("bits/hash", &StageFigures::hash, Presence::kOptional);
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
        return [rows = columns.Numbers<std::int32_t>(base + name, first, count),
                next = std::size_t{0}](const StageFigures&) mutable { return rows[next++] < 0; };
      };
      FillFigure(base + "posterior/max_use", &StageFigures::posterior_use, s,
                 absent_by("posterior/max_use_row"));
      FillFigure(base + "end_to_end/max_use", &StageFigures::end_to_end_use, s,
                 absent_by("end_to_end/max_use_row"));
    }

    void ReadLogits() {
      using F = verify::LogitFigures;
      const auto number = [&](const char* name, std::uint64_t F::*member) {
        Fill<std::uint64_t>(
            std::string("logits/") + name,
            [=](CaseFigures& c, std::uint64_t n) { c.logits.*member = n; }, Presence::kOptional);
      };
      const auto figure = [&](const char* name, double F::*member) {
        Fill<float>(
            std::string("logits/") + name, [=](CaseFigures& c, float x) { c.logits.*member = x; },
            Presence::kOptional);
      };
      number("rows", &F::rows);
      number("nonfinite_rows", &F::nonfinite_rows);
      number("elements", &F::elements);
      number("argmax_equal", &F::argmax_equal);
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
  };

  Handle file_;
  std::string path_;
  Columns columns_;
  std::vector<bool> nan_rows_;
};

class Reader {
 public:
  Reader(std::shared_ptr<CasesOfFile> file, const std::string& path, const ReadOptions& options)
      : file_(std::move(file)), path_(path), options_(options), columns_(file_->columns()) {}

  RunData Read() {
    RunCheck check = CheckRun(columns_, path_);
    for (const auto& [name, value] : columns_.Attributes()) {
      run_.attributes[name] = value;
    }
    run_.complete = run_.Attribute("complete") == "1";
    rows_ = check.cases;
    run_.has_mutants = check.has_mutants;
    run_.nan_columns = std::move(check.nan_columns);
    file_->SetNanRows(std::move(check.nan_rows));
    if (rows_ == 0 && !run_.has_mutants) {
      throw BadInput(path_, "holds no case", "a run without cases proves nothing; run some");
    }
    ReadCases();
    for (const Stage stage : verify::kStages) {
      ReadTotals(stage);
    }
    constexpr std::uint64_t kMostKernels = 64;
    if (columns_.Has("kernels/name")) {
      const std::uint64_t files = columns_.Size("kernels/name").rows;
      run_.kernel_files = columns_.Texts("kernels/name", std::min(files, kMostKernels));
    }
    ReadFindings(columns_, options_.most_findings, run_);
    ReadProperties(columns_, path_, run_);
    ReadMutants(columns_, run_);
    ReadWindows(columns_, path_, options_.most_windows, run_);
    return std::move(run_);
  }

 private:
  // All cases once, a page at a time: what is kept are their keys.
  void ReadCases() {
    std::vector<CaseKey> keys;
    keys.reserve(rows_);
    for (std::size_t first = 0; first < rows_; first += CaseList::kPage) {
      const std::size_t count = std::min<std::size_t>(CaseList::kPage, rows_ - first);
      for (const CaseFigures& c : file_->Read(first, count)) {
        if (!keys.empty() && c.number <= keys.back().number) {
          throw BadInput(path_, "/case does not ascend", "make the run file again");
        }
        keys.push_back(KeyOf(c));
      }
    }
    run_.cases = CaseList(file_, std::move(keys));
  }

  void ReadTotals(Stage stage) {
    const auto s = static_cast<std::size_t>(stage);
    const std::string name(verify::ToString(stage));
    StageTotals& totals = run_.totals[s];
    const auto ulp = [&](const std::string& column, auto& sums) {
      if (!columns_.Has(column)) {
        return;
      }
      if (columns_.Size(column).cols != sums.size()) {
        throw BadInput(path_, "/" + column + " has another number of bins",
                       "read it with the version of voltcheck that wrote it");
      }
      for (std::uint64_t first = 0; first < rows_; first += CaseList::kPage) {
        Extent extent;
        const std::vector<std::uint64_t> bins =
            columns_.Matrix<std::uint64_t>(column, extent, first, CaseList::kPage);
        for (std::size_t i = 0; i < bins.size(); ++i) {
          sums[i % sums.size()] += bins[i];
        }
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

  std::shared_ptr<CasesOfFile> file_;
  std::string path_;
  ReadOptions options_;
  const Columns& columns_;
  std::uint64_t rows_ = 0;
  RunData run_;
};

}  // namespace

RunData ReadRun(const std::string& path, const ReadOptions& options) {
  return WithRunFile(path, [&](Handle file) {
    return Reader(std::make_shared<CasesOfFile>(std::move(file), path), path, options).Read();
  });
}

}  // namespace voltcheck::report
