// `voltcheck logits`: two captures of logits against each other.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/all_reduce_report.h"
#include "tools/arguments.h"
#include "tools/interrupt.h"
#include "tools/json_record.h"
#include "tools/limit_argument.h"
#include "tools/logit_capture.h"
#include "tools/terminal.h"
#include "verify/logits/compare.h"
#include "verify/logits/limits.h"
#include "verify/logits/row_writer.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;
using logits::Comparison;
using logits::LimitResult;

constexpr std::uint64_t kMostJobs = 1024;

std::vector<logits::Limit> ReadLimits(const Arguments& arguments, bool same) {
  std::vector<logits::Limit> limits;
  for (const logits::LimitedFigure& figure : logits::LimitedFigures()) {
    if (arguments.Has(figure.name)) {
      limits.push_back(
          {&figure, ParseFigureLimit(arguments.Where(figure.name), arguments.Text(figure.name))});
    }
  }
  if (limits.empty() && same) {
    // The same configuration twice must give the same logits.
    for (const logits::LimitedFigure& figure : logits::LimitedFigures()) {
      if (std::string_view(figure.name) == "differing") {
        limits.push_back({&figure, 0});
      }
    }
  }
  return limits;
}

std::string RowsText(const logits::BadRows& bad) {
  std::string text = bad.count == 1 ? "row " : "rows ";
  for (std::size_t i = 0; i < bad.first.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(bad.first[i]);
  }
  return text + (bad.count > bad.first.size() ? ", ..." : "");
}

void PrintFigure(const char* name, double value, double error, const char* note = "") {
  if (error > 0) {
    std::printf("  %-28s %12.6g +- %-9.2g %s\n", name, value, error, note);
  } else {
    std::printf("  %-28s %12.6g %s%s\n", name, value, *note == '\0' ? "" : "             ", note);
  }
}

std::string At(std::int64_t row, int column) {
  return "row " + std::to_string(row) + ", token " + std::to_string(column);
}

// What the comparison means: the same thing twice, or two things.
std::string Meaning(const verify::LogitFigures& f, bool same) {
  const bool equal = f.differing == 0 && f.nonfinite_rows == 0;
  if (same) {
    return equal ? "A/A: the same configuration twice gave the same logits"
                 : "A/A: the same configuration twice gave other logits; that is what A/B has to "
                   "exceed";
  }
  return equal ? "A/B: no logit differs" : "A/B: base is what the change is held against";
}

void PrintFigures(const Comparison& c, const logits::Capture& base, const logits::Capture& other,
                  bool same) {
  const verify::LogitFigures& f = c.figures;
  const std::uint64_t finite = f.rows - f.nonfinite_rows;
  std::printf("base  %s (%s)\nother %s (%s)\n", base.name.c_str(),
              std::string(ToString(base.type)).c_str(), other.name.c_str(),
              std::string(ToString(other.type)).c_str());
  std::printf("%llu rows of %llu logits\n%s\n\n", static_cast<unsigned long long>(f.rows),
              static_cast<unsigned long long>(base.vocabulary), Meaning(f, same).c_str());
  std::printf("  %-28s %12llu of %llu\n", "differing logits",
              static_cast<unsigned long long>(f.differing),
              static_cast<unsigned long long>(f.elements));
  PrintFigure("max |difference|", f.max_abs, 0,
              f.max_abs_row < 0 ? "" : At(f.max_abs_row, f.max_abs_column).c_str());
  PrintFigure("RMS", f.rms, f.rms_error);
  PrintFigure("mean (bias)", f.bias, f.bias_error);
  if (finite > 0) {
    PrintFigure("same greedy token", static_cast<double>(f.argmax_equal) / finite, f.argmax_error);
    PrintFigure("largest flipped margin", f.flipped_margin, 0);
    PrintFigure("top-5 overlap", f.top_overlap, f.top_overlap_error);
    PrintFigure("top-5 log-probability, mean", f.top_log_probability_mean,
                f.top_log_probability_error);
    PrintFigure("top-5 log-probability, max", f.top_log_probability, 0);
    PrintFigure("KL mean", f.kl_mean, f.kl_mean_error);
    PrintFigure("KL median", f.kl_median, f.kl_median_error);
    PrintFigure("KL p99", f.kl_p99, f.kl_p99_error);
    PrintFigure("KL max", f.kl_max, 0);
  }
  if (f.first_flip >= 0) {
    std::printf("  first differing greedy token: row %lld, base %d, other %d\n",
                static_cast<long long>(f.first_flip), f.first_flip_base, f.first_flip_other);
  }
  if (c.bad.count > 0) {
    std::printf("  NaN or infinite: %llu rows (%s); they enter no figure over rows\n",
                static_cast<unsigned long long>(c.bad.count), RowsText(c.bad).c_str());
  }
}

void PrintVerdict(const std::vector<LimitResult>& results, bool passed) {
  const bool colour = WantsColour(stdout);
  std::printf("\n");
  for (const LimitResult& r : results) {
    std::printf("  %-6s %s %.6g, limit %s %.6g\n", r.kept ? "kept" : "BROKEN", r.limit.figure->name,
                r.value, r.limit.figure->at_least ? ">=" : "<=", r.limit.value);
  }
  if (results.empty()) {
    std::printf("no limits were given, so there is no verdict; see docs/commands/logits.md\n");
    return;
  }
  std::printf("%s\n", passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                             : Paint("FAILED", Colour::kRed, colour).c_str());
}

void PrintJson(const Comparison& c, const logits::Capture& base, const logits::Capture& other,
               bool same, const std::vector<LimitResult>& results, bool passed) {
  Json limits = Json::array();
  for (const LimitResult& r : results) {
    limits.push_back({{"figure", r.limit.figure->name},
                      {"limit", r.limit.value},
                      {"value", r.value},
                      {"error", r.error},
                      {"kept", r.kept}});
  }
  Json json = {{"schema", "voltcheck.logits/1"},
               {"comparison", same ? "A/A" : "A/B"},
               {"base", {{"file", base.name}, {"type", ToString(base.type)}}},
               {"other", {{"file", other.name}, {"type", ToString(other.type)}}},
               {"vocabulary", base.vocabulary},
               {"bit_equal", c.figures.differing == 0 && c.bad.count == 0},
               {"figures", ToJson(c.figures)},
               {"first_nonfinite_rows", c.bad.first},
               {"limits", limits},
               {"complete", c.complete},
               {"verdict", results.empty() ? "none"
                           : passed        ? "passed"
                                           : "failed"}};
  std::printf("%s\n", json.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

struct Setup {
  std::string base;
  std::string other;
  std::string base_tensor;
  std::string other_tensor;
  bool same = false;
};

ExitStatus Compare(const Arguments& arguments, const Setup& setup) {
  const logits::Capture base = OpenLogits(setup.base, setup.base_tensor);
  const logits::Capture other = OpenLogits(setup.other, setup.other_tensor);
  const std::vector<logits::Limit> limits = ReadLimits(arguments, setup.same);
  std::unique_ptr<logits::RowWriter> writer;
  if (arguments.Has("out")) {
    writer = logits::MakeRowWriter(
        arguments.Text("out"),
        verify::ProvenanceOfThisBuild(setup.same ? "logits --same" : "logits"));
  }
  const InterruptGuard interrupts;
  Progress progress(base.rows, arguments.Has("quiet"), "rows");
  logits::CompareOptions options;
  options.jobs = static_cast<int>(arguments.Number("jobs", kMostJobs));
  options.row = [&](std::uint64_t row, const verify::LogitRow& figures) {
    progress.Step(!figures.flipped());
    if (writer) {
      writer->Append(row, figures);
    }
  };
  options.progress = [](std::uint64_t /*done*/) { return !InterruptGuard::Requested(); };
  const Comparison c = logits::CompareCaptures(base, other, options);
  progress.Clear();
  if (writer) {
    writer->Finish(c.complete);
  }
  const std::vector<LimitResult> results = logits::CheckLimits(limits, c.figures);
  bool passed = true;
  for (const LimitResult& r : results) {
    passed = passed && r.kept;
  }
  if (arguments.Has("json")) {
    PrintJson(c, base, other, setup.same, results, passed);
  } else if (!arguments.Has("quiet") || !passed) {
    PrintFigures(c, base, other, setup.same);
    PrintVerdict(results, passed);
  }
  if (!c.complete) {
    std::fprintf(stderr, "voltcheck: interrupted after %llu of %llu rows\n",
                 static_cast<unsigned long long>(c.figures.rows),
                 static_cast<unsigned long long>(base.rows));
    return ExitStatus::kInterrupted;
  }
  if (c.bad.count > 0 && !arguments.Has("nonfinite-rows")) {
    std::fflush(stdout);
    throw BadInput(
        setup.other + " against " + setup.base,
        std::to_string(c.bad.count) + " rows hold a NaN or an infinity (" + RowsText(c.bad) + ")",
        "find out why, or allow a number of them with --nonfinite-rows N");
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace

ExitStatus Logits(const Words& words) {
  Arguments arguments(
      "logits BASE OTHER [options]",
      "Compares two captures of logits [rows, vocabulary]: .npy, safetensors, a fixture or a run "
      "file.\nWith --all-reduce: what the order of a tensor-parallel sum alone changes.");
  arguments.Positional("capture", -1);
  arguments.Value("tensor", "", "tensor of the logits in both files (default: 'logits')");
  arguments.Value("other-tensor", "", "tensor of the logits in OTHER");
  arguments.Flag("same", "A/A: both are of the same configuration, so any difference fails");
  arguments.Value("out", "", "figures of every row: FILE.csv, FILE.jsonl or FILE.h5");
  arguments.Value("jobs", "0", "threads, 0 for one per core; never changes a result");
  arguments.Flag("json", "print JSON");
  arguments.Flag("quiet", "print nothing unless a limit is broken");
  for (const logits::LimitedFigure& figure : logits::LimitedFigures()) {
    arguments.Value(
        figure.name, "",
        (std::string(figure.at_least ? "at least: " : "at most: ") + figure.help).c_str());
  }
  AddAllReduceOptions(arguments);
  arguments.ConfigFile();
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  if (arguments.Has("all-reduce")) {
    return ReportAllReduce(arguments);
  }
  const std::vector<std::string> files = arguments.Texts("capture");
  if (files.size() != 2) {
    throw BadInput("voltcheck logits", "needs two captures", "see 'voltcheck logits --help'");
  }
  Setup setup{files[0], files[1], arguments.Text("tensor"), arguments.Text("tensor"),
              arguments.Has("same")};
  if (arguments.Has("other-tensor")) {
    setup.other_tensor = arguments.Text("other-tensor");
  }
  return Compare(arguments, setup);
}

}  // namespace voltcheck::tools
