#include "tools/recorded_setup.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "verify/in_child.h"
#include "verify/run_reader.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;

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
  json["kernel_names"] = Json::array();
  if (run.Has("/kernels")) {
    json["kernels"] = run.Texts("/kernels/ptx");
    json["kernel_names"] = run.Texts("/kernels/name");
  }
  return json;
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
  if (json["kernel_names"].size() != json["kernels"].size()) {
    throw BadInput(path, "/kernels has columns of different length", "make the run file again");
  }
  for (std::size_t i = 0; i < json["kernels"].size(); ++i) {
    kernels::ModuleImage image;
    image.name = json["kernel_names"][i].get<std::string>();  // the hash is over names as well
    image.ptx = json["kernels"][i].get<std::string>();
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

}  // namespace voltcheck::tools
