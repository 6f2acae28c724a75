#include "verify/traces/line_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fixtures/case/error.h"

namespace voltcheck::traces {

namespace {
constexpr std::size_t kBufferBytes = 1 << 20;
}

bool LineFile::Fill() {
  position_ += buffer_.size();
  buffer_.resize(kBufferBytes);
  at_ = 0;
  ssize_t got = 0;
  do {
    got = pread(file_.descriptor(), buffer_.data(), buffer_.size(), static_cast<off_t>(position_));
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    throw BadInput(file_.path(), std::string("cannot be read (") + std::strerror(errno) + ")",
                   "check the disk");
  }
  buffer_.resize(static_cast<std::size_t>(got));
  return got > 0;
}

bool LineFile::Next(std::string& line) {
  while (true) {
    line.clear();
    start_ = read();
    bool ended = false;
    while (!ended && (at_ < buffer_.size() || Fill())) {
      const char* begin = buffer_.data() + at_;
      const std::size_t left = buffer_.size() - at_;
      const auto* end = static_cast<const char*>(std::memchr(begin, '\n', left));
      const std::size_t taken = end == nullptr ? left : static_cast<std::size_t>(end - begin);
      if (line.size() + taken > kLongestLine) {
        ++number_;
        throw BadInput(Where(), "is longer than 64 MiB", "write one response a line");
      }
      line.append(begin, taken);
      at_ += taken + (end == nullptr ? 0 : 1);
      ended = end != nullptr;
    }
    if (!ended && line.empty()) {
      return false;
    }
    ++number_;
    const bool blank = std::all_of(line.begin(), line.end(),
                                   [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!blank) {
      return true;
    }
  }
}

void LineFile::Seek(std::uint64_t offset, std::uint64_t number) {
  buffer_.clear();
  at_ = 0;
  position_ = offset;
  number_ = number - 1;
}

}  // namespace voltcheck::traces
