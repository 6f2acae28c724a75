// `voltcheck import`: AWQ checkpoint shards and captured tensors to a fixture file.
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fixtures/awq_checkpoint.h"
#include "fixtures/capture.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/fixture_file.h"
#include "tools/arguments.h"
#include "tools/interrupt.h"
#include "tools/terminal.h"

namespace voltcheck::tools {
namespace {

using fixtures::AwqCheckpoint;
using fixtures::Fixture;
using fixtures::ShardSet;

constexpr std::uint64_t kMostLayers = 100000;
constexpr std::uint64_t kMostRanks = 65536;
constexpr std::uint64_t kMostTokens = 65536;

// "KEY=TEXT" of an option that may be repeated.
std::map<std::string, std::string> Pairs(const Arguments& arguments, const char* option) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : arguments.Texts(option)) {
    const std::size_t equals = text.find('=');
    const std::string where = std::string("--") + option;
    if (equals == 0 || equals == std::string::npos) {
      throw BadInput(where, Quote(text) + " has no '='", "write KEY=TEXT");
    }
    if (!pairs.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw BadInput(where, Quote(text.substr(0, equals)) + " is given twice", "give it once");
    }
  }
  return pairs;
}

fixtures::CheckpointOptions ReadCheckpointOptions(const Arguments& arguments) {
  fixtures::CheckpointOptions options;
  options.prefix = arguments.Text("prefix");
  if (arguments.Has("layer")) {
    options.layer = static_cast<int>(arguments.Number("layer", kMostLayers));
  }
  const std::string rank = arguments.Text("rank");
  const std::size_t slash = rank.find('/');
  if (slash == std::string::npos) {
    throw BadInput("--rank", "cannot be " + Quote(rank), "write RANK/RANKS, as in 0/4");
  }
  options.rank = static_cast<int>(ParseUnsigned("--rank", rank.substr(0, slash), kMostRanks));
  options.ranks = static_cast<int>(ParseUnsigned("--rank", rank.substr(slash + 1), kMostRanks));
  const std::string group = arguments.Text("group");
  if (group != "auto") {
    options.group = static_cast<int>(ParseUnsigned("--group", group, 128));
    if (options.group != 32 && options.group != 64 && options.group != 128) {
      throw BadInput("--group", "cannot be " + Quote(group), "use auto, 32, 64 or 128");
    }
  }
  return options;
}

fixtures::CaptureOptions ReadCaptureOptions(const Arguments& arguments) {
  fixtures::CaptureOptions options;
  options.names = Pairs(arguments, "tensor");
  options.first_token = static_cast<int>(arguments.Number("first-token", kMostTokens));
  if (arguments.Has("tokens")) {
    options.tokens = static_cast<int>(arguments.Number("tokens", kMostTokens));
    if (options.tokens == 0) {
      throw BadInput("--tokens", "cannot be 0", "give the number of tokens to keep");
    }
  }
  const std::string columns = arguments.Text("columns");
  if (columns != "interleaved" && columns != "halves") {
    throw BadInput("--columns", "cannot be " + Quote(columns), "use interleaved or halves");
  }
  options.columns = columns == "halves" ? Columns::kHalves : Columns::kInterleaved;
  const std::string epsilon = arguments.Text("epsilon");
  const char* end = epsilon.data() + epsilon.size();
  const auto result = std::from_chars(epsilon.data(), end, options.epsilon);
  if (result.ec != std::errc() || result.ptr != end ||
      !(options.epsilon >= 0 && options.epsilon < 1)) {
    throw BadInput("--epsilon", "cannot be " + Quote(epsilon), "give a number in [0, 1)");
  }
  return options;
}

// Where it comes from, beside what the capture says of itself and --attribute.
void Describe(const Arguments& arguments, const AwqCheckpoint& checkpoint, Fixture& fixture) {
  std::map<std::string, std::string> attributes = Pairs(arguments, "attribute");
  attributes.emplace("checkpoint_prefix", checkpoint.prefix());
  attributes.emplace("checkpoint_group", std::to_string(checkpoint.stored_group()));
  attributes.emplace("rank", arguments.Text("rank"));
  if (arguments.Has("layer")) {
    attributes.emplace("layer", arguments.Text("layer"));
  }
  attributes.merge(fixture.attributes);
  fixture.attributes = std::move(attributes);
}

// One by one, and the shards' pages are let go after each.
bool LoadExperts(const AwqCheckpoint& checkpoint, const ShardSet& shards, bool quiet,
                 Problem& problem) {
  const std::set<int> used = fixtures::UsedExperts(problem, "capture");
  Progress progress(used.size(), quiet, "experts");
  for (const int id : used) {
    if (InterruptGuard::Requested()) {
      return false;
    }
    problem.experts.push_back(std::make_shared<const ExpertWeights>(checkpoint.Load(id)));
    shards.Release();
    progress.Step(true);
  }
  return true;
}

void Report(const Fixture& fixture, const AwqCheckpoint& checkpoint, const std::string& path,
            const std::string& hash, bool json) {
  const Problem& p = fixture.problem;
  const Shape& s = p.c.shape;
  std::vector<std::string> captured;
  if (p.captured != nullptr) {
    const auto add = [&captured](const char* name, bool is_there) {
      if (is_there) {
        captured.emplace_back(name);
      }
    };
    add("w13", !p.captured->w13.empty());
    add("silu", !p.captured->silu.empty());
    add("w2", !p.captured->w2.empty());
    add("output", !p.captured->output.empty());
    add("logits", !p.captured->logits.empty());
  }
  if (json) {
    const nlohmann::ordered_json out = {{"schema", "voltcheck.import/1"},
                                        {"file", path},
                                        {"hash", hash},
                                        {"hidden", s.hidden},
                                        {"intermediate", s.intermediate},
                                        {"experts", s.experts},
                                        {"top_k", s.top_k},
                                        {"group", s.group},
                                        {"checkpoint_group", checkpoint.stored_group()},
                                        {"tokens", s.tokens},
                                        {"experts_held", p.experts.size()},
                                        {"captured", captured}};
    std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return;
  }
  std::printf("%s: %s\n", path.c_str(), hash.c_str());
  std::printf("  H %d, I %d, E %d (%zu held), k %d, T %d, group %d", s.hidden, s.intermediate,
              s.experts, p.experts.size(), s.top_k, s.tokens, s.group);
  if (s.group != checkpoint.stored_group()) {
    std::printf(" (forked from %d)", checkpoint.stored_group());
  }
  std::string list;
  for (const std::string& name : captured) {
    list += " " + name;
  }
  std::printf("\n  captured:%s\n", list.empty() ? " no outputs" : list.c_str());
}

}  // namespace

ExitStatus Import(const Words& words) {
  Arguments arguments(
      "import CHECKPOINT... --capture FILE... --out FIXTURE.h5 [options]",
      "Makes a fixture file of an AWQ checkpoint's experts (safetensors files, an index file or a "
      "folder)\nand captured tensors. Nothing is rounded: bits in are bits out.");
  arguments.Positional("checkpoint", -1);
  arguments.Values("capture", "safetensors file with captured tensors; may be repeated");
  arguments.Value("out", "", "the fixture file to write");
  arguments.Value("layer", "", "layer, where the checkpoint holds several");
  arguments.Value("prefix", "", "what the experts' tensors begin with, when --layer cannot tell");
  arguments.Value("rank", "0/1", "tensor-parallel rank of ranks to cut out");
  arguments.Value("group", "auto",
                  "quantisation group of the fixture; auto: the checkpoint's, forked as far as the "
                  "rank's sizes ask");
  arguments.Value("experts", "", "E, where the checkpoint does not show it");
  arguments.Value("first-token", "0", "first of the capture's tokens to keep");
  arguments.Value("tokens", "", "how many of them (default: all)");
  arguments.Value("columns", "interleaved",
                  "column layout of captured W13 outputs: interleaved or halves");
  arguments.Value("epsilon", "1e-6", "of the final RMSNorm, where a head was captured");
  arguments.Values("tensor", "ROLE=NAME: how the capture calls a tensor; may be repeated");
  arguments.Values("attribute", "KEY=TEXT to store with the fixture; may be repeated");
  arguments.Flag("json", "print JSON");
  arguments.Flag("quiet", "print nothing");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> checkpoint_paths = arguments.Texts("checkpoint");
  const std::vector<std::string> capture_paths = arguments.Texts("capture");
  const std::string out = arguments.Text("out");
  if (checkpoint_paths.empty() || capture_paths.empty() || out.empty()) {
    throw BadInput("voltcheck import", "needs a checkpoint, --capture and --out",
                   "see 'voltcheck import --help'");
  }
  const fixtures::CheckpointOptions checkpoint_options = ReadCheckpointOptions(arguments);
  const fixtures::CaptureOptions capture_options = ReadCaptureOptions(arguments);
  const bool quiet = arguments.Has("quiet");

  const InterruptGuard interrupt;
  const ShardSet captures(capture_paths);
  const ShardSet shards(checkpoint_paths);
  const AwqCheckpoint checkpoint(shards, checkpoint_options);
  Shape shape;
  shape.hidden = checkpoint.hidden();
  shape.intermediate = checkpoint.intermediate();
  shape.experts = arguments.Has("experts")
                      ? static_cast<int>(arguments.Number("experts", kMostRanks))
                      : checkpoint.experts();
  shape.group = checkpoint.group();
  Fixture fixture = fixtures::ReadCapture(captures, capture_options, shape);
  Describe(arguments, checkpoint, fixture);
  if (!LoadExperts(checkpoint, shards, quiet, fixture.problem)) {
    std::fprintf(stderr, "voltcheck: interrupted; nothing was written\n");
    return ExitStatus::kInterrupted;
  }
  const std::string hash = fixtures::WriteFixture(fixture, out);
  if (!quiet) {
    Report(fixture, checkpoint, out, hash, arguments.Has("json"));
  }
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
