#include "tools/exec_contraction.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fixtures/case/error.h"

namespace voltcheck::tools {
namespace {

using simulator::ptx::ContractionPair;
using simulator::ptx::Fusion;

constexpr std::size_t kMostSinglePairs = 32;  // each costs a launch

/// The pairs of the kernel and of the device functions that it may call.
std::vector<ContractionPair> PairsOf(const simulator::ptx::Module& module,
                                     const std::string& kernel) {
  std::vector<ContractionPair> pairs = simulator::ptx::FindContractionPairs(module);
  std::erase_if(pairs, [&](const ContractionPair& pair) {
    return pair.function != kernel && std::any_of(module.functions.begin(), module.functions.end(),
                                                  [&](const simulator::ptx::Function& f) {
                                                    return f.entry && f.name == pair.function;
                                                  });
  });
  return pairs;
}

std::vector<std::size_t> DifferentArguments(const ExecRun& a, const ExecRun& b) {
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < a.contents.size(); ++i) {
    if (a.contents[i] != b.contents[i]) {
      different.push_back(i);
    }
  }
  return different;
}

void Explain(const std::string& ptx, const simulator::ptx::Module& module,
             const std::vector<ContractionPair>& pairs, const ExecRun& off, const Launcher& launch,
             ContractionOutcome& outcome) {
  ContractionReport& report = outcome.report;
  if (pairs.size() <= kMostSinglePairs) {
    for (PairReport& entry : report.pairs) {
      const ExecRun alone = launch(simulator::ptx::FusePairs(ptx, {entry.pair}));
      entry.changes = !DifferentArguments(off, alone).empty();
    }
  }
  const simulator::ptx::MachineCode code = simulator::ptx::LookUpFusions(ptx, module, pairs);
  report.assembler = code.assembler;
  report.reason = code.reason;
  if (code.assembler.empty()) {
    return;
  }
  std::vector<ContractionPair> fused;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    report.pairs[i].machine_code = code.fusions[i];
    if (code.fusions[i] == Fusion::kFused) {
      fused.push_back(pairs[i]);
    }
  }
  report.used = "machine code";
  outcome.run = launch(simulator::ptx::FusePairs(ptx, fused));
}

}  // namespace

ContractionOutcome RunContractions(const std::string& mode, const std::string& file,
                                   const std::string& ptx, const std::string& kernel,
                                   const Launcher& launch) {
  if (mode != "off" && mode != "on" && mode != "both") {
    throw BadInput("--contraction " + mode, "no such mode", "use on, off or both");
  }
  ContractionOutcome outcome;
  outcome.report.mode = mode;
  outcome.report.used = mode == "on" ? "on" : "off";
  if (mode == "off") {
    outcome.run = launch(ptx);
    return outcome;
  }
  const simulator::ptx::Module module = simulator::ptx::ParseModule(file, ptx);
  const std::vector<ContractionPair> pairs = PairsOf(module, kernel);
  for (const ContractionPair& pair : pairs) {
    outcome.report.pairs.push_back({pair, std::nullopt, Fusion::kUnknown});
  }
  const std::string fused = simulator::ptx::FusePairs(ptx, pairs);
  if (mode == "on") {
    outcome.run = launch(fused);
    return outcome;
  }
  ExecRun off = launch(ptx);
  if (pairs.empty() || off.faulted) {
    outcome.run = std::move(off);
    return outcome;
  }
  outcome.report.different_arguments = DifferentArguments(off, launch(fused));
  outcome.run = off;
  if (!outcome.report.different_arguments.empty()) {
    Explain(ptx, module, pairs, off, launch, outcome);
  }
  return outcome;
}

std::string ContractionText(const std::string& file, const ContractionReport& report) {
  if (report.mode == "off") {
    return "";
  }
  const std::string count = std::to_string(report.pairs.size());
  if (report.mode == "on") {
    return "contraction: " + count + " pairs fused\n";
  }
  if (report.different_arguments.empty()) {
    return "contraction: no output bit depends on it (" + count + " pairs)\n";
  }
  std::string text = "contraction: outputs depend on it, in arguments";
  for (const std::size_t argument : report.different_arguments) {
    text += " " + std::to_string(argument);
  }
  text += "\n";
  for (const PairReport& entry : report.pairs) {
    const ContractionPair& pair = entry.pair;
    text += "contraction: " + file + ":" + std::to_string(pair.multiply.line) + " mul." +
            pair.type + " and line " + std::to_string(pair.add.line);
    text += !entry.changes   ? ""
            : *entry.changes ? ": fusing it alone changes an output"
                             : ": fusing it alone changes nothing";
    text += report.assembler.empty() ? "\n"
                                     : "; SM70 machine code: " + NameOf(entry.machine_code) + "\n";
  }
  text +=
      report.assembler.empty()
          ? "contraction: no machine code (" + report.reason + "): the outputs are those of off\n"
          : "contraction: the outputs follow the machine code of " + report.assembler + "\n";
  return text;
}

nlohmann::ordered_json ContractionJson(const ContractionReport& report) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const PairReport& entry : report.pairs) {
    nlohmann::ordered_json pair = {
        {"function", entry.pair.function}, {"multiply_line", entry.pair.multiply.line},
        {"add_line", entry.pair.add.line}, {"type", entry.pair.type},
        {"changes_alone", nullptr},        {"machine_code", NameOf(entry.machine_code)}};
    if (entry.changes) {
      pair["changes_alone"] = *entry.changes;
    }
    pairs.push_back(std::move(pair));
  }
  return {{"mode", report.mode},
          {"used", report.used},
          {"different_arguments", report.different_arguments},
          {"assembler", report.assembler},
          {"reason", report.reason},
          {"pairs", pairs}};
}

}  // namespace voltcheck::tools
