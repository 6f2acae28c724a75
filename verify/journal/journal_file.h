#ifndef VOLTCHECK_VERIFY_JOURNAL_JOURNAL_FILE_H_
#define VOLTCHECK_VERIFY_JOURNAL_JOURNAL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace voltcheck::verify {

/// A journal is a file of entries, each a case's number and its record as bytes, appended in the
/// order in which cases finish:
///
///     "VCJRNL1\n"  u32 length, u32 crc, identity text            once
///     u32 length, u32 crc, u64 case, bytes                       for each entry
///
/// Numbers are little-endian; a checksum (CRC-32) covers the case's number and the bytes. An entry
/// is one write, so whatever ends the process leaves whole entries and at most one torn one at the
/// end, which is no entry.

/// An entry that was found.
struct JournalEntry {
  std::uint64_t number = 0;  ///< of the case
  std::uint64_t offset = 0;  ///< where its bytes lie, from the start of the file
};

/// A journal, or a part of a larger file that holds one, for reading.
class JournalReader {
 public:
  /// Opens `path` and looks for a journal at `offset`, `length` bytes long at most. Throws Error
  /// (status 2) when there is none or the file cannot be read.
  explicit JournalReader(const std::string& path, std::uint64_t offset = 0,
                         std::uint64_t length = UINT64_MAX);
  ~JournalReader();
  JournalReader(JournalReader&& other) noexcept;
  JournalReader& operator=(JournalReader&&) = delete;
  JournalReader(const JournalReader&) = delete;
  JournalReader& operator=(const JournalReader&) = delete;

  const std::string& path() const { return path_; }
  const std::string& identity() const { return identity_; }
  /// The next whole entry after those found so far, in the order of the file; false at the end or
  /// before a torn one. May be asked again when the file has grown.
  bool Next(JournalEntry& entry);
  /// First byte after the last whole entry.
  std::uint64_t end() const { return next_; }
  /// The bytes of the entry at this JournalEntry::offset.
  std::vector<std::byte> Read(std::uint64_t offset) const;

 private:
  bool ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const;

  std::string path_;
  int file_ = -1;
  std::uint64_t limit_ = 0;
  std::uint64_t next_ = 0;
  std::string identity_;
  std::vector<std::byte> buffer_;
};

/// A journal for appending. Only one process at a time can have a journal open for that.
class JournalWriter {
 public:
  /// Opens or makes the file. With `keep`, entries of an earlier process stay and a torn end is cut
  /// off; its identity must be `identity` already. Without, it starts empty. Throws Error (status
  /// 2) when it cannot be written or another process writes it.
  JournalWriter(std::string path, std::string_view identity, bool keep);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  const std::string& path() const { return path_; }
  /// Thread-safe; gives the offset of the bytes. When it returns the entry survives the end of the
  /// process, however sudden; now and then it also waits for the disk. A full disk throws Error
  /// (status 2) and leaves all whole entries; the writer takes no more after that.
  std::uint64_t Append(std::uint64_t number, std::string_view bytes);
  /// Waits for the disk. Throws Error (status 2).
  void Sync();
  /// Removes the file.
  void Remove();

 private:
  void WriteAll(std::string_view bytes);

  std::string path_;
  int file_ = -1;
  std::mutex mutex_;
  std::uint64_t size_ = 0;
  std::uint64_t unsynced_ = 0;
  bool broken_ = false;
};

/// Whether the file starts as a journal does, its identity included; false where there is none, and
/// where its process died before it had written that. Throws Error (status 2) for a file that is
/// something else, since its finished cases, if any, would be lost without a word.
bool IsJournal(const std::string& path);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JOURNAL_JOURNAL_FILE_H_
