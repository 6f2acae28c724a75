#include "tools/recorded_setup.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "verify/in_child.h"
#include "verify/report/read_tables.h"
#include "verify/report/run_check.h"
#include "verify/run_reader.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string HashColumn(verify::Stage stage) {
  return "/metrics/" + std::string(verify::ToString(stage)) + "/bits/hash";
}

Json Modules(const verify::RunReader& run, const std::string& group) {
  Json json = {{"names", Json::array()}, {"texts", Json::array()}};
  if (run.Has(group)) {
    json["names"] = run.Texts(group + "/name");
    json["texts"] = run.Texts(group + "/ptx");
  }
  return json;
}

// In the child process that reads the file.
Json Describe(const std::string& path, std::optional<std::uint64_t> number) {
  report::CheckRunFile(path);
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
  json["arguments"] = run.Attribute("arguments");
  json["kernels_hash"] = run.Attribute("kernels_hash");
  json["fixtures"] = run.Attribute("fixtures");
  json["numbers"] = run.Counts("/case", first, count);
  json["descriptors"] = run.Texts("/cases/descriptor", first, count);
  json["verdicts"] = run.Texts("/cases/verdict", first, count);
  for (const auto& verdict : json["verdicts"]) {
    report::ParseVerdict(path, "cases/verdict", verdict.get<std::string>());
  }
  json["hashes"] = Json::array();
  for (const verify::Stage stage : verify::kStages) {
    json["hashes"].push_back(run.Counts(HashColumn(stage), first, count));
  }
  json["kernels"] = Modules(run, "/kernels");
  json["recipe"] = Modules(run, "/recipe");
  if (run.Has("/recipe")) {
    json["recipe_file"] = run.Attribute("file", "/recipe");
    json["recipe_text"] = run.Texts("/recipe/text", 0, 1);
  }
  return json;
}

std::vector<kernels::ModuleImage> ToModules(const std::string& path, const std::string& group,
                                            const Json& modules) {
  const Json& names = modules.at("names");
  const Json& texts = modules.at("texts");
  if (names.size() != texts.size()) {
    throw BadInput(path, group + " has columns of different length", "make the run file again");
  }
  std::vector<kernels::ModuleImage> images;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // The hash is over names as well.
    images.push_back({names[i].get<std::string>(), texts[i].get<std::string>(), {}});
  }
  return images;
}

// " --plugin NAME@HASH" or " --recipe NAME@HASH" out of a run's arguments.
std::string ImplementationIn(const std::string& arguments) {
  for (const char* option : {" --plugin ", " --recipe "}) {
    const std::size_t at = arguments.find(option);
    if (at != std::string::npos) {
      return arguments.substr(at, arguments.find(" --", at + 1) - at);
    }
  }
  return "";
}

}  // namespace

std::string RecordedSetup::Option(const std::string& name) const {
  const auto it = std::find(options.begin(), options.end(), name);
  return it == options.end() || it + 1 == options.end() ? "" : *(it + 1);
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
  setup.implementation = ImplementationIn(json["arguments"].get<std::string>());
  setup.fixtures = json["fixtures"].get<std::string>();
  setup.overrides = ToModules(path, "/kernels", json["kernels"]);
  if (json.contains("recipe_file") && !json["recipe_text"].empty()) {
    setup.recipe = {json["recipe_file"].get<std::string>(),
                    json["recipe_text"][0].get<std::string>(),
                    ToModules(path, "/recipe", json["recipe"])};
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

void TakeImplementation(const std::string& path, const RecordedSetup& setup,
                        verify::DeviceOptions& device) {
  if (device.implementation == nullptr && !setup.recipe.name.empty()) {
    device.implementation = recipe::MakeRecipe(path + ": /recipe", setup.recipe);
  }
  const std::string here =
      device.implementation == nullptr ? "" : device.implementation->arguments();
  if (here == setup.implementation) {
    return;
  }
  if (setup.implementation.empty()) {
    throw BadInput(path, "ran the built-in kernels, not" + here, "leave that option out");
  }
  const bool is_plugin = setup.implementation.starts_with(" --plugin ");
  throw BadInput(path,
                 "ran" + setup.implementation + ", " +
                     (here.empty() ? "which it does not hold" : "not" + here),
                 is_plugin ? "name that library with --plugin" : "name that file with --recipe");
}

void RequireSameFixtures(const std::string& path, const RecordedSetup& setup,
                         const verify::ProblemSource& source) {
  std::istringstream here(source.Hashes());
  const std::string then = " " + setup.fixtures + " ";
  for (std::string fixture; here >> fixture;) {
    const std::size_t at = fixture.rfind('@');
    if (then.find(" " + fixture + " ") == std::string::npos) {
      throw BadInput(path,
                     "ran another fixture of the name " + fixture.substr(0, at) +
                         " (the one here is " + fixture.substr(at + 1, 12) + ")",
                     "name the folder that holds it with --fixtures");
    }
  }
}

void RequireSameKernels(const std::string& path, const RecordedSetup& setup,
                        const verify::DeviceOptions& device, Numerics numerics) {
  const auto made = verify::MakeDevice(device, numerics);
  const std::string hash = kernels::KernelSet(*made, device.modules()).hash();
  if (hash != setup.kernels_hash) {
    const std::string hashes =
        " (hash " + setup.kernels_hash.substr(0, 12) + ", here " + hash.substr(0, 12) + ")";
    const std::string fix =
        "use the voltcheck that its attributes tool_version, commit and toolkit name";
    if (setup.implementation.starts_with(" --plugin ")) {
      throw BadInput(path,
                     "was made with another" + setup.implementation +
                         " or the built-in kernels of another build" + hashes,
                     "name the library that ran, and " + fix);
    }
    throw BadInput(path, "was made with the built-in kernels of another build" + hashes, fix);
  }
}

}  // namespace voltcheck::tools
