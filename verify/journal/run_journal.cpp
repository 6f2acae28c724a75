#include "verify/journal/run_journal.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fixtures/case/error.h"
#include "verify/journal/identity.h"
#include "verify/journal/record_codec.h"

namespace voltcheck::verify {
namespace {

namespace fs = std::filesystem;

// A place is the reader's number above this many bits of the entry's offset. No journal starts with
// an entry, so no place is 0.
constexpr int kOffsetBits = 48;
constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;

}  // namespace

std::string JournalPath(const std::string& out, int rank) {
  const fs::path target(out);
  const std::string name =
      "." + target.filename().string() + ".journal" + (rank == 0 ? "" : "-" + std::to_string(rank));
  return (target.parent_path() / name).string();
}

std::vector<std::string> JournalsBeside(const std::string& out) {
  const fs::path first(JournalPath(out));
  const fs::path folder = first.parent_path().empty() ? fs::path(".") : first.parent_path();
  const std::string name = first.filename().string();
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::string other = file.path().filename().string();
    const bool is_rank = other.starts_with(name + "-") && other.size() > name.size() + 1 &&
                         other.find_first_not_of("0123456789", name.size() + 1) == other.npos;
    if (other == name || is_rank) {
      found.push_back((first.parent_path() / other).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

RunJournal::RunJournal(const std::string& out, const std::string& identity, std::uint64_t cases,
                       bool resume, int rank)
    : out_(out), identity_(identity), rank_(rank), places_(cases, 0) {
  const std::string own = JournalPath(out, rank);
  const auto check = [&](const JournalReader& reader) {
    const std::string difference = IdentityDifference(reader.identity(), identity);
    if (!difference.empty()) {
      throw BadInput(reader.path(), difference,
                     "give the arguments of that run, or leave out --resume to start over");
    }
  };
  const std::vector<std::string> beside = JournalsBeside(out);
  const bool has_own =
      resume && IsJournal(own) && std::find(beside.begin(), beside.end(), own) != beside.end();
  if (has_own) {
    check(JournalReader(own));
  }
  writer_ = std::make_unique<JournalWriter>(own, identity, has_own);
  readers_.emplace_back(own);
  Scan(0);
  for (const std::string& path : beside) {
    if (path == own) {
      continue;
    }
    if (!resume && rank == 0) {
      fs::remove(path);
    } else if (resume && IsJournal(path)) {
      JournalReader reader(path);
      check(reader);
      AddReader(std::move(reader));
    }
  }
  resumed_ = finished_;
}

RunJournal::RunJournal(const std::vector<Part>& parts, const std::string& identity,
                       std::uint64_t cases)
    : identity_(identity), places_(cases, 0) {
  for (const Part& part : parts) {
    AddReader(JournalReader(part.path, part.offset, part.length));
  }
}

RunJournal::~RunJournal() {
  if (writer_ && finished_ == 0) {
    writer_->Remove();
  }
}

void RunJournal::AddReader(JournalReader reader) {
  readers_.push_back(std::move(reader));
  Scan(readers_.size() - 1);
}

void RunJournal::Scan(std::size_t reader) {
  JournalEntry entry;
  while (readers_[reader].Next(entry)) {
    Note(reader, entry);
  }
}

void RunJournal::Note(std::size_t reader, const JournalEntry& entry) {
  if (entry.number >= places_.size()) {
    throw BadInput(readers_[reader].path(),
                   "holds case " + std::to_string(entry.number) + " of a run of " +
                       std::to_string(places_.size()) + " cases",
                   "run without --resume to start over");
  }
  std::uint64_t& place = places_[entry.number];
  if (place == 0) {
    place = static_cast<std::uint64_t>(reader) << kOffsetBits | entry.offset;
    ++finished_;
  }
}

const std::string& RunJournal::PathOf(std::uint64_t number) const {
  return readers_[places_[number] >> kOffsetBits].path();
}

void RunJournal::Append(const CaseRecord& record) {
  const std::uint64_t offset = writer_->Append(record.index, EncodeRecord(record));
  const std::scoped_lock lock(mutex_);
  Note(0, {record.index, offset});
}

CaseRecord RunJournal::Read(std::uint64_t number) const {
  const std::uint64_t place = places_[number];
  const JournalReader& reader = readers_[place >> kOffsetBits];
  CaseRecord record = DecodeRecord(reader.path(), reader.Read(place & kOffsetMask));
  record.index = number;
  return record;
}

void RunJournal::Collect(const std::string& out) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 1; i < readers_.size(); ++i) {  // its own file has nothing new
    Scan(i);
  }
  for (const std::string& path : JournalsBeside(out)) {
    const bool known = std::any_of(readers_.begin(), readers_.end(),
                                   [&](const JournalReader& r) { return r.path() == path; });
    if (!known && IsJournal(path)) {
      JournalReader reader(path);
      const std::string difference = IdentityDifference(reader.identity(), identity_);
      if (!difference.empty()) {
        throw BadInput(path, difference, "start every rank from the same files");
      }
      AddReader(std::move(reader));
    }
  }
}

void RunJournal::Remove() {
  writer_->Remove();
  if (rank_ == 0) {
    std::error_code ignored;
    for (const std::string& path : JournalsBeside(out_)) {
      fs::remove(path, ignored);
    }
  }
}

std::string RunJournal::Synced() {
  writer_->Sync();
  return writer_->path();
}

}  // namespace voltcheck::verify
