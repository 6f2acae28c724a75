#include "tools/replay_from.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/case/descriptor.h"
#include "tools/arguments.h"
#include "tools/recorded_setup.h"
#include "tools/session.h"
#include "tools/terminal.h"

namespace voltcheck::tools {
namespace {

constexpr std::size_t kShown = 8;

// Says whether the repeated cases gave the recorded verdicts and bits. Logits are computed by the
// host, so their hash is left out.
class SameBits : public SessionExtra {
 public:
  SameBits(std::string path, std::vector<RecordedCase> cases)
      : path_(std::move(path)), cases_(std::move(cases)) {}

  void Add(const verify::CaseRecord& record) override {
    const RecordedCase& recorded = cases_.at(record.index);
    const std::string difference = Difference(recorded, record);
    if (difference.empty()) {
      ++same_;
    } else {
      differing_.push_back("case " + std::to_string(recorded.number) + ": " + difference);
    }
  }

  void Finish() override {}

  bool Passed() const override { return differing_.empty(); }

  void Print(std::FILE* out, bool colour) const override {
    const std::string word = Passed() ? Paint("same bits", Colour::kGreen, colour)
                                      : Paint("OTHER BITS", Colour::kRed, colour);
    std::fprintf(out, "\n%s: %llu of %zu cases are as in %s\n", word.c_str(),
                 static_cast<unsigned long long>(same_),
                 static_cast<std::size_t>(same_) + differing_.size(), path_.c_str());
    for (std::size_t i = 0; i < std::min(kShown, differing_.size()); ++i) {
      std::fprintf(out, "  %s\n", differing_[i].c_str());
    }
  }

  std::string Json() const override {
    return nlohmann::ordered_json{
        {"same_bits", Passed()}, {"same", same_}, {"differing", differing_}}
        .dump();
  }

 private:
  static std::string Difference(const RecordedCase& recorded, const verify::CaseRecord& record) {
    const std::string verdict(verify::ToString(record.verdict));
    if (verdict != recorded.verdict) {
      return recorded.verdict + " then, " + verdict + " now";
    }
    for (const verify::Stage stage : verify::kStages) {
      if (stage != verify::Stage::kLogits &&
          record.at(stage).hash != recorded.hashes[static_cast<std::size_t>(stage)]) {
        return std::string("other bits in ").append(verify::ToString(stage));
      }
    }
    return "";
  }

  std::string path_;
  std::vector<RecordedCase> cases_;
  std::uint64_t same_ = 0;
  std::vector<std::string> differing_;
};

// The command line of a repetition: whatever determines results comes from the file.
void Declare(Arguments& arguments) {
  arguments.Value("from", "", "run file");
  arguments.Value("index", "", "the case of this number alone");
  arguments.Value("out", "", "run file (default: none)");
  arguments.Flag("resume", "with --out: go on where an interrupted repetition was");
  AddSessionOptions(arguments);
}

}  // namespace

ExitStatus ReplayFrom(const Words& words) {
  constexpr const char* kUsage = "replay --from RUN.h5 [--index N] [options]";
  Arguments given(kUsage, "Repeats the cases of a run file.");
  Declare(given);
  if (!given.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::string path = given.Text("from");
  std::optional<std::uint64_t> number;
  if (given.Has("index")) {
    number = given.Number("index");
  }
  RecordedSetup setup = ReadRecordedSetup(path, number);
  if (given.Has("kernels")) {
    throw BadInput("--kernels", "cannot stand beside --from, which brings its kernels along",
                   "use 'voltcheck replay --case' for other kernels");
  }
  // Twice the same option is refused, so nothing that the file says can be overruled by accident.
  Words all = setup.options;
  all.insert(all.end(), words.begin(), words.end());
  Arguments arguments(kUsage, "");
  Declare(arguments);
  arguments.Parse(all);
  SessionOptions options = ReadSessionOptions(arguments, "replay");
  options.schema = "voltcheck.replay/1";
  options.out = arguments.Text("out");
  options.resume = arguments.Has("resume");
  options.device.overrides = setup.overrides;
  TakeImplementation(path, setup, options.device);
  if (!arguments.Has("recipe") && !arguments.Has("plugin")) {
    options.recipe = setup.recipe;  // the new run file holds it as well
    if (!setup.recipe.name.empty()) {
      options.arguments += setup.implementation;
    }
  }
  options.may_leave_unused = true;
  options.title = std::to_string(setup.cases.size()) + " cases of " + path;
  std::vector<Case> cases;
  for (const RecordedCase& one : setup.cases) {
    cases.push_back(ParseDescriptor(one.descriptor));
  }
  if (!cases.empty()) {
    RequireSameKernels(path, setup, options.device, cases.front().numerics);
  }
  verify::ProblemSource source(options.fixtures);
  source.Preload(cases);
  RequireSameFixtures(path, setup, source);
  for (const kernels::ModuleImage& image : setup.overrides) {
    options.suffix += " --kernels '" + image.name + "'";  // where the failure's line finds them
  }
  SameBits same(path, std::move(setup.cases));
  options.extra = &same;
  return RunSession(cases, source, options);
}

}  // namespace voltcheck::tools
