// The journal of finished cases: nothing that was appended is lost, whatever ends the process.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <random>

#include "fixtures/case/error.h"
#include "synthetic_record.h"
#include "temporary_folder.h"
#include "verify/journal/identity.h"
#include "verify/journal/record_codec.h"
#include "verify/journal/run_journal.h"

namespace voltcheck::verify {
namespace {

constexpr std::uint64_t kCases = 4000;
constexpr const char* kIdentity = "format=voltcheck.journal/1\nbinary=b\ncases=4000\n";

std::string BadInputLine(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

CaseRecord Numbered(int number) {
  CaseRecord record = SyntheticRecord(number);
  record.index = static_cast<std::uint64_t>(number);
  return record;
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Records have no operator==; equal ones give equal bytes, so those are compared.
std::string Packed(const CaseRecord& record) {
  RunProvenance provenance = SyntheticProvenance();
  const TemporaryFolder folder;
  RunFileWriter writer(folder / "one.h5", provenance);
  writer.Append(record, record.index);
  writer.Finish(true);
  return ReadBytes(folder / "one.h5");
}

TEST(RecordCodec, EverythingComesBack) {
  for (const int number : {3, 4}) {
    CaseRecord record = Numbered(number);
    record.seconds.device = 1.25;
    record.kernels = {"a", "b"};
    record.stages[1].reason = std::string("with\0zero", 9);
    record.stages[1].profile.density = {{3, 7}, {4, 1}};
    record.stages[0].first_difference.got = -0.0;
    const std::string bytes = EncodeRecord(record);
    const CaseRecord back = DecodeRecord("here", Bytes(bytes));
    EXPECT_EQ(back.descriptor, record.descriptor);
    EXPECT_EQ(back.c, record.c);
    EXPECT_EQ(back.reproduction, record.reproduction);
    EXPECT_EQ(back.kernels, record.kernels);
    EXPECT_EQ(back.seconds.device, 1.25);
    EXPECT_EQ(back.stages[1].reason, record.stages[1].reason);
    EXPECT_EQ(back.stages[1].profile, record.stages[1].profile);
    EXPECT_TRUE(std::signbit(back.stages[0].first_difference.got));
    EXPECT_TRUE(Packed(back) == Packed(record)) << "the run file shows a difference";
  }
}

TEST(RecordCodec, DamagedBytesAreRefusedInOneLine) {
  const std::string whole = EncodeRecord(Numbered(4));
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole.substr(0, i % 2 == 0 ? whole.size() : random() % whole.size());
    if (!bytes.empty()) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    }
    // A changed number is a number too; what must not happen is anything but a line.
    refused += BadInputLine([&] { DecodeRecord("here", Bytes(bytes)); }).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
}

TEST(RunJournal, ATornEndIsNoEntryAndIsCutOff) {
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  std::vector<std::size_t> ends;
  {
    RunJournal journal(out, kIdentity, kCases, false);
    for (int i = 0; i < 4; ++i) {
      journal.Append(Numbered(i));
      ends.push_back(std::filesystem::file_size(JournalPath(out)));
    }
  }
  const std::string whole = ReadBytes(JournalPath(out));
  for (std::size_t kept = ends[0]; kept <= whole.size(); kept += 7) {
    WriteBytes(JournalPath(out), whole.substr(0, kept));
    const auto entries =
        static_cast<std::uint64_t>(std::upper_bound(ends.begin(), ends.end(), kept) - ends.begin());
    RunJournal journal(out, kIdentity, kCases, true);
    ASSERT_EQ(journal.resumed(), entries) << kept << " bytes";
    ASSERT_TRUE(journal.Holds(entries - 1) && !journal.Holds(entries));
    ASSERT_EQ(journal.Read(entries - 1).descriptor,
              Numbered(static_cast<int>(entries) - 1).descriptor);
    journal.Append(Numbered(9));
    ASSERT_EQ(journal.Read(9).descriptor, Numbered(9).descriptor);
  }
  // One that died before it had written who it is starts over.
  WriteBytes(JournalPath(out), whole.substr(0, 11));
  EXPECT_EQ(RunJournal(out, kIdentity, kCases, true).resumed(), 0U);
}

TEST(RunJournal, AFlippedBitIsNoEntry) {
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  std::size_t first = 0;
  {
    RunJournal journal(out, kIdentity, kCases, false);
    journal.Append(Numbered(0));
    first = std::filesystem::file_size(JournalPath(out));
    journal.Append(Numbered(1));
  }
  std::string bytes = ReadBytes(JournalPath(out));
  for (const std::size_t at : {first + 8, first + 20, bytes.size() - 1}) {
    std::string flipped = bytes;
    flipped[at] ^= 4;
    WriteBytes(JournalPath(out), flipped);
    EXPECT_EQ(RunJournal(out, kIdentity, kCases, true).resumed(), 1U) << at;
  }
}

// A child appends and tells of each case when Append has returned; it is killed at random moments.
TEST(RunJournal, NoToldCaseIsLostWhenTheProcessIsKilled) {
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  std::mt19937 random(20261);
  std::uint64_t told = 0;
  std::uint64_t rounds = 0;
  for (bool resume = false; told < kCases && rounds < 60; resume = true, ++rounds) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunJournal journal(out, kIdentity, kCases, resume);
      for (std::uint64_t i = 0; i < kCases; ++i) {
        if (!journal.Holds(i)) {
          journal.Append(Numbered(static_cast<int>(i)));
          if (write(pipe_ends[1], &i, sizeof(i)) != sizeof(i)) {
            _exit(1);
          }
        }
      }
      _exit(0);
    }
    close(pipe_ends[1]);
    usleep(static_cast<useconds_t>(random() % 20000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::uint64_t number = 0;
    while (read(pipe_ends[0], &number, sizeof(number)) == sizeof(number)) {
      EXPECT_EQ(number, told) << "a case ran twice or was left out";
      told = number + 1;
    }
    close(pipe_ends[0]);
    if (!IsJournal(JournalPath(out))) {
      ASSERT_EQ(told, 0U);
      resume = false;
      continue;
    }
    JournalReader reader(JournalPath(out));
    JournalEntry entry;
    std::uint64_t found = 0;
    while (reader.Next(entry)) {
      ASSERT_EQ(entry.number, found++);
    }
    ASSERT_GE(found, told) << "a finished case is lost";
    ASSERT_LE(found, told + 1);
    told = found;
  }
  EXPECT_GT(rounds, 20U);
  const RunJournal journal(out, kIdentity, kCases, true);
  for (std::uint64_t i = 0; i < journal.resumed(); i += 97) {
    EXPECT_EQ(journal.Read(i).descriptor, Numbered(static_cast<int>(i)).descriptor);
  }
}

TEST(RunJournal, AFullDiskLosesNothingThatWasFinished) {
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    RunJournal journal(out, kIdentity, kCases, false);
    int next = 0;
    const std::string line = BadInputLine([&] {
      for (;; ++next) {
        journal.Append(Numbered(next));
      }
    });
    const bool right = line.find("--resume") != std::string::npos && next > 10 &&
                       journal.finished() == static_cast<std::uint64_t>(next);
    // It takes no more: later cases must not stand behind a hole.
    const bool shut = !BadInputLine([&] { journal.Append(Numbered(next)); }).empty();
    _exit(right && shut ? next % 100 : 255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 255);
  const RunJournal journal(out, kIdentity, kCases, true);
  EXPECT_EQ(journal.resumed() % 100, static_cast<std::uint64_t>(WEXITSTATUS(status)));
}

TEST(RunJournal, OneProcessAtATimeAndOnlyTheSameRun) {
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  RunJournal journal(out, kIdentity, kCases, false);
  journal.Append(Numbered(5));
  EXPECT_NE(BadInputLine([&] {
              RunJournal second(out, kIdentity, kCases, true);
            }).find("another process"),
            std::string::npos);
  RunJournal rank(out, kIdentity, kCases, true, 3);
  EXPECT_EQ(rank.resumed(), 1U);
  rank.Append(Numbered(7));
  journal.Collect(out);
  EXPECT_TRUE(journal.Holds(7));
  EXPECT_EQ(journal.Read(7).descriptor, Numbered(7).descriptor);
  const std::string other = "format=voltcheck.journal/1\nbinary=c\ncases=4000\n";
  EXPECT_NE(BadInputLine([&] {
              RunJournal third(out, other, kCases, true, 4);
            }).find("another voltcheck binary (b, not c)"),
            std::string::npos);
  journal.Remove();
  EXPECT_TRUE(JournalsBeside(out).empty());
}

}  // namespace
}  // namespace voltcheck::verify
