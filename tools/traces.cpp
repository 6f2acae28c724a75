// `voltcheck traces`: two files of generated sequences against each other.
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fixtures/atomic_file.h"
#include "fixtures/mapped_file.h"
#include "tools/arguments.h"
#include "tools/interrupt.h"
#include "tools/limit_argument.h"
#include "tools/terminal.h"
#include "verify/traces/compare.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;
using traces::Counts;
using traces::PairResult;
using traces::TraceComparison;

constexpr std::size_t kShownPairs = 8;

// A figure that a limit can be set on.
struct Limited {
  const char* name;
  const char* help;
  bool at_least;
  double (*value)(const TraceComparison& c);
};

double Share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

constexpr std::array<Limited, 6> kLimits{{
    {"equal", "at least: share of sequences that are equal", true,
     [](const TraceComparison& c) { return Share(c.total.equal, c.total.pairs); }},
    {"finish-changes", "at most: finish reasons that changed", false,
     [](const TraceComparison& c) { return static_cast<double>(c.total.finish_changed); }},
    {"score-flips", "at most: scores that flipped", false,
     [](const TraceComparison& c) { return static_cast<double>(c.total.score_flips); }},
    {"top5-equal", "at least: share of positions with equal top-5 log-probabilities", true,
     [](const TraceComparison& c) { return Share(c.total.top_equal, c.total.top_positions); }},
    {"top5-difference", "at most: difference of a top-5 log-probability", false,
     [](const TraceComparison& c) { return c.total.top_difference; }},
    {"missing", "at most: keys that one file alone has; 0 when left out", false,
     [](const TraceComparison& c) {
       return static_cast<double>(c.missing_base + c.missing_other);
     }},
}};

struct Judged {
  const Limited* figure = nullptr;
  double limit = 0;
  double value = 0;
  bool kept = false;
};

// What the user set; a missing key is never passed over in silence.
std::vector<Judged> Judge(const Arguments& arguments, bool same, const TraceComparison& c) {
  std::vector<Judged> judged;
  for (const Limited& figure : kLimits) {
    const std::string_view name = figure.name;
    const bool is_share = figure.at_least;
    double limit = 0;
    if (arguments.Has(figure.name)) {
      limit = ParseFigureLimit(arguments.Where(figure.name), arguments.Text(figure.name));
    } else if (name == "missing") {
      limit = 0;
    } else if (same) {
      limit = is_share ? 1 : 0;
    } else {
      continue;
    }
    const double value = figure.value(c);
    judged.push_back({&figure, limit, value, is_share ? value >= limit : value <= limit});
  }
  return judged;
}

// Text of a model as it may stand on a terminal.
std::string Shown(const std::string& token, const char* none = "(end)") {
  return token.empty() ? none : Quote(token);
}

std::string LogProbability(const std::optional<double>& x) {
  char text[32];
  std::snprintf(text, sizeof(text), x ? "%.6g" : "-", x.value_or(0));
  return text;
}

void PrintPair(const PairResult& p) {
  std::printf("  %s (lines %llu, %llu)\n", Quote(p.key).c_str(),
              static_cast<unsigned long long>(p.base_line),
              static_cast<unsigned long long>(p.other_line));
  if (!p.equal) {
    if (p.by_text) {
      std::printf("    texts differ from byte %lld on\n", static_cast<long long>(p.first));
    } else {
      std::printf("    token %lld: base %s, other %s\n", static_cast<long long>(p.first),
                  Shown(p.base_token).c_str(), Shown(p.other_token).c_str());
      std::printf("      in base %s and %s, in other %s and %s\n",
                  LogProbability(p.base_of_base).c_str(), LogProbability(p.base_of_other).c_str(),
                  LogProbability(p.other_of_base).c_str(),
                  LogProbability(p.other_of_other).c_str());
    }
  }
  if (p.finish_changed) {
    std::printf("    finish reason: %s, then %s\n", Shown(p.base_finish, "(none)").c_str(),
                Shown(p.other_finish, "(none)").c_str());
  }
  if (p.score_flipped) {
    std::printf("    score: %g, then %g\n", *p.base_score, *p.other_score);
  }
}

void PrintRow(const std::string& name, const Counts& c) {
  std::printf("  %-20.20s %9llu %9llu %8llu %8llu %9llu/%-9llu\n", name.c_str(),
              static_cast<unsigned long long>(c.pairs), static_cast<unsigned long long>(c.equal),
              static_cast<unsigned long long>(c.finish_changed),
              static_cast<unsigned long long>(c.score_flips),
              static_cast<unsigned long long>(c.top_equal),
              static_cast<unsigned long long>(c.top_positions));
}

void PrintNames(const char* what, std::uint64_t count, const std::vector<std::string>& first) {
  if (count == 0) {
    return;
  }
  std::string names;
  for (const std::string& name : first) {
    names += (names.empty() ? "" : ", ") + Quote(name);
  }
  std::printf("%llu keys are in %s alone: %s%s\n", static_cast<unsigned long long>(count), what,
              names.c_str(), count > first.size() ? ", ..." : "");
}

void Print(const TraceComparison& c, bool same, const std::vector<PairResult>& differing) {
  std::printf("%s: %llu sequences of base, %llu of other\n\n", same ? "A/A" : "A/B",
              static_cast<unsigned long long>(c.base_traces),
              static_cast<unsigned long long>(c.other_traces));
  std::printf("  %-20s %9s %9s %8s %8s %9s\n", "", "sequences", "equal", "finishes", "scores",
              "equal top-5");
  std::printf("  %-20s %9s %9s %8s %8s %9s\n", "", "", "", "changed", "flipped", "positions");
  for (const auto& [name, counts] : c.groups) {
    PrintRow(name, counts);
  }
  PrintRow("total", c.total);
  std::printf("\n");
  if (c.total.top_difference > 0) {
    std::printf("largest top-5 log-probability difference: %.6g\n", c.total.top_difference);
  }
  if (c.total.earliest >= 0) {
    std::printf("earliest differing token: %lld\n", static_cast<long long>(c.total.earliest));
  }
  if (c.total.stop_to_length > 0) {
    std::printf("stops that became length caps: %llu\n",
                static_cast<unsigned long long>(c.total.stop_to_length));
  }
  if (c.total.score_flips > 0) {
    std::printf("score flips: %llu lower, %llu higher\n",
                static_cast<unsigned long long>(c.total.lost),
                static_cast<unsigned long long>(c.total.score_flips - c.total.lost));
  }
  PrintNames("base", c.missing_other, c.missing_other_first);
  PrintNames("other", c.missing_base, c.missing_base_first);
  if (!differing.empty()) {
    std::printf("first differing sequences\n");
  }
  for (const PairResult& p : differing) {
    PrintPair(p);
  }
}

Json ToJson(const Counts& c) {
  return {{"pairs", c.pairs},
          {"equal", c.equal},
          {"finish_recorded", c.finish_recorded},
          {"finish_changed", c.finish_changed},
          {"stop_to_length", c.stop_to_length},
          {"scored", c.scored},
          {"score_flips", c.score_flips},
          {"score_flips_lower", c.lost},
          {"top5_positions", c.top_positions},
          {"top5_equal", c.top_equal},
          {"top5_difference", c.top_difference},
          {"earliest", c.earliest}};
}

template <typename T>
Json OrNull(const std::optional<T>& x) {
  return x ? Json(*x) : Json();
}

Json ToJson(const PairResult& p) {
  Json groups = Json::object();
  for (const auto& [key, value] : p.groups) {
    groups[key] = value;
  }
  return {{"key", p.key},
          {"base_line", p.base_line},
          {"other_line", p.other_line},
          {"groups", groups},
          {"equal", p.equal},
          {"first", p.first},
          {"by_text", p.by_text},
          {"base_token", p.base_token},
          {"other_token", p.other_token},
          {"base_of_base", OrNull(p.base_of_base)},
          {"base_of_other", OrNull(p.base_of_other)},
          {"other_of_base", OrNull(p.other_of_base)},
          {"other_of_other", OrNull(p.other_of_other)},
          {"base_finish", p.base_finish},
          {"other_finish", p.other_finish},
          {"base_score", OrNull(p.base_score)},
          {"other_score", OrNull(p.other_score)},
          {"top5_positions", p.top_positions},
          {"top5_equal", p.top_equal},
          {"top5_difference", p.top_difference}};
}

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void PrintJson(const TraceComparison& c, bool same, const std::vector<Judged>& judged,
               const std::vector<PairResult>& differing, bool passed) {
  Json groups = Json::object();
  for (const auto& [name, counts] : c.groups) {
    groups[name] = ToJson(counts);
  }
  Json limits = Json::array();
  for (const Judged& j : judged) {
    limits.push_back(
        {{"figure", j.figure->name}, {"limit", j.limit}, {"value", j.value}, {"kept", j.kept}});
  }
  Json first = Json::array();
  for (const PairResult& p : differing) {
    first.push_back(ToJson(p));
  }
  const Json json = {{"schema", "voltcheck.traces/1"},
                     {"comparison", same ? "A/A" : "A/B"},
                     {"base_sequences", c.base_traces},
                     {"other_sequences", c.other_traces},
                     {"in_base_alone", c.missing_other},
                     {"in_base_alone_first", c.missing_other_first},
                     {"in_other_alone", c.missing_base},
                     {"in_other_alone_first", c.missing_base_first},
                     {"total", ToJson(c.total)},
                     {"groups", groups},
                     {"differing", first},
                     {"limits", limits},
                     {"complete", c.complete},
                     {"verdict", passed ? "passed" : "failed"}};
  std::printf("%s\n", Dump(json, 1).c_str());
}

traces::TraceOptions ReadOptions(const Arguments& arguments) {
  traces::TraceOptions options;
  options.match = arguments.Text("match");
  constexpr std::array<std::string_view, 6> kMatches{"auto", "custom_id", "request_id",
                                                     "id",   "prompt",    "line"};
  if (std::find(kMatches.begin(), kMatches.end(), options.match) == kMatches.end()) {
    throw BadInput(arguments.Where("match"), "cannot be " + Quote(options.match),
                   "use auto, custom_id, request_id, id, prompt or line");
  }
  options.score = arguments.Text("score");
  if (arguments.Has("group")) {
    options.groups = arguments.Texts("group");
  }
  return options;
}

}  // namespace

ExitStatus Traces(const Words& words) {
  Arguments arguments("traces BASE OTHER [options]",
                      "Compares generated sequences: JSON lines as OpenAI-compatible servers and "
                      "vLLM return them.");
  arguments.Positional("file", 2);
  arguments.Value(
      "match", "auto",
      "key of a sequence: custom_id, request_id, id, prompt, line, or the first of them");
  arguments.Values("group", "key that makes groups (default: cell, batch_size); may be repeated");
  arguments.Value("score", "score", "key of the scorer's result");
  arguments.Flag("same", "A/A: both are of the same configuration, so any difference fails");
  arguments.Value("out", "", "every pair as JSON lines");
  arguments.Flag("json", "print JSON");
  arguments.Flag("quiet", "print nothing unless a limit is broken");
  for (const Limited& figure : kLimits) {
    arguments.Value(figure.name, "", figure.help);
  }
  arguments.ConfigFile();
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> files = arguments.Texts("file");
  if (files.size() != 2) {
    throw BadInput("voltcheck traces", "needs two files", "see 'voltcheck traces --help'");
  }
  const bool same = arguments.Has("same");
  traces::TraceCompareOptions options;
  options.reading = ReadOptions(arguments);
  std::optional<fixtures::AtomicFile> out;
  if (arguments.Has("out")) {
    out.emplace(arguments.Text("out"));
  }
  std::vector<PairResult> differing;
  options.pair = [&](const PairResult& pair) {
    if ((!pair.equal || pair.finish_changed || pair.score_flipped) &&
        differing.size() < kShownPairs) {
      differing.push_back(pair);
    }
    if (out) {
      const std::string line = Dump(ToJson(pair), -1) + "\n";
      out->Write(std::as_bytes(std::span(line)));
    }
  };
  const InterruptGuard interrupts;
  constexpr std::uint64_t kMegabyte = 1'000'000;
  Progress progress(
      (fixtures::InputFile(files[0]).size() + fixtures::InputFile(files[1]).size()) / kMegabyte,
      arguments.Has("quiet"), "MB");
  options.progress = [&progress](std::uint64_t bytes) {
    progress.Reach(bytes / kMegabyte);
    return !InterruptGuard::Requested();
  };
  const TraceComparison c = traces::CompareTraces(files[0], files[1], options);
  progress.Clear();
  if (!c.complete) {
    std::fprintf(stderr, "voltcheck: interrupted after %llu sequences\n",
                 static_cast<unsigned long long>(c.total.pairs));
    return ExitStatus::kInterrupted;
  }
  if (out) {
    out->Commit();
  }
  const std::vector<Judged> judged = Judge(arguments, same, c);
  bool passed = true;
  for (const Judged& j : judged) {
    passed = passed && j.kept;
  }
  if (arguments.Has("json")) {
    PrintJson(c, same, judged, differing, passed);
  } else if (!arguments.Has("quiet") || !passed) {
    Print(c, same, differing);
    for (const Judged& j : judged) {
      std::printf("  %-6s %s %.6g, limit %s %.6g\n", j.kept ? "kept" : "BROKEN", j.figure->name,
                  j.value, j.figure->at_least ? ">=" : "<=", j.limit);
    }
    const bool colour = WantsColour(stdout);
    std::printf("%s\n", passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                               : Paint("FAILED", Colour::kRed, colour).c_str());
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
