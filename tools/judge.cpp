// `voltcheck judge`: outputs that were computed elsewhere against a fixture.
#include <cstdio>

#include "fixtures/capture.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/exact_convert.h"
#include "fixtures/sha256.h"
#include "tools/arguments.h"
#include "tools/foreign_report.h"
#include "tools/json_record.h"
#include "tools/judge_arguments.h"
#include "tools/summary_table.h"
#include "tools/terminal.h"
#include "verify/outputs_judge.h"
#include "verify/problem_source.h"
#include "verify/run_file.h"

namespace voltcheck::tools {
namespace {

using reference::AccumulationOrder;
using verify::ForeignOutputs;
using verify::ForeignVerdict;

constexpr std::uint64_t kMostTokens = 65536;

// The outputs under their usual names, and a hash over names and bytes.
struct OutputsFile {
  ForeignOutputs outputs;
  std::map<std::string, std::string> metadata;
  std::string hash;
};

OutputsFile ReadOutputs(const std::string& path, std::size_t most_bytes) {
  const fixtures::ShardSet files({path});
  OutputsFile read;
  fixtures::Sha256 hash;
  const auto find = [&](const char* role, auto convert, auto& into) {
    const std::string name = fixtures::FindCaptured(files, {}, role);
    if (name.empty()) {
      return;
    }
    const fixtures::SafeTensor& tensor = files.Get(name);
    if (tensor.bytes.size() > most_bytes) {
      throw BadInput(files.Where(name), "is larger than any output of the fixture",
                     "give outputs of the fixture's tokens");
    }
    into = convert(tensor, files.Where(name));
    hash.Update(role);
    hash.Update(std::as_bytes(std::span(into)));
  };
  find("w13", fixtures::ToHalves, read.outputs.w13);
  find("silu", fixtures::ToHalves, read.outputs.silu);
  find("w2", fixtures::ToHalves, read.outputs.w2);
  find("output", fixtures::ToHalves, read.outputs.output);
  find("logits", fixtures::ToFloats, read.outputs.logits);
  read.metadata = files.Metadata();
  read.hash = hash.Hex();
  if (read.outputs.empty()) {
    throw BadInput(path, "holds none of w13, silu, w2, output and logits",
                   "name the output tensors so");
  }
  return read;
}

// An option, else what the outputs say of themselves, else nothing.
std::string Choice(const Arguments& arguments, const char* option, const OutputsFile& file,
                   const char* key) {
  if (arguments.Has(option)) {
    return arguments.Text(option);
  }
  const auto it = file.metadata.find(key);
  return it == file.metadata.end() ? "" : it->second;
}

Case CaseOf(const Arguments& arguments, const fixtures::Fixture& fixture, const OutputsFile& file) {
  Case c = fixture.problem.c;
  c.data = Data::kFixture;
  c.fixture = fixture.name;
  c.fixture_hash = fixture.hash.substr(0, 12);
  if (arguments.Has("tokens")) {
    c.shape.tokens = static_cast<int>(arguments.Number("tokens", kMostTokens));
  }
  const std::string columns = Choice(arguments, "columns", file, "columns");
  if (columns != "" && columns != "interleaved" && columns != "halves") {
    throw BadInput("--columns", "cannot be " + Quote(columns), "use interleaved or halves");
  }
  if (columns != "") {
    c.columns = columns == "halves" ? Columns::kHalves : Columns::kInterleaved;
  }
  const std::string w13 = Choice(arguments, "w13", file, "tactic_w13");
  const std::string w2 = Choice(arguments, "w2", file, "tactic_w2");
  c.w13 = w13.empty() ? DefaultTactic(c.shape.slots(), c.w13_k(), c.w13_n(), c.shape.group)
                      : ParseTactic(w13);
  c.w2 = w2.empty() ? DefaultTactic(c.shape.slots(), c.w2_k(), c.w2_n(), c.shape.group)
                    : ParseTactic(w2);
  return c;
}

// Declared with named tactics, and where that is asked for.
std::optional<AccumulationOrder> OrderOf(const Arguments& arguments, const OutputsFile& file) {
  const std::string order = arguments.Text("order");
  if (order == "auto") {
    const bool named = !Choice(arguments, "w13", file, "tactic_w13").empty() ||
                       !Choice(arguments, "w2", file, "tactic_w2").empty();
    return named ? std::optional(AccumulationOrder::kDeclared) : std::nullopt;
  }
  return verify::ParseOrder(order);
}

verify::RunProvenance Provenance(const Arguments& arguments, const verify::ProblemSource& source,
                                 const OutputsFile& file, const ForeignVerdict& verdict,
                                 const verify::JudgeOptions& options) {
  verify::RunProvenance p = verify::ProvenanceOfThisBuild(
      "judge --numerics " + arguments.Text("numerics") + verify::CommandLine(options));
  p.fixtures = source.Hashes();
  p.device = verdict.record.device;
  p.kernels_hash = file.hash;
  return p;
}

}  // namespace

ExitStatus Judge(const Words& words) {
  Arguments arguments(
      "judge FIXTURE OUTPUTS.safetensors [options]",
      "Judges outputs that were computed elsewhere, all stages or only the last, as "
      "the gate judges a device's.");
  arguments.Positional("file", 2);
  arguments.Value("tokens", "", "the outputs are of this many first tokens (default: all)");
  arguments.Value("w13", "", "tactic that computed W13, which declares the order");
  arguments.Value("w2", "", "tactic that computed W2");
  arguments.Value("columns", "",
                  "column layout of w13: interleaved or halves (default: the fixture's)");
  arguments.Value("numerics", "v100", "arithmetic of the chip that computed them");
  arguments.Value("out", "", "run file (default: none)");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("quiet", "print nothing but failures");
  AddJudgeOptions(arguments, true);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> paths = arguments.Texts("file");
  if (paths.size() != 2) {
    throw BadInput("voltcheck judge", "needs a fixture and a file of outputs",
                   "see 'voltcheck judge --help'");
  }
  const Numerics numerics = ParseNumerics(arguments.Text("numerics"));
  const verify::JudgeOptions options = ReadJudgeOptions(arguments, true);
  verify::ProblemSource source("");
  const fixtures::Fixture& fixture = source.Load(paths[0]);
  const Shape& shape = fixture.problem.c.shape;
  const auto widest = static_cast<std::size_t>(std::max(shape.hidden, 2 * shape.intermediate));
  const std::size_t vocabulary = fixture.problem.head == nullptr
                                     ? 0
                                     : static_cast<std::size_t>(fixture.problem.head->vocabulary());
  const OutputsFile file =
      ReadOutputs(paths[1], 8 * std::max(static_cast<std::size_t>(shape.slots()) * widest,
                                         static_cast<std::size_t>(shape.tokens) * vocabulary));
  const Problem problem = source.Make(CaseOf(arguments, fixture, file));
  ForeignVerdict verdict =
      verify::JudgeForeign(problem, file.outputs, numerics, options, OrderOf(arguments, file));
  verify::CaseRecord& record = verdict.record;
  record.reproduction = "voltcheck judge '" + paths[0] + "' '" + paths[1] + "'";
  const bool only_logits = record.verdict == verify::Verdict::kUntested && verdict.logits;
  if (only_logits) {
    record.reason = "logits alone are compared, not judged";
  }

  if (const std::string out = arguments.Text("out"); !out.empty()) {
    verify::RunFileWriter writer(out, Provenance(arguments, source, file, verdict, options));
    writer.Append(record);
    writer.Finish(true);
  }
  verify::Summary summary;
  summary.Add(record.verdict);
  const bool passed = summary.passed();
  if (arguments.Has("json")) {
    JsonStream json(stdout, "voltcheck.judge/1");
    json.Append(record);
    nlohmann::ordered_json totals = ToJson(summary);
    totals["foreign"] = ToJson(verdict);
    json.Finish(std::move(totals));
  } else if (!arguments.Has("quiet") || !passed) {
    const bool colour = WantsColour(stdout);
    std::printf("%s on fixture %s, numerics %s, order %s\n", paths[1].c_str(), paths[0].c_str(),
                ToString(numerics).c_str(), std::string(verify::ToString(verdict.order)).c_str());
    std::printf("  %s\n  %s\n", TacticText("w13", verdict.tactics.w13).c_str(),
                TacticText("w2", verdict.tactics.w2).c_str());
    PrintLogits(stdout, verdict);
    std::printf("\n");
    SummaryTable table;
    table.Add(record);
    table.Print(stdout, colour, "");
    std::printf("\n%s: %s\n",
                passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                       : Paint("FAILED", Colour::kRed, colour).c_str(),
                VerdictLine(summary).c_str());
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
