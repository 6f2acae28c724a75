#ifndef VOLTCHECK_TESTS_FUZZ_MEMORY_FILE_H_
#define VOLTCHECK_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "require.h"

namespace voltcheck::fuzz {

/// Bytes as a file that readers open by name, without a disk.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size)
      : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(file_ >= 0);
    while (size > 0) {
      const ssize_t written = write(file_, data, size);
      Require(written > 0);
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace voltcheck::fuzz

#endif  // VOLTCHECK_TESTS_FUZZ_MEMORY_FILE_H_
