// A sweep that is killed, interrupted or out of room goes on where it was, to the same bytes.
#include <nlohmann/json.hpp>
#include <random>

#include "sweep_test.h"
#include "verify/journal/journal_file.h"
#include "verify/journal/run_journal.h"

namespace voltcheck::tools {
namespace {

class ResumeTest : public SweepTest {
 protected:
  // Whole entries of the journal beside a run file.
  std::uint64_t Finished(const std::string& out) const {
    const std::string path = verify::JournalPath(Path(out));
    if (!verify::IsJournal(path)) {
      return 0;
    }
    verify::JournalReader reader(path);
    verify::JournalEntry entry;
    std::uint64_t count = 0;
    while (reader.Next(entry)) {
      ++count;
    }
    return count;
  }
};

TEST_F(ResumeTest, KilledAtRandomMomentsItEndsInTheSameBytes) {
  const std::string whole = Undisturbed();
  std::mt19937 random(7);
  std::uint64_t finished = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t child =
        Start(VOLTCHECK_BINARY, With(SweepWords("run.h5"), {"--resume", "--jobs", "2"}));
    if (round % 4 != 0) {  // while cases run; else anywhere, mostly before the first
      while (Finished("run.h5") <= finished && Alive(child)) {
        usleep(500);
      }
    }
    usleep(static_cast<useconds_t>(random() % 60000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (std::filesystem::exists(Path("run.h5"))) {
      break;  // it was faster
    }
    const std::uint64_t now = Finished("run.h5");
    EXPECT_GE(now, finished) << "a finished case is lost";
    finished = now;
  }
  EXPECT_GT(finished, 0U);
  EXPECT_EQ(Run(With(SweepWords("run.h5"), {"--resume"})).status, 0);
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
  for (const std::string& name : Names()) {
    EXPECT_EQ(name.find(".run.h5"), std::string::npos) << name << " is left over";
  }
}

TEST_F(ResumeTest, InterruptedItSavesEverythingAndGoesOn) {
  const std::string whole = Undisturbed();
  const pid_t child = Start(VOLTCHECK_BINARY, SweepWords("run.h5"));
  while (Finished("run.h5") < 5 && Alive(child)) {
    usleep(2000);
  }
  kill(child, SIGTERM);
  ASSERT_EQ(Wait(child), 4) << ReadText(Path("stderr.txt"));
  const nlohmann::json run = nlohmann::json::parse(Run({"inspect", "run.h5", "--json"}).out);
  EXPECT_EQ(run["complete"], false);
  EXPECT_EQ(run["attributes"]["planned"], std::to_string(kCases));
  EXPECT_EQ(run["attributes"]["cases"], std::to_string(Finished("run.h5")));
  EXPECT_GE(Finished("run.h5"), 5U);
  EXPECT_EQ(Run(With(SweepWords("run.h5"), {"--resume"})).status, 0);
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
}

TEST_F(ResumeTest, WithoutRoomItKeepsWhatItHas) {
  const std::string whole = Undisturbed();
  // 300 KB are enough for the journal and too little for the run file.
  const Outcome full = Run(SweepWords("run.h5"), "ulimit -f 300;");
  ExpectRefusal(full, 2, "cannot be written");
  EXPECT_FALSE(std::filesystem::exists(Path("run.h5")));
  EXPECT_GT(Finished("run.h5"), 0U);
  EXPECT_EQ(Run(With(SweepWords("run.h5"), {"--resume"})).status, 0);
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
}

TEST_F(ResumeTest, AnotherRunIsRefused) {
  const pid_t child = Start(VOLTCHECK_BINARY, SweepWords("run.h5"));
  while (Finished("run.h5") < 2 && Alive(child)) {
    usleep(2000);
  }
  kill(child, SIGKILL);
  Wait(child);
  ExpectRefusal(
      Run({"sweep", "--grid", "h=64;i=32;e=4;k=2;g=32;t=1", "--out", "run.h5", "--resume"}), 2,
      "was made with other arguments");
  ExpectRefusal(Run(With(SweepWords("run.h5"), {"--resume", "--schedule", "3"})), 2,
                "was made with other arguments");
  const Outcome over = Run({"sweep", "--grid", "h=64;i=32;e=4;k=2;g=32;t=1", "--out", "run.h5"});
  EXPECT_EQ(over.status, 0);
  EXPECT_NE(over.err.find("--resume would have kept them"), std::string::npos) << over.err;
}

TEST_F(ResumeTest, AJournalThatIsSomethingElseIsRefusedAndLeftAlone) {
  const std::string path = verify::JournalPath(Path("run.h5"));
  for (const std::string& bytes : {std::string("VCJRNL1\n"), std::string("VCJ"), std::string()}) {
    WriteText(path, bytes);  // its process was killed before the first case
    EXPECT_FALSE(verify::IsJournal(path)) << bytes.size();
  }
  for (const std::string& bytes :
       {std::string(64, '\0'), std::string("notes"), "VCJRNL1\n" + std::string(4096, 'x'),
        "VCJRNL1\n" + std::string(8, '\0') + std::string("\1")}) {
    WriteText(path, bytes);
    ExpectRefusal(Run(With(SweepWords("run.h5"), {"--resume"})), 2,
                  "is not the journal of an interrupted run");
    EXPECT_TRUE(ReadText(path) == bytes);
  }
}

TEST_F(ResumeTest, TheGateToo) {
  WriteText(Path("suite.txt"), "h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..8\n");
  const std::vector<std::string> words{"gate",  "--suite", "./suite.txt",
                                       "--out", "run.h5",  "--quiet"};
  ASSERT_EQ(Run(words).status, 0);
  const std::string whole = ReadText(Path("run.h5"));
  std::filesystem::remove(Path("run.h5"));
  const pid_t child = Start(VOLTCHECK_BINARY, words);
  while (Finished("run.h5") < 5 && Alive(child)) {
    usleep(2000);
  }
  kill(child, SIGKILL);
  Wait(child);
  const Outcome rest = Run(With(words, {"--resume"}));
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_TRUE(ReadText(Path("run.h5")) == whole);
}

TEST_F(ResumeTest, AReplayFromTheFileGivesTheSameBits) {
  Undisturbed();
  const Outcome all = Run({"replay", "--from", "whole.h5", "--index", "17", "--json"});
  EXPECT_EQ(all.status, 0) << all.err;
  const nlohmann::json json = nlohmann::json::parse(all.out);
  EXPECT_EQ(json["summary"]["same_bits"], true);
  EXPECT_EQ(json["summary"]["same"], 1);
  ExpectRefusal(Run({"replay", "--from", "whole.h5", "--index", "48"}), 2, "has no case 48");
  ExpectRefusal(Run({"replay", "--from", "whole.h5", "--schedule", "1"}), 2, "schedule");
  WriteText(Path("no.h5"), "no");
  ExpectRefusal(Run({"replay", "--from", "no.h5"}), 2, "no.h5");
}

}  // namespace
}  // namespace voltcheck::tools
