#include "verify/journal/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

constexpr std::string_view kMagic = "VCJRNL1\n";
constexpr std::uint32_t kMostIdentity = 1U << 20;
constexpr std::uint32_t kMostEntry = 1U << 30;
constexpr std::uint64_t kEntriesPerSync = 4096;
constexpr mode_t kMode = 0666;  // less what the umask takes away

struct EntryHead {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(EntryHead) == 16);

std::uint32_t Checksum(std::uint64_t number, std::string_view bytes) {
  const auto* head = reinterpret_cast<const Bytef*>(&number);
  uLong sum = crc32(crc32(0, nullptr, 0), head, sizeof(number));
  sum = crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return static_cast<std::uint32_t>(sum);
}

std::string_view AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Head(std::uint64_t number, std::string_view bytes) {
  const EntryHead head{static_cast<std::uint32_t>(bytes.size()), Checksum(number, bytes), number};
  return {reinterpret_cast<const char*>(&head), sizeof(head)};
}

Error CannotWrite(const std::string& path, int error) {
  return BadInput(path, std::string("cannot be written: ") + std::strerror(error),
                  "make room and run the same command with --resume: finished cases are kept");
}

Error NoJournal(const std::string& path) {
  return BadInput(path, "holds no journal of finished cases", "name a shard's run file");
}

}  // namespace

JournalReader::JournalReader(const std::string& path, std::uint64_t offset, std::uint64_t length)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) {
    throw BadInput(path, std::string("cannot be read (") + std::strerror(errno) + ")",
                   "name a file that exists");
  }
  limit_ = length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
  std::array<char, kMagic.size()> magic{};
  std::array<std::uint32_t, 2> head{};
  next_ = offset + magic.size() + sizeof(head);
  bool whole = ReadAt(offset, magic.data(), magic.size()) &&
               std::string_view(magic.data(), magic.size()) == kMagic &&
               ReadAt(offset + magic.size(), head.data(), sizeof(head)) && head[0] <= kMostIdentity;
  if (whole) {
    identity_.resize(head[0]);
    whole = ReadAt(next_, identity_.data(), identity_.size()) && Checksum(0, identity_) == head[1];
    next_ += head[0];
  }
  if (!whole) {
    close(file_);
    throw NoJournal(path);
  }
}

JournalReader::JournalReader(JournalReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      limit_(other.limit_),
      next_(other.next_),
      identity_(std::move(other.identity_)),
      buffer_(std::move(other.buffer_)) {}

JournalReader::~JournalReader() {
  if (file_ >= 0) {
    close(file_);
  }
}

bool JournalReader::ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (offset > limit_ || bytes > limit_ - offset) {
    return false;
  }
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(file_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw BadInput(path_, std::string("cannot be read (") + std::strerror(errno) + ")",
                     "check the disk");
    }
    if (got == 0) {
      return false;
    }
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool JournalReader::Next(JournalEntry& entry) {
  EntryHead head;
  if (!ReadAt(next_, &head, sizeof(head)) || head.length > kMostEntry) {
    return false;
  }
  // A torn head must not ask for a gigabyte.
  struct stat status = {};
  if (fstat(file_, &status) != 0 ||
      next_ + sizeof(head) + head.length > static_cast<std::uint64_t>(status.st_size)) {
    return false;
  }
  buffer_.resize(head.length);
  if (!ReadAt(next_ + sizeof(head), buffer_.data(), buffer_.size()) ||
      Checksum(head.number, AsText(buffer_)) != head.checksum) {
    return false;
  }
  entry = {head.number, next_ + sizeof(head)};
  next_ += sizeof(head) + head.length;
  return true;
}

std::vector<std::byte> JournalReader::Read(std::uint64_t offset) const {
  EntryHead head;
  std::vector<std::byte> bytes;
  if (ReadAt(offset - sizeof(head), &head, sizeof(head)) && head.length <= kMostEntry) {
    bytes.resize(head.length);
    if (ReadAt(offset, bytes.data(), bytes.size())) {
      return bytes;
    }
  }
  throw BadInput(path_, "has become shorter while it was read", "run the same command again");
}

JournalWriter::JournalWriter(std::string path, std::string_view identity, bool keep)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kMode)) {
  if (file_ < 0) {
    throw CannotWrite(path_, errno);
  }
  try {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      throw BadInput(path_, "is being written by another process",
                     "wait for it, or name another --out");
    }
    if (keep) {
      JournalReader reader(path_);
      JournalEntry entry;
      while (reader.Next(entry)) {
      }
      size_ = reader.end();
    }
    if (ftruncate(file_, static_cast<off_t>(size_)) != 0) {
      throw CannotWrite(path_, errno);
    }
    if (!keep) {
      const std::array<std::uint32_t, 2> head{static_cast<std::uint32_t>(identity.size()),
                                              Checksum(0, identity)};
      WriteAll(std::string(kMagic) +
               std::string(reinterpret_cast<const char*>(head.data()), sizeof(head)) +
               std::string(identity));
    }
  } catch (...) {
    close(file_);
    throw;
  }
}

JournalWriter::~JournalWriter() { close(file_); }

void JournalWriter::WriteAll(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written =
        pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      const int error = errno;
      broken_ = true;
      // The next process would cut the torn entry off as well; this gives its room back now.
      if (ftruncate(file_, static_cast<off_t>(size_)) != 0) {
        throw CannotWrite(path_, error);
      }
      throw CannotWrite(path_, error);
    }
    done += static_cast<std::size_t>(written);
  }
  size_ += bytes.size();
}

std::uint64_t JournalWriter::Append(std::uint64_t number, std::string_view bytes) {
  const std::string head = Head(number, bytes);
  const std::scoped_lock lock(mutex_);
  if (broken_) {
    throw CannotWrite(path_, ENOSPC);
  }
  const std::uint64_t offset = size_ + head.size();
  WriteAll(head + std::string(bytes));
  if (++unsynced_ == kEntriesPerSync) {
    unsynced_ = 0;
    if (fdatasync(file_) != 0) {
      throw CannotWrite(path_, errno);
    }
  }
  return offset;
}

void JournalWriter::Sync() {
  const std::scoped_lock lock(mutex_);
  if (fdatasync(file_) != 0) {
    throw CannotWrite(path_, errno);
  }
}

void JournalWriter::Remove() { unlink(path_.c_str()); }

bool IsJournal(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kMagic.size() + 2 * sizeof(std::uint32_t), '\0');
  if (!file || !file.read(start.data(), static_cast<std::streamsize>(start.size()))) {
    start.resize(static_cast<std::size_t>(file.gcount()));
    if (start.substr(0, kMagic.size()) == kMagic.substr(0, start.size())) {
      return false;  // its process died before this much was written
    }
  }
  if (start.starts_with(kMagic)) {
    std::uint32_t identity = 0;
    std::memcpy(&identity, start.data() + kMagic.size(), sizeof(identity));
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(path, failed);
    if (!failed && bytes < start.size() + identity && identity <= kMostIdentity) {
      return false;
    }
  }
  try {
    const JournalReader reader(path);
    return true;
  } catch (const Error&) {
    throw BadInput(path, "is not the journal of an interrupted run",
                   "leave out --resume to start over");
  }
}

}  // namespace voltcheck::verify
