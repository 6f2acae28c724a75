#include "verify/report/read_tables.h"

#include <algorithm>
#include <cmath>

#include "fixtures/case/error.h"

namespace voltcheck::report {
namespace {

using verify::Stage;
using verify::Verdict;

// An element that is finite on one side only is worse than any budget use.
void FindWorst(FailureWindow& w) {
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

FailureWindow ReadWindow(const Columns& columns, const std::string& path, std::size_t index,
                         Stage stage, const std::string& name) {
  constexpr std::uint64_t kMostSide = 64;
  FailureWindow w;
  w.case_index = index;
  w.stage = stage;
  const Extent size = columns.Size(name + "/got");
  if (size.rows == 0 || size.cols == 0 || size.rows > kMostSide || size.cols > kMostSide) {
    throw BadInput(path, "/" + name + " is no window of 64 x 64 at most",
                   "make the run file again");
  }
  w.rows = static_cast<int>(size.rows);
  w.cols = static_cast<int>(size.cols);
  w.first_row = columns.Numbers<std::int32_t>(name + "/row", size.rows).front();
  w.first_col = columns.Numbers<std::int32_t>(name + "/col", size.cols).front();
  const auto values = [&](const char* what) {
    Extent extent;
    std::vector<double> read = columns.Matrix<double>(name + what, extent);
    if (extent.rows != size.rows || extent.cols != size.cols) {
      throw BadInput(path, "/" + name + what + " has another shape than got",
                     "make the run file again");
    }
    return read;
  };
  w.got = values("/got");
  w.want = values("/want");
  w.budget = values("/budget");
  FindWorst(w);
  return w;
}

}  // namespace

Verdict ParseVerdict(const std::string& path, const std::string& column, const std::string& text) {
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    if (verify::ToString(static_cast<Verdict>(v)) == text) {
      return static_cast<Verdict>(v);
    }
  }
  throw BadInput(path, "/" + column + " holds " + Quote(text) + ", which is no verdict",
                 "read it with the version of voltcheck that wrote it");
}

std::vector<verify::PartMaximum> ReadMaxima(const Columns& columns, const std::string& base,
                                            const std::string& scale) {
  std::vector<verify::PartMaximum> parts;
  if (!columns.Has(base + scale)) {
    return parts;
  }
  constexpr std::uint64_t kMostParts = 65536;
  const std::uint64_t rows = std::min(columns.Size(base + scale).rows, kMostParts);
  const auto index = columns.Numbers<std::int32_t>(base + scale, rows);
  const auto use = columns.Numbers<float>(base + "max_use", rows);
  const auto abs = columns.Numbers<float>(base + "max_abs", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    parts.push_back({index[i], use[i], abs[i]});
  }
  return parts;
}

void ReadFindings(const Columns& columns, std::size_t most, RunData& run) {
  if (!columns.Has("findings/finding")) {
    return;
  }
  run.findings_in_file = columns.Size("findings/finding").rows;
  const std::uint64_t rows = std::min<std::uint64_t>(run.findings_in_file, most);
  run.findings.resize(rows);
  const auto text = [&](const char* name, std::string kernels::Finding::*member) {
    const std::vector<std::string> texts = columns.Texts(std::string("findings/") + name, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      run.findings[i].finding.*member = texts[i];
    }
  };
  const auto number = [&](const char* name, auto set) {
    const auto values = columns.Numbers<std::uint64_t>(std::string("findings/") + name, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      set(run.findings[i], values[i]);
    }
  };
  using F = kernels::Finding;
  text("checker", &F::checker);
  text("kernel", &F::kernel);
  text("message", &F::message);
  text("file", &F::file);
  text("source", &F::source);
  number("case", [](FindingEntry& f, std::uint64_t n) { f.case_number = n; });
  if (columns.Has("findings/source_text")) {
    std::vector<std::string> texts = columns.Texts("findings/source_text", rows);
    for (std::size_t i = 0; i < rows; ++i) {
      run.findings[i].source_text = std::move(texts[i]);
    }
  }
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

void ReadProperties(const Columns& columns, const std::string& path, RunData& run) {
  if (!columns.Has("properties/check")) {
    return;
  }
  const std::uint64_t rows = columns.Size("properties/check").rows;
  run.properties.resize(rows);
  using P = verify::PropertyRecord;
  const auto text = [&](const char* name, auto set) {
    const std::vector<std::string> texts = columns.Texts(std::string("properties/") + name, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      set(run.properties[i], texts[i]);
    }
  };
  text("property", [](P& p, const std::string& t) { p.property = t; });
  text("descriptor", [](P& p, const std::string& t) { p.descriptor = t; });
  text("verdict", [&](P& p, const std::string& t) {
    p.verdict = ParseVerdict(path, "properties/verdict", t);
  });
  text("reason", [](P& p, const std::string& t) { p.reason = t; });
  text("reproduction", [](P& p, const std::string& t) { p.reproduction = t; });
  text("drawn", [](P& p, const std::string& t) { p.drawn = t; });
  const auto draws = columns.Numbers<std::uint64_t>("properties/draw", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    run.properties[i].draw = draws[i];
  }
}

void ReadMutants(const Columns& columns, RunData& run) {
  if (!columns.Has("mutants/mutant")) {
    return;
  }
  const std::uint64_t rows = columns.Size("mutants/mutant").rows;
  run.mutants.resize(rows);
  const auto text = [&](const char* name, std::string MutantEntry::*member) {
    const std::vector<std::string> texts = columns.Texts(std::string("mutants/") + name, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      run.mutants[i].*member = texts[i];
    }
  };
  text("id", &MutantEntry::id);
  text("operator", &MutantEntry::op);
  text("kernel", &MutantEntry::kernel);
  text("change", &MutantEntry::change);
  text("fate", &MutantEntry::fate);
  text("reason", &MutantEntry::reason);
  const auto line = columns.Numbers<std::uint64_t>("mutants/line", rows);
  const auto cases = columns.Numbers<std::int32_t>("mutants/case", rows);
  const auto cases_run = columns.Numbers<std::uint64_t>("mutants/cases_run", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    run.mutants[i].line = line[i];
    run.mutants[i].case_index = cases[i];
    run.mutants[i].cases_run = cases_run[i];
  }
}

void ReadWindows(const Columns& columns, const std::string& path, std::size_t most, RunData& run) {
  std::size_t read = 0;
  for (const std::size_t index : WorstFirst(run.cases)) {
    if (read == most || run.cases.key(index).verdict == Verdict::kPassed) {
      return;
    }
    const std::string base = "failures/" + std::to_string(run.cases.key(index).number);
    if (!columns.Has(base)) {
      continue;
    }
    ++read;
    for (const Stage stage : verify::kStages) {
      const std::string name = base + "/" + std::string(verify::ToString(stage));
      if (columns.Has(name)) {
        run.windows.push_back(ReadWindow(columns, path, index, stage, name));
      }
    }
  }
}

}  // namespace voltcheck::report
