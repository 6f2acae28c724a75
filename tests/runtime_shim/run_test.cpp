// `voltcheck run` with programs that use CUDA as libraries do.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fixtures/case/temporary_folder.h"

namespace voltcheck::shim {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class RunTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }

  /// `voltcheck run OPTIONS -- PROGRAM ARGUMENTS`, the program one of those built here.
  Outcome Run(const std::string& options, const std::string& program) const {
    const std::string command =
        "cd '" + folder_.path().string() + "'; exec '" VOLTCHECK_BINARY "' run " + options +
        " -- '" VOLTCHECK_PROGRAMS "'/" + program + " >stdout.txt 2>stderr.txt </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw),
            ReadText(folder_ / "stdout.txt"), ReadText(folder_ / "stderr.txt")};
  }

  static std::string Golden(const std::string& name) {
    std::string text = ReadText(fs::path(VOLTCHECK_PROGRAM_GOLDEN) / (name + ".txt"));
    EXPECT_FALSE(text.empty()) << name;
    return text;
  }

 private:
  TemporaryFolder folder_;
};

class GoldenTest : public RunTest, public testing::WithParamInterface<const char*> {};

TEST_P(GoldenTest, PrintsWhatAGpuPrints) {
  const Outcome outcome = Run("--quiet", GetParam());
  EXPECT_EQ(outcome.out, Golden(GetParam())) << outcome.err;
  EXPECT_EQ(outcome.err.find("DIFFERENT"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Programs, GoldenTest,
                         testing::Values("errors", "graphs", "grouped", "memory", "threads",
                                         "driver", "launch", "library"),
                         [](const auto& program) { return std::string(program.param); });

TEST_F(RunTest, EveryCheckerIsSilentInAnotherOrder) {
  for (const char* name : {"graphs", "grouped", "memory", "threads", "launch"}) {
    const Outcome outcome = Run("--check all --schedule 7 --out clean.h5", name);
    EXPECT_EQ(outcome.out, Golden(name));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(fs::exists(Path("clean.h5")));
  }
}

TEST_F(RunTest, AMissingFunctionIsNamed) {
  for (const char* call : {"texture", "array"}) {
    const Outcome outcome = Run("", std::string("launch ") + call);
    EXPECT_EQ(outcome.out, "cudaErrorNotSupported\n");
    EXPECT_EQ(outcome.status, 2);
    const char* name =
        std::string(call) == "texture" ? "cudaCreateTextureObject" : "cudaMallocArray";
    EXPECT_NE(outcome.err.find(std::string("voltcheck: ") + name +
                               ": the simulator's CUDA does not have this function"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_F(RunTest, ShippedSassIsComparedWithWhatThePtxAssemblesTo) {
  const Outcome outcome = Run("--sass --quiet", "with_sass");
  EXPECT_NE(outcome.err.find(": the same"), std::string::npos) << outcome.err;
  const Outcome without = Run("--sass --quiet", "errors");
  EXPECT_NE(without.err.find("machine code shipped none, assembled again "), std::string::npos)
      << without.err;
  EXPECT_NE(without.err.find(": nothing to compare"), std::string::npos) << without.err;
}

TEST_F(RunTest, CompressedAndPlainFatBinariesWithAndWithoutSassRunTheSame) {
  const std::string golden = Golden("errors");
  EXPECT_EQ(Run("", "with_sass").out, golden);
  EXPECT_EQ(Run("", "uncompressed").out, golden);
}

TEST_F(RunTest, ProgramsWithoutUsablePtxAreRefusedInOneLine) {
  for (const char* program : {"only_sass", "newer"}) {
    const Outcome outcome = Run("", program);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("-gencode arch=compute_70,code=compute_70"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1);
  }
  EXPECT_NE(Run("", "only_sass").err.find("only SASS for sm_70"), std::string::npos);
  EXPECT_NE(Run("", "newer").err.find("PTX for compute_80"), std::string::npos);
}

TEST_F(RunTest, TheStaticRuntimeIsRefusedInOneLine) {
  const Outcome outcome = Run("", "static_runtime");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--cudart shared"), std::string::npos) << outcome.err;
}

TEST_F(RunTest, WrongUseIsRefusedInOneLine) {
  EXPECT_EQ(Run("--check nonsense", "errors").status, 2);
  EXPECT_EQ(Run("--numerics v99", "errors").status, 2);
  EXPECT_EQ(Run("", "no_such_program").status, 2);
  EXPECT_EQ(Run("", "../../../CMakeLists.txt").status, 2);
}

TEST_F(RunTest, FindingsSetTheStatusAndStandInTheRunFile) {
  const Outcome outcome = Run("--out found.h5", "faults bounds");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "cudaErrorIllegalAddress\n");
  EXPECT_NE(outcome.err.find("bounds in _Z11OutOfBounds"), std::string::npos) << outcome.err;
  EXPECT_GT(fs::file_size(Path("found.h5")), 0u);
}

TEST_F(RunTest, CheckersRunWhenAsked) {
  EXPECT_EQ(Run("--quiet", "faults race").status, 0);
  const Outcome race = Run("--check shared-races", "faults race");
  EXPECT_EQ(race.status, 1);
  EXPECT_NE(race.err.find("race in _Z10SharedRace"), std::string::npos) << race.err;
  const Outcome uninitialised = Run("--check all", "faults uninitialised");
  EXPECT_EQ(uninitialised.status, 1);
  EXPECT_NE(uninitialised.err.find("uninitialised in"), std::string::npos) << uninitialised.err;
}

TEST_F(RunTest, FindingsSurviveAnAbort) {
  const Outcome outcome = Run("", "faults bounds abort");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("bounds in"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("ended by signal 6"), std::string::npos) << outcome.err;
}

// golden/faults.txt: `WHAT: ERROR` for each fault, and the assertion's message.
TEST_F(RunTest, FaultsEndAsOnAGpu) {
  const std::string golden = Golden("faults");
  for (const std::string what : {"assert", "uninitialised", "race"}) {
    const Outcome outcome = Run("--quiet", "faults " + what);
    EXPECT_NE(golden.find(what + ": " + outcome.out), std::string::npos) << outcome.out;
    if (what == "assert") {
      const std::string message = golden.substr(golden.find("faults.cu:"));
      EXPECT_NE(outcome.err.find("/" + message), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(RunTest, TheProgramsOwnStatusIsPassedOn) {
  const Outcome outcome = Run("", "faults race 42");
  EXPECT_EQ(outcome.status, 42);
  EXPECT_NE(outcome.err.find("exited with status 42"), std::string::npos) << outcome.err;
}

TEST_F(RunTest, TwoRunsWriteTheSameBytes) {
  for (const char* name : {"one.h5", "two.h5"}) {
    Run(std::string("--check all --out ") + name, "faults uninitialised");
  }
  EXPECT_EQ(ReadText(Path("one.h5")), ReadText(Path("two.h5")));
}

}  // namespace
}  // namespace voltcheck::shim
