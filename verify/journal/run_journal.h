#ifndef VOLTCHECK_VERIFY_JOURNAL_RUN_JOURNAL_H_
#define VOLTCHECK_VERIFY_JOURNAL_RUN_JOURNAL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "verify/journal/journal_file.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Beside the run file DIR/NAME: "DIR/.NAME.journal", of rank R > 0 "DIR/.NAME.journal-R".
std::string JournalPath(const std::string& out, int rank = 0);

/// The journals that lie beside a run file, of all ranks.
std::vector<std::string> JournalsBeside(const std::string& out);

/// The finished cases of one run, on disk from the moment they are finished, in one journal for
/// each process that works on the run. Memory is eight bytes for each case.
class RunJournal {
 public:
  /// Opens this rank's journal beside `out` for appending. With `resume`, what lies there counts as
  /// finished and must be of the run that `identity` (verify/journal/identity.h) names; Error
  /// (status 2) says how it differs. Without, rank 0 starts over and removes the journals that are
  /// there. `cases` is the number of cases in the whole run.
  RunJournal(const std::string& out, const std::string& identity, std::uint64_t cases, bool resume,
             int rank = 0);
  /// The same for reading alone: the finished cases of journals that stand in files at an offset.
  struct Part {
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  RunJournal(const std::vector<Part>& parts, const std::string& identity, std::uint64_t cases);
  /// Removes the file when it holds no case.
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  /// Finished cases that an earlier process of the run left.
  std::uint64_t resumed() const { return resumed_; }
  std::uint64_t finished() const { return finished_; }
  bool Holds(std::uint64_t number) const { return places_[number] != 0; }
  /// In which part a case was found; for messages.
  const std::string& PathOf(std::uint64_t number) const;
  /// Thread-safe. The case survives once it returns. Throws Error (status 2) on a full disk.
  void Append(const CaseRecord& record);
  /// The record of a case that the journal holds.
  CaseRecord Read(std::uint64_t number) const;
  /// Looks for what other ranks have finished.
  void Collect(const std::string& out);
  /// Removes this rank's file, and on rank 0 those of all ranks: the run file has everything.
  void Remove();
  /// The file that this process appends to, after waiting for the disk.
  std::string Synced();

 private:
  void Scan(std::size_t reader);
  void Note(std::size_t reader, const JournalEntry& entry);
  void AddReader(JournalReader reader);

  std::string out_;
  std::string identity_;
  int rank_ = 0;
  std::unique_ptr<JournalWriter> writer_;
  std::vector<JournalReader> readers_;  ///< the writer's own file first
  std::mutex mutex_;
  std::vector<std::uint64_t> places_;  ///< by case: reader and offset of its entry, 0 for none
  std::uint64_t finished_ = 0;
  std::uint64_t resumed_ = 0;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JOURNAL_RUN_JOURNAL_H_
