// The simulator against a real GPU, instruction by instruction and bit by bit: tests/golden holds
// what the GPU gave. Instructions on which the two are known to differ are listed with the reason,
// so that neither a new difference nor a vanished one goes unnoticed.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "conformance_device.h"
#include "fixtures/case/error.h"
#include "golden.h"
#include "suite.h"

namespace voltcheck::conformance {
namespace {

const std::string kGoldenFile =
    std::string(VOLTCHECK_SOURCE_DIR) + "/tests/golden/conformance_h200.tsv";
const std::string kOpenFile =
    std::string(VOLTCHECK_SOURCE_DIR) + "/tests/golden/conformance_open.tsv";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Name and reason of every instruction on which simulator and GPU are known to differ.
std::map<std::string, std::string> ReadOpen() {
  std::map<std::string, std::string> open;
  std::ifstream file(kOpenFile);
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (!line.empty() && line[0] != '#') {
      EXPECT_NE(tab, std::string::npos) << kOpenFile << ": a line without a reason: " << line;
      open[line.substr(0, tab)] = line.substr(tab + 1);
    }
  }
  return open;
}

TEST(Conformance, EveryInstructionIsRecorded) {
  const Golden golden = ParseGolden(kGoldenFile, ReadFile(kGoldenFile));
  EXPECT_NE(golden.head.at("gpu").find("NVIDIA"), std::string::npos);
  EXPECT_FALSE(golden.head.at("driver").empty());
  std::set<std::string> names;
  for (const Instruction& instruction : AllInstructions()) {
    EXPECT_TRUE(names.insert(instruction.name).second) << instruction.name << " twice";
    EXPECT_EQ(golden.entries.count(instruction.name), 1U) << instruction.name;
  }
  EXPECT_EQ(names.size(), golden.entries.size());
}

TEST(Conformance, SimulatorGivesTheBitsOfTheGpu) {
  const Golden golden = ParseGolden(kGoldenFile, ReadFile(kGoldenFile));
  const std::map<std::string, std::string> open = ReadOpen();
  DeviceSource devices("simulator");
  std::size_t equal = 0;
  for (const Instruction& instruction : AllInstructions()) {
    const OperandValues values = MakeOperandValues(instruction);
    const GoldenEntry& want = golden.entries.at(instruction.name);
    const Outcome outcome = RunInstruction(devices.Get(instruction.name), instruction, values);
    const bool known = open.count(instruction.name) != 0;
    if (!outcome.refusal.empty()) {
      EXPECT_TRUE(known) << instruction.name << ": " << outcome.refusal;
      continue;
    }
    const GoldenEntry got = Summarise(instruction, values, outcome.results);
    ASSERT_EQ(got.module_hash, want.module_hash)
        << instruction.name << ": kernel or operands changed since the GPU ran them; record again";
    if (got == want) {
      ++equal;
      EXPECT_FALSE(known) << instruction.name << " matches the GPU now; take it out of "
                          << kOpenFile;
      continue;
    }
    for (std::uint32_t chunk = 0; !known && chunk < want.chunks.size(); ++chunk) {
      EXPECT_EQ(got.chunks[chunk], want.chunks[chunk])
          << instruction.name << " differs between lanes " << chunk * kChunkLanes << " and "
          << (chunk + 1) * kChunkLanes - 1 << "; the first gives "
          << LaneText(instruction, values, outcome.results, chunk * kChunkLanes);
    }
  }
  RecordProperty("equal", static_cast<int>(equal));
  EXPECT_EQ(equal + open.size(), golden.entries.size());
}

TEST(Conformance, OperandValuesDoNotDependOnTheMachine) {
  const Instruction add = Plain("add.rn.f32", {"f32", "f32"}, "f32");
  const OperandValues values = MakeOperandValues(add);
  const Golden golden = ParseGolden(kGoldenFile, ReadFile(kGoldenFile));
  const std::vector<std::byte> zeros(std::size_t{values.lanes} * 4);
  EXPECT_EQ(Summarise(add, values, zeros).module_hash, golden.entries.at("add.rn.f32").module_hash);
}

TEST(Golden, FormatAndParseAreInverse) {
  Golden golden;
  golden.head = {{"gpu", "NVIDIA Test"}, {"driver", "1.2"}};
  golden.entries["a b"] = {640, "01234567", "0123456789abcdef", {"aaaa", "bbbb"}};
  const std::string text = FormatGolden(golden);
  const Golden again = ParseGolden("golden.tsv", text);
  EXPECT_EQ(again.head, golden.head);
  EXPECT_EQ(again.entries, golden.entries);
  EXPECT_EQ(FormatGolden(again), text);
}

TEST(Golden, ForeignFilesAreRefused) {
  for (const std::string text : {"", "name\t1", "# voltcheck.conformance/1\nname\t1\n",
                                 "# voltcheck.conformance/1\nname\tx\ta\tb\tcccc\n",
                                 "# voltcheck.conformance/1\nname\t1\ta\tb\tccc\n"}) {
    try {
      ParseGolden("golden.tsv", text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kBadInput);
      EXPECT_EQ(std::string(error.what()).rfind("golden.tsv:", 0), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace voltcheck::conformance
