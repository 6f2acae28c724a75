#include "tools/replay_from.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures/case/descriptor.h"
#include "kernels/kernel_set.h"
#include "tools/arguments.h"
#include "tools/session.h"
#include "tools/terminal.h"
#include "verify/in_child.h"
#include "verify/run_reader.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 8;

// A case of a run file and what came out of it.
struct RecordedCase {
  std::uint64_t number = 0;
  std::string descriptor;
  std::string verdict;
  std::array<std::uint64_t, verify::kStages.size()> hashes{};  // of the stages' outputs
};

// What it takes to repeat a run, from its run file alone; fixtures are found by name and hash.
struct RecordedSetup {
  Words options;  // as `replay` takes them
  std::string kernels_hash;
  std::vector<kernels::ModuleImage> overrides;
  std::vector<RecordedCase> cases;
};

std::string HashColumn(verify::Stage stage) {
  return "/metrics/" + std::string(verify::ToString(stage)) + "/bits/hash";
}

// In the child process that reads the file.
Json Describe(const std::string& path, std::optional<std::uint64_t> number) {
  const verify::RunReader run(path);
  const std::vector<std::uint64_t> numbers = run.Counts("/case");
  std::uint64_t first = 0;
  std::uint64_t count = verify::RunReader::kAll;
  if (number) {
    const auto it = std::lower_bound(numbers.begin(), numbers.end(), *number);
    if (it == numbers.end() || *it != *number) {
      throw BadInput(path, "has no case " + std::to_string(*number),
                     "it holds " + std::to_string(numbers.size()) + " cases");
    }
    first = static_cast<std::uint64_t>(it - numbers.begin());
    count = 1;
  }
  Json json;
  json["options"] = run.Attribute("options");
  json["kernels_hash"] = run.Attribute("kernels_hash");
  json["numbers"] = run.Counts("/case", first, count);
  json["descriptors"] = run.Texts("/cases/descriptor", first, count);
  json["verdicts"] = run.Texts("/cases/verdict", first, count);
  json["hashes"] = Json::array();
  for (const verify::Stage stage : verify::kStages) {
    json["hashes"].push_back(run.Counts(HashColumn(stage), first, count));
  }
  json["kernels"] = Json::array();
  if (run.Has("/kernels")) {
    json["kernels"] = run.Texts("/kernels/ptx");
  }
  return json;
}

RecordedSetup ReadRecordedSetup(const std::string& path, std::optional<std::uint64_t> number) {
  const Json json = Json::parse(verify::InChild(path, [&] {
    return Describe(path, number).dump(-1, ' ', false, Json::error_handler_t::replace);
  }));
  RecordedSetup setup;
  std::istringstream options(json["options"].get<std::string>());
  for (std::string word; options >> word;) {
    setup.options.push_back(word);
  }
  if (setup.options.empty()) {
    throw BadInput(path, "does not say with which options its cases ran",
                   "name a run file of gate, sweep or replay");
  }
  setup.kernels_hash = json["kernels_hash"].get<std::string>();
  for (const Json& ptx : json["kernels"]) {
    kernels::ModuleImage image;
    image.name = "kernels/" + std::to_string(setup.overrides.size()) + " of " + path;
    image.ptx = ptx.get<std::string>();
    setup.overrides.push_back(std::move(image));
  }
  for (std::size_t row = 0; row < json["numbers"].size(); ++row) {
    RecordedCase one;
    one.number = json["numbers"][row].get<std::uint64_t>();
    one.descriptor = json["descriptors"][row].get<std::string>();
    one.verdict = json["verdicts"][row].get<std::string>();
    for (std::size_t s = 0; s < one.hashes.size(); ++s) {
      one.hashes[s] = json["hashes"][s][row].get<std::uint64_t>();
    }
    setup.cases.push_back(std::move(one));
  }
  return setup;
}

void RequireSameKernels(const std::string& path, const RecordedSetup& setup,
                        const verify::DeviceOptions& device, Numerics numerics) {
  const auto made = verify::MakeDevice(device, numerics);
  const std::string hash = kernels::KernelSet(*made, device.modules()).hash();
  if (hash != setup.kernels_hash) {
    throw BadInput(path,
                   "was made with the built-in kernels of another build (hash " +
                       setup.kernels_hash.substr(0, 12) + ", here " + hash.substr(0, 12) + ")",
                   "use the voltcheck that its attributes tool_version, commit and toolkit name");
  }
}

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
  options.device.overrides = setup.overrides;
  options.may_leave_unused = true;
  options.title = std::to_string(setup.cases.size()) + " cases of " + path;
  std::vector<Case> cases;
  for (const RecordedCase& one : setup.cases) {
    cases.push_back(ParseDescriptor(one.descriptor));
  }
  if (!cases.empty()) {
    RequireSameKernels(path, setup, options.device, cases.front().numerics);
  }
  SameBits same(path, std::move(setup.cases));
  options.extra = &same;
  verify::ProblemSource source(options.fixtures);
  return RunSession(cases, source, options);
}

}  // namespace voltcheck::tools
