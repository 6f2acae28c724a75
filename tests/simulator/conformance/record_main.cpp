// voltcheck_conformance: runs the conformance suite on a device and records what it gave.
//
//   voltcheck_conformance record DEVICE OUT.tsv [--data OUT.bin] [--only TEXT] [--toolkit TEXT]
//   voltcheck_conformance compare DEVICE GOLDEN.tsv [--data GOLDEN.bin] [--only TEXT]
//   voltcheck_conformance exhaustive cuda [--only TEXT]
//   voltcheck_conformance emit
//
// DEVICE is `cuda` or `simulator`. --data holds all results, one instruction behind the other in
// the suite's order: with it, compare shows single lanes. `exhaustive` compares the table units
// with their models for every input. `emit` prints every kernel, for an assembler to check.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "conformance_device.h"
#include "exhaustive.h"
#include "fixtures/case/error.h"
#include "golden.h"
#include "suite.h"

namespace voltcheck::conformance {
namespace {

struct Arguments {
  std::string command;
  std::string device;
  std::string file;
  std::string data;
  std::string only;
  std::string toolkit;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw BadInput(path, "cannot be read", "name an existing file");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    throw BadInput(path, "cannot be written", "choose another place");
  }
}

std::size_t ResultBytes(const Instruction& instruction, std::uint32_t lanes) {
  std::size_t bytes = 0;
  for (const std::uint32_t size : instruction.results) {
    bytes += std::size_t{size} * lanes;
  }
  return bytes;
}

int Record(const Arguments& arguments) {
  Golden golden;
  std::string data;
  int refused = 0;
  DeviceSource devices(arguments.device);
  const kernels::DeviceDescription description = devices.Get("").Describe();
  golden.head = {{"gpu", description.name},
                 {"driver", description.driver},
                 {"numerics", description.numerics}};
  if (!arguments.toolkit.empty()) {
    golden.head["toolkit"] = arguments.toolkit;
  }
  for (const Instruction& instruction : AllInstructions()) {
    if (instruction.name.find(arguments.only) == std::string::npos) {
      continue;
    }
    const OperandValues values = MakeOperandValues(instruction);
    Outcome outcome = RunInstruction(devices.Get(instruction.name), instruction, values);
    if (!outcome.refusal.empty()) {
      ++refused;
      std::cerr << instruction.name << ": " << outcome.refusal << "\n";
      outcome.results.assign(ResultBytes(instruction, values.lanes), std::byte{0});
    } else {
      golden.entries[instruction.name] = Summarise(instruction, values, outcome.results);
    }
    if (!arguments.data.empty()) {
      data.append(reinterpret_cast<const char*>(outcome.results.data()), outcome.results.size());
    }
  }
  WriteFile(arguments.file, FormatGolden(golden));
  if (!arguments.data.empty()) {
    WriteFile(arguments.data, data);
  }
  std::cout << golden.entries.size() << " instructions recorded, " << refused << " refused\n";
  return refused == 0 ? 0 : 1;
}

int Compare(const Arguments& arguments) {
  const Golden golden = ParseGolden(arguments.file, ReadFile(arguments.file));
  const std::string data = arguments.data.empty() ? "" : ReadFile(arguments.data);
  std::size_t at = 0;
  int equal = 0;
  int different = 0;
  DeviceSource devices(arguments.device);
  for (const Instruction& instruction : AllInstructions()) {
    const OperandValues values = MakeOperandValues(instruction);
    const std::size_t bytes = ResultBytes(instruction, values.lanes);
    const std::size_t begin = at;
    at += bytes;
    const auto found = golden.entries.find(instruction.name);
    if (instruction.name.find(arguments.only) == std::string::npos ||
        found == golden.entries.end()) {
      continue;
    }
    const Outcome outcome = RunInstruction(devices.Get(instruction.name), instruction, values);
    if (!outcome.refusal.empty()) {
      ++different;
      std::cout << instruction.name << ": REFUSED " << outcome.refusal << "\n";
      continue;
    }
    const GoldenEntry entry = Summarise(instruction, values, outcome.results);
    if (entry == found->second) {
      ++equal;
      continue;
    }
    ++different;
    std::cout << instruction.name << ": "
              << (entry.module_hash == found->second.module_hash ? "DIFFERS" : "STALE") << "\n";
    if (data.size() < begin + bytes) {
      continue;
    }
    const auto* wanted = reinterpret_cast<const std::byte*>(data.data()) + begin;
    const std::vector<std::byte> want(wanted, wanted + bytes);
    int shown = 0;
    int lanes = 0;
    for (std::uint32_t lane = 0; lane < values.lanes; ++lane) {
      const std::string got_text = LaneText(instruction, values, outcome.results, lane);
      const std::string want_text = LaneText(instruction, values, want, lane);
      if (got_text != want_text) {
        ++lanes;
        if (++shown <= 4) {
          std::cout << "  lane " << lane << ": got " << got_text << " want "
                    << want_text.substr(want_text.find("->") + 3) << "\n";
        }
      }
    }
    std::cout << "  " << lanes << " of " << values.lanes << " lanes\n";
  }
  std::cout << equal << " equal, " << different << " different or refused\n";
  return different == 0 ? 0 : 1;
}

int Emit() {
  bool first = true;
  for (const Instruction& instruction : AllInstructions()) {
    const std::string text = ModuleText(instruction, kBlock);
    std::cout << (first ? text : text.substr(text.find(".visible")));
    first = false;
  }
  return 0;
}

int Run(const std::vector<std::string>& words) {
  Arguments arguments;
  std::vector<std::string*> places = {&arguments.command, &arguments.device, &arguments.file};
  std::size_t place = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string* option = words[i] == "--data"      ? &arguments.data
                          : words[i] == "--only"    ? &arguments.only
                          : words[i] == "--toolkit" ? &arguments.toolkit
                                                    : nullptr;
    if (option != nullptr && i + 1 < words.size()) {
      *option = words[++i];
    } else if (option == nullptr && place < places.size()) {
      *places[place++] = words[i];
    } else {
      throw BadInput(words[i], "is not understood", "see the head of record_main.cpp");
    }
  }
  if (arguments.command == "emit" && place == 1) {
    return Emit();
  }
  if (arguments.command == "exhaustive" && place == 2) {
    return RunExhaustive(DeviceSource(arguments.device).Get(""), arguments.only) == 0 ? 0 : 1;
  }
  if (place == 3 && arguments.command == "record") {
    return Record(arguments);
  }
  if (place == 3 && arguments.command == "compare") {
    return Compare(arguments);
  }
  throw BadInput("voltcheck_conformance", "wants record, compare, exhaustive or emit",
                 "see the head of record_main.cpp");
}

}  // namespace
}  // namespace voltcheck::conformance

int main(int argc, char** argv) {
  try {
    return voltcheck::conformance::Run({argv + 1, argv + argc});
  } catch (const voltcheck::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.status());
  }
}
