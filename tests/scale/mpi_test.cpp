// A sweep over MPI ranks: one run file, the same bytes for any number of ranks, whatever happens to
// them.
#include <nlohmann/json.hpp>
#include <random>

#include "sweep_test.h"
#include "verify/journal/run_journal.h"

namespace voltcheck::tools {
namespace {

class MpiTest : public SweepTest {
 protected:
  void SetUp() override {
    const std::filesystem::path binary(VOLTCHECK_BINARY);
    const bool has_plugin = std::filesystem::exists(binary.parent_path().parent_path() /
                                                    "lib/voltcheck/libvoltcheck_mpi.so");
    if (!has_plugin || access(kLauncher, X_OK) != 0) {
      GTEST_SKIP() << "no MPI here: sweeps over several ranks were NOT tested; install openmpi-bin "
                      "and libopenmpi-dev and build again";
    }
  }

  // What mpirun is given before the program.
  static std::vector<std::string> Launch(int ranks, const std::vector<std::string>& more = {}) {
    return With({"--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np",
                 std::to_string(ranks)},
                more);
  }

  pid_t StartRanks(int ranks, const std::vector<std::string>& words,
                   const std::vector<std::string>& more = {}) const {
    return Start(kLauncher, With(With(Launch(ranks, more), {VOLTCHECK_BINARY}), words));
  }

  std::string Error() const { return ReadText(Path("stderr.txt")); }

  static constexpr const char* kLauncher = "/usr/bin/mpirun";
};

TEST_F(MpiTest, AnyNumberOfRanksWritesTheSameFile) {
  const std::string whole = Undisturbed();
  for (const int ranks : {1, 2, 4, 7}) {
    EXPECT_EQ(Wait(StartRanks(ranks, SweepWords("run.h5"))), 0) << ranks << ": " << Error();
    EXPECT_TRUE(ReadText(Path("run.h5")) == whole) << ranks << " ranks";
    EXPECT_TRUE(verify::JournalsBeside(Path("run.h5")).empty());
    std::filesystem::remove(Path("run.h5"));
  }
}

// mpirun ends all ranks when one is killed; what each has finished is beside the run file.
TEST_F(MpiTest, RanksThatAreKilledCostOnlyUnfinishedCases) {
  const std::string whole = Undisturbed();
  std::mt19937 random(11);
  int status = -1;
  int kills = 0;
  while (status != 0 && kills < 4) {
    const pid_t launcher = StartRanks(4, With(SweepWords("run.h5"), {"--resume"}));
    usleep(static_cast<useconds_t>(600000 + random() % 500000));
    // One of the launcher's children, whichever.
    const std::string command = "pgrep -P " + std::to_string(launcher) + " | sed -n " +
                                std::to_string(1 + random() % 4) + "p | xargs -r kill -9";
    if (std::system(command.c_str()) != 0) {
      break;
    }
    status = Wait(launcher);
    kills += status == 0 ? 0 : 1;
  }
  EXPECT_GT(kills, 0);
  if (status != 0) {
    status = Wait(StartRanks(2, With(SweepWords("run.h5"), {"--resume"})));
  }
  EXPECT_EQ(status, 0) << Error();
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
}

TEST_F(MpiTest, ARankThatHangsIsGivenUp) {
  const std::string whole = Undisturbed();
  const pid_t launcher = StartRanks(3, With(SweepWords("run.h5"), {"--rank-timeout", "1"}));
  while (!std::filesystem::exists(verify::JournalPath(Path("run.h5"), 2)) && Alive(launcher)) {
    usleep(1000);
  }
  const std::string command =
      "pgrep -P " + std::to_string(launcher) + " | tail -n 1 | xargs -r kill -STOP";
  ASSERT_EQ(std::system(command.c_str()), 0);
  Wait(launcher);
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole) << Error();
  EXPECT_NE(Error().find("does not answer; its"), std::string::npos) << Error();
}

TEST_F(MpiTest, ARankWithOtherKernelsIsRefused) {
  WriteText(Path("rank.sh"),
            "#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 1 ] && more='--schedule 3'\nexec " +
                std::string(VOLTCHECK_BINARY) + " \"$@\" $more\n");
  std::filesystem::permissions(Path("rank.sh"), std::filesystem::perms::owner_all);
  const int status =
      Wait(Start("/usr/bin/mpirun", With(With(Launch(2), {"./rank.sh"}), SweepWords("run.h5"))));
  EXPECT_EQ(status, 2);
  EXPECT_NE(Error().find("voltcheck: rank 1: was made with other arguments"), std::string::npos)
      << Error();
  EXPECT_FALSE(std::filesystem::exists(Path("run.h5")));
}

TEST_F(MpiTest, ARankWithoutRoomHandsItsCasesBack) {
  const std::string whole = Undisturbed();
  WriteText(Path("rank.sh"), "#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 1 ] && ulimit -f 12\nexec " +
                                 std::string(VOLTCHECK_BINARY) + " \"$@\"\n");
  std::filesystem::permissions(Path("rank.sh"), std::filesystem::perms::owner_all);
  const int status = Wait(Start(
      "/usr/bin/mpirun",
      With(With(Launch(3, {"--mca", "btl", "self,tcp"}), {"./rank.sh"}), SweepWords("run.h5"))));
  EXPECT_EQ(status, 0) << Error();
  EXPECT_NE(Error().find("rank 1: "), std::string::npos) << Error();
  EXPECT_NE(Error().find("File too large"), std::string::npos) << Error();
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
}

TEST_F(MpiTest, ALayerInFourSlicesSumsToTheLayer) {
  const pid_t launcher =
      StartRanks(4, {"replay", "--tp", "--case", "h=128,i=256,e=4,k=2,g=32,t=3", "--json"});
  EXPECT_EQ(Wait(launcher), 0) << Error();
  const nlohmann::json json = nlohmann::json::parse(ReadText(Path("stdout.txt")), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["ranks"].size(), 4U);
  for (const nlohmann::json& sum : json["sums"]) {
    EXPECT_EQ(sum["beyond_any_order"], 0) << sum;
    EXPECT_GT(sum["max_abs_to_oracle"], 0);
    EXPECT_LT(sum["max_abs_to_oracle"], 0.05);
    EXPECT_NE(sum["equal_orders"], "") << sum;
  }
  // The ranks' outputs are halves: fp32 loses less of their sum than fp16.
  EXPECT_LE(json["sums"][1]["max_abs_to_exact_sum"], json["sums"][0]["max_abs_to_exact_sum"]);
  EXPECT_EQ(Wait(StartRanks(4, {"replay", "--tp", "--case", "h=128,i=64,e=4,k=2,g=32,t=3"})), 2);
  EXPECT_NE(Error().find("has no output to sum"), std::string::npos) << Error();
}

}  // namespace
}  // namespace voltcheck::tools
