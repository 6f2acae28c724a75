// Everything a user can hand in that is wrong: one line that says what, where and what to do,
// status 2, and an existing run file untouched.
#include <gtest/gtest.h>

#include "command.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/fixture_file.h"
#include "fixtures/generate.h"

namespace voltcheck::tools {
namespace {

constexpr const char* kSmallest = "h=128,i=64,e=4,k=2,t=1,w13=8x128x64/1,w2=8x128x64/1";

class BadInputTest : public CommandTest {
 protected:
  BadInputTest() { WriteText(Path("run.h5"), "old"); }
  ~BadInputTest() override {
    EXPECT_TRUE(ReadText(Path("run.h5")) == "old") << "an existing run file was touched";
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
    }
  }
  Outcome Replay(const std::string& descriptor) const {
    return Run({"replay", "--case", descriptor, "--out", "run.h5"});
  }
  // A folder whose only fixture has these bytes, and the gate over it.
  Outcome GateOverFixture(const std::string& bytes) const {
    std::filesystem::create_directory(Path("fixtures"));
    WriteText(Path("fixtures/bad.h5"), bytes);
    WriteText(Path("suite.txt"), "fixture=*;t=1\n");
    return Run({"gate", "--suite", "./suite.txt", "--fixtures", "fixtures", "--out", "run.h5"});
  }
};

TEST_F(BadInputTest, UnknownKey) {
  ExpectRefusal(Replay("t=1,colour=red"), 2, "unknown key 'colour'");
}

TEST_F(BadInputTest, ValueThatDoesNotParse) {
  ExpectRefusal(Replay("t=many"), 2, "descriptor key t");
}

TEST_F(BadInputTest, WordsThatBoostWouldFillInForEver) {
  ExpectRefusal(Run({"gate", "--schedule", "%value%"}), 2, "contains %value%");
  ExpectRefusal(Run({"gate", "--schedule", "%Value%"}), 2, "contains %value%");
  WriteText(Path("gate.cfg"), "policy = a%option%\n");
  ExpectRefusal(Run({"gate", "--config", "gate.cfg"}), 2, "gate.cfg: contains %option%");
}

TEST_F(BadInputTest, KNotAMultipleOfTheGroup) {
  ExpectRefusal(Replay("h=100,g=32"), 2, "100 is not a multiple of the group");
}

TEST_F(BadInputTest, NNotAMultipleOfEight) {
  ExpectRefusal(Replay("i=36"), 2, "descriptor key i: 36 is not a multiple of");
}

TEST_F(BadInputTest, MoreRoutesThanExperts) {
  ExpectRefusal(Replay("e=4,k=5"), 2, "5 routes are more than the experts, e = 4");
}

TEST_F(BadInputTest, InfeasibleTactic) {
  ExpectRefusal(Replay("h=2560,i=160,w2=8x128x64/1"), 2, "K = 160");
}

TEST_F(BadInputTest, ExpertIdOutsideTheExperts) {
  ExpectRefusal(Replay("e=8,routing=one:8"), 2, "names no expert");
  ExpectRefusal(Replay("t=2,routing=invalid:-1,path=offset"), 2, "outside [0, 16)");
}

TEST_F(BadInputTest, MissingFixture) {
  ExpectRefusal(Run({"replay", "nowhere.h5", "--out", "run.h5"}), 2, "nowhere.h5");
  ExpectRefusal(Replay("fixture=nowhere"), 2, "nowhere.h5");
  ExpectRefusal(Run({"gate", "--suite", "smoke", "--fixtures", "nowhere", "--out", "run.h5"}), 2,
                "nowhere");
  std::filesystem::create_directory(Path("empty"));
  ExpectRefusal(Run({"gate", "--suite", "smoke", "--fixtures", "empty", "--out", "run.h5"}), 2,
                "holds no fixture");
}

TEST_F(BadInputTest, TruncatedFixture) {
  const std::string whole = ReadText(ShippedFixture());
  ASSERT_GT(whole.size(), 1000U);
  ExpectRefusal(GateOverFixture(whole.substr(0, whole.size() / 2)), 2, "bad.h5");
}

TEST_F(BadInputTest, CorruptFixture) {
  std::string bytes = ReadText(ShippedFixture());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ExpectRefusal(GateOverFixture(bytes), 2, "bad.h5");
}

TEST_F(BadInputTest, ForeignFixture) {
  ExpectRefusal(GateOverFixture("PK\x03\x04 some other file"), 2, "bad.h5");
  // A run file is HDF5 too, but no fixture.
  ASSERT_EQ(Run({"replay", "--case", kSmallest, "--out", "other.h5"}).status, 0);
  ExpectRefusal(GateOverFixture(ReadText(Path("other.h5"))), 2, "bad.h5");
}

TEST_F(BadInputTest, FixtureOfAnotherHash) {
  const std::string folder = ShippedFixture().parent_path().string();
  const std::string name = ShippedFixture().stem().string();
  ExpectRefusal(Run({"replay", "--fixtures", folder, "--out", "run.h5", "--case",
                     "h=576,i=192,e=8,k=2,g=32,t=1,fixture=" + name + "@0123456789ab"}),
                2, "hash");
}

// Finite scales whose weights are not: the reference has nothing to say about them.
TEST_F(BadInputTest, AReferenceThatIsNotFiniteAndNotDeclared) {
  constexpr std::uint16_t kLargestHalf = 0x7BFF;
  fixtures::Fixture fixture;
  fixture.problem = fixtures::Generate(ParseDescriptor("h=32,i=32,e=1,k=1,t=1"));
  auto expert = std::make_shared<ExpertWeights>(*fixture.problem.experts[0]);
  std::fill(expert->w13.scales.begin(), expert->w13.scales.end(), kLargestHalf);
  fixture.problem.experts[0] = expert;
  fixtures::WriteFixture(fixture, Path("large.h5"));
  const Outcome outcome = GateOverFixture(ReadText(Path("large.h5")));
  ExpectRefusal(outcome, 2, "the FP32 reference: w13 is not finite at (0, ");
  ExpectRefusal(outcome, 2, "declare the overflow with data=extreme");
}

TEST_F(BadInputTest, FullDisk) {
  // 8 blocks of 1 KB stand for the room that is left.
  ExpectRefusal(Run({"replay", "--case", kSmallest, "--quiet", "--out", "run.h5"}, "ulimit -f 8;"),
                2, "run.h5: cannot be written");
}

TEST_F(BadInputTest, StandardOutputThatIsFull) {
  const std::string command =
      Quoted(VOLTCHECK_BINARY) + " list suites >/dev/full 2>" + Quoted(Path("stderr.txt"));
  const int raw = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(raw), 2);
  EXPECT_NE(ReadText(Path("stderr.txt")).find("standard output"), std::string::npos);
}

TEST_F(BadInputTest, FolderThatCannotBeWrittenShowsBeforeAnyCaseRuns) {
  // Cases that would take hours: the refusal comes at once or the test times out.
  WriteText(Path("suite.txt"),
            "h=2560;i=160;e=512;k=10;g=32;t=128;seed=1..1000;w13=8x128x64/1;w2=16x128x32/1\n");
  for (const char* out : {"missing/run.h5", "/proc/run.h5", "suite.txt/run.h5", "/dev/full"}) {
    ExpectRefusal(Run({"gate", "--suite", "./suite.txt", "--out", out}), 2, out);
  }
}

TEST_F(BadInputTest, SuitesThatDoNotExistOrDoNotParse) {
  ExpectRefusal(Run({"gate", "--suite", "smoky", "--out", "run.h5"}), 2,
                "the suites are ci, full, smoke");
  ExpectRefusal(Run({"gate", "--suite", "./none.txt", "--out", "run.h5"}), 2, "none.txt");
  WriteText(Path("suite.txt"), "# fine\nh=128;t=1\nt=1;colour=red\n");
  ExpectRefusal(Run({"gate", "--suite", "./suite.txt", "--out", "run.h5"}), 2, "suite.txt:3: ");
  WriteText(Path("suite.txt"), "# nothing\n");
  ExpectRefusal(Run({"gate", "--suite", "./suite.txt", "--out", "run.h5"}), 2, "has no case");
}

TEST_F(BadInputTest, WrongUseOfOptions) {
  ExpectRefusal(Run({"gate", "--sweet", "smoke"}), 2, "see 'voltcheck gate --help'");
  ExpectRefusal(Run({"gate", "--jobs", "-1"}), 2, "--jobs");
  ExpectRefusal(Run({"gate", "--device", "abacus", "--out", "run.h5"}), 2, "use simulator or cuda");
  ExpectRefusal(Run({"replay"}), 2, "needs either --case or fixture files");
  ExpectRefusal(Run({"inspect"}), 2, "needs a file");
  ExpectRefusal(Run({"inspect", "run.h5"}), 2, "run.h5");
}

TEST_F(BadInputTest, KernelsThatAreNoPtxOrReplaceNothing) {
  const auto replay = [&](const std::string& ptx) {
    WriteText(Path("own.ptx"), ptx);
    return Run({"replay", "--case", kSmallest, "--kernels", "own.ptx", "--out", "run.h5"});
  };
  const std::string header = ".version 6.0\n.target sm_70\n.address_size 64\n";
  ExpectRefusal(replay(header + "nonsense here;\n"), 2, "own.ptx");
  ExpectRefusal(replay(header + ".visible .entry my_gem() { ret; }\n"), 2,
                "own.ptx: replaces no kernel, its entries are my_gem");
  ExpectRefusal(replay(header), 2, "own.ptx: ");
  ExpectRefusal(Run({"gate", "--kernels", "missing.ptx", "--out", "run.h5"}), 2, "missing.ptx");
}

TEST_F(BadInputTest, AGpuThatIsNotThereIsNotAvailable) {
  const Outcome devices = Run({"list", "devices"});
  if (devices.out.find("not available") == std::string::npos) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  ExpectRefusal(Run({"gate", "--device", "cuda", "--out", "run.h5"}), 3, "");
}

}  // namespace
}  // namespace voltcheck::tools
