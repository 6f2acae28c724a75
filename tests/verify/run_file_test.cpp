// The run file: same bytes twice, whole or not at all, and what Python sees in it.
#include "verify/run_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <functional>

#include "fixtures/case/error.h"
#include "synthetic_record.h"
#include "temporary_folder.h"
#include "verify/in_child.h"
#include "verify/run_reader.h"

namespace voltcheck::verify {
namespace {

constexpr int kCases = 1500;  // more than one chunk of rows

void Write(const std::string& path, int cases) {
  RunFileWriter writer(path, SyntheticProvenance());
  for (int i = 0; i < cases; ++i) {
    writer.Append(SyntheticRecord(i));
  }
  writer.Finish(true);
}

// The line of the Error that `work` throws, after checking its status; empty when it throws none.
std::string BadInputLine(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

TEST(RunFile, SameWorkGivesTheSameBytes) {
  const TemporaryFolder folder;
  Write(folder / "a.h5", kCases);
  Write(folder / "b.h5", kCases);
  const std::string a = ReadBytes(folder / "a.h5");
  EXPECT_GT(a.size(), 1000U);
  EXPECT_TRUE(a == ReadBytes(folder / "b.h5"));
}

TEST(RunFile, TimingsAreNotInTheFile) {
  const TemporaryFolder folder;
  CaseRecord record = SyntheticRecord(1);
  for (const char* name : {"a.h5", "b.h5"}) {
    record.seconds.device += 1;
    RunFileWriter writer(folder / name, SyntheticProvenance());
    writer.Append(record);
    writer.Finish(true);
  }
  EXPECT_TRUE(ReadBytes(folder / "a.h5") == ReadBytes(folder / "b.h5"));
}

TEST(RunFile, PythonReadsItAsDesigned) {
  const std::string python = VOLTCHECK_PYTHON;
  if (python.empty()) {
    GTEST_SKIP()
        << "no Python with h5py, xarray and h5netcdf was found by CMake: the run file was NOT read "
           "by anything but this project; install python3-h5py, python3-xarray, python3-h5netcdf";
  }
  const TemporaryFolder folder;
  constexpr int kFew = 60;  // h5netcdf takes seconds for each group of a file with many arrays
  Write(folder / "run.h5", kFew);
  const std::string command = python + " " VOLTCHECK_SOURCE_DIR "/tests/verify/read_run_file.py " +
                              (folder / "run.h5") + " " + std::to_string(kFew);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(RunFile, OverviewCountsVerdictsAndListsArrays) {
  const TemporaryFolder folder;
  Write(folder / "run.h5", 10);
  const RunOverview overview = ReadRunOverview(folder / "run.h5");
  EXPECT_TRUE(overview.complete);
  EXPECT_EQ(overview.summary.cases, 10U);
  EXPECT_EQ(overview.summary.count(Verdict::kFailed), 2U);
  EXPECT_EQ(overview.summary.count(Verdict::kPassed), 8U);
  const auto has = [&](const std::string& name, const std::string& shape) {
    return std::find(overview.datasets.begin(), overview.datasets.end(), std::pair(name, shape)) !=
           overview.datasets.end();
  };
  EXPECT_TRUE(has("/metrics/w2/own/rms", "float32 [10]"));
  EXPECT_TRUE(has("/histograms/silu/reference", "uint64 [10, 18]"));
  EXPECT_TRUE(has("/failures/4/w2/got", "float32 [2, 3]"));
}

TEST(RunFile, TheReaderReadsColumnsInPieces) {
  const TemporaryFolder folder;
  Write(folder / "run.h5", kCases);
  const RunReader run(folder / "run.h5");
  EXPECT_EQ(run.cases(), static_cast<std::uint64_t>(kCases));
  EXPECT_EQ(run.Attribute("options"), "--device simulator");
  EXPECT_EQ(run.Attribute("nothing"), "");
  EXPECT_EQ(run.Attribute("units", "/cases/tokens"), "token");
  EXPECT_EQ(run.Texts("/kernels/name"), std::vector<std::string>{"mine.ptx"});
  EXPECT_TRUE(run.Has("/metrics/w2/own/rms") && run.Has("/metrics"));
  EXPECT_FALSE(run.Has("/metrics/w9/own/rms") || run.Has("/metrics/w2/own/rms/x"));
  EXPECT_EQ(run.Texts("/cases/verdict", 1498, 100), (std::vector<std::string>{"passed", "failed"}));
  EXPECT_EQ(run.Texts("/cases/reason", 4, 1), std::vector<std::string>{"w2: \xC2\xB5 over budget"});
  EXPECT_EQ(run.Numbers("/metrics/w2/own/rms", 2, 2), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(run.Integers("/logits/first_flip", 0, 2), (std::vector<std::int64_t>{-1, 0}));
  EXPECT_EQ(run.Counts("/counters/mma", 7, 1), std::vector<std::uint64_t>{21});
  EXPECT_EQ(run.Counts("/histograms/w13/own", 0, 1).size(), kUlpBins);
  EXPECT_EQ(run.Numbers("/failures/4/w2/got"),
            (std::vector<double>{1, 2, -2, 0, INFINITY, 0x1p-24}));
  EXPECT_EQ(run.Names("/failures/4"), (std::vector<std::string>{"logits", "w2"}));
  EXPECT_EQ(run.Extent("/failures/4/w2/got"), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(run.Texts("/cases/verdict", 9999).empty());
  EXPECT_NE(BadInputLine([&] { run.Numbers("/cases/nothing"); }).find("has no /cases/nothing"),
            std::string::npos);
  EXPECT_NE(BadInputLine([&] { run.Texts("/counters/mma"); }).find("no column of text"),
            std::string::npos);
  EXPECT_NE(BadInputLine([&] { run.Integers("/metrics/w2/own/rms"); }).find("numbers of that kind"),
            std::string::npos);
}

TEST(RunFile, MissingCasesKeepTheirNumbers) {
  const TemporaryFolder folder;
  RunProvenance provenance = SyntheticProvenance();
  provenance.planned = 100;
  {
    RunFileWriter writer(folder / "run.h5", provenance);
    writer.Append(SyntheticRecord(4), 4);
    writer.Append(SyntheticRecord(9), 9);
    writer.Finish(false);
  }
  const RunReader run(folder / "run.h5");
  EXPECT_EQ(run.Counts("/case"), (std::vector<std::uint64_t>{4, 9}));
  EXPECT_EQ(run.Counts("/findings/case"), (std::vector<std::uint64_t>{4, 9}));
  EXPECT_EQ(run.Names("/failures"), (std::vector<std::string>{"4", "9"}));
  EXPECT_EQ(run.Attribute("planned"), "100");
  EXPECT_EQ(run.Attribute("cases"), "2");
  EXPECT_EQ(run.Attribute("complete"), "0");
}

TEST(RunFile, AnAbandonedWriterLeavesNothing) {
  const TemporaryFolder folder;
  {
    RunFileWriter writer(folder / "run.h5", SyntheticProvenance());
    writer.Append(SyntheticRecord(0));
    EXPECT_EQ(folder.Names().size(), 1U) << "the temporary file";
  }
  EXPECT_TRUE(folder.Names().empty());
}

TEST(RunFile, AKilledWriterLeavesTheOldFileUnderTheFinalName) {
  const TemporaryFolder folder;
  WriteBytes(folder / "run.h5", "old");
  for (int at = 0; at < 4; ++at) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunFileWriter writer(folder / "run.h5", SyntheticProvenance());
      for (int i = 0; i < 700 * at; ++i) {
        writer.Append(SyntheticRecord(i));
      }
      std::raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(ReadBytes(folder / "run.h5"), "old");
  }
}

TEST(RunFile, AFullDiskIsOneLineAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  WriteBytes(folder / "run.h5", "old");
  for (const int cases : {1, 3000}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // A limit on file sizes stands for a disk of 64 KB.
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{1 << 16, 1 << 16};
      setrlimit(RLIMIT_FSIZE, &limit);
      const std::string line = BadInputLine([&] { Write(folder / "run.h5", cases); });
      const bool right =
          line.find("run.h5: cannot be written (File too large)") != std::string::npos;
      _exit(right && !HasFailure() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << cases << " cases";
    EXPECT_EQ(ReadBytes(folder / "run.h5"), "old");
    EXPECT_EQ(folder.Names().size(), 1U) << "no temporary file is left";
  }
}

TEST(RunFile, AFolderThatCannotBeWrittenShowsBeforeAnyWork) {
  const TemporaryFolder folder;
  WriteBytes(folder / "file", "");
  const auto line = [&](const std::string& path) {
    return BadInputLine([&] { const RunFileWriter writer(path, SyntheticProvenance()); });
  };
  EXPECT_NE(line(folder / "missing/run.h5").find("No such file or directory"), std::string::npos);
  EXPECT_NE(line(folder / "file/run.h5").find("Not a directory"), std::string::npos);
  EXPECT_NE(line("/proc/run.h5").find("cannot be written"), std::string::npos);
  EXPECT_NE(line(folder.path().string()).find("Is a directory"), std::string::npos);
  EXPECT_NE(line("/dev/full"), "");
  EXPECT_EQ(folder.Names().size(), 1U);
}

TEST(RunFile, ForeignAndDamagedFilesAreRefusedInOneLine) {
  const TemporaryFolder folder;
  Write(folder / "run.h5", 5);
  const std::string whole = ReadBytes(folder / "run.h5");
  const auto line = [&](const std::string& bytes) {
    WriteBytes(folder / "bad.h5", bytes);
    return BadInputLine([&] { ReadRunOverview(folder / "bad.h5"); });
  };
  EXPECT_NE(line("").find("bad.h5"), std::string::npos);
  EXPECT_NE(line("no HDF5 at all").find("damaged or no HDF5 file"), std::string::npos);
  for (const std::size_t kept :
       {std::size_t{8}, std::size_t{96}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_NE(line(whole.substr(0, kept)), "") << kept << " bytes kept";
  }
  EXPECT_EQ(line(whole), "");
}

TEST(InChild, PartsComeInOrderAndAnErrorAfterThemStillThrows) {
  std::string got;
  const auto collect = [&got](std::string_view part) { got += part; };
  StreamFromChild(
      "x",
      [](const ChildSink& sink) {
        for (int i = 0; i < 50'000; ++i) {
          sink(std::to_string(i) + ",");
        }
      },
      collect);
  std::string want;
  for (int i = 0; i < 50'000; ++i) {
    want += std::to_string(i) + ",";
  }
  EXPECT_TRUE(got == want);
  EXPECT_EQ(BadInputLine([&] {
              StreamFromChild(
                  "x",
                  [](const ChildSink& sink) {
                    sink(std::string(1 << 20, 'y'));
                    throw BadInput("here", "what", "fix");
                  },
                  collect);
            }),
            "here: what; fix");
}

TEST(InChild, ResultsAndErrorsComeBackAndCrashesAreOneLine) {
  EXPECT_EQ(InChild("x", [] { return std::string(1 << 20, 'y'); }), std::string(1 << 20, 'y'));
  EXPECT_EQ(InChild("x", [] { return std::string(); }), "");
  EXPECT_EQ(BadInputLine([] {
              InChild("x", []() -> std::string { throw BadInput("here", "what", "fix"); });
            }),
            "here: what; fix");
  EXPECT_NE(BadInputLine([] {
              InChild("x.h5", []() -> std::string {
                std::raise(SIGKILL);
                return "";
              });
            }).find("x.h5: crashes the HDF5 library"),
            std::string::npos);
}

}  // namespace
}  // namespace voltcheck::verify
