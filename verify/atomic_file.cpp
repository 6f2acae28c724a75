#include "verify/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

constexpr int kFileMode = 0666;  // the umask takes away what the user does not want

Error CannotWrite(const std::string& path, int error) {
  return BadInput(path, std::string("cannot be written (") + std::strerror(error) + ")",
                  "name a file in a folder that can be written and has room");
}

// 0, or what went wrong.
int SyncPath(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path final_path(path_);
  const std::string name = final_path.filename().string();
  std::error_code ignored;
  if (name.empty() || std::filesystem::is_directory(final_path, ignored)) {
    throw CannotWrite(path_, EISDIR);
  }
  if (access(path_.c_str(), F_OK) == 0 && !std::filesystem::is_regular_file(final_path, ignored)) {
    throw BadInput(path_, "is no regular file", "name a file in a folder");
  }
  temporary_ =
      (final_path.parent_path() / ("." + name + ".tmp-" + std::to_string(getpid()))).string();
  const int fd = open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  if (fd < 0) {
    throw CannotWrite(path_, errno);
  }
  close(fd);
}

AtomicFile::~AtomicFile() {
  if (!committed_) {
    unlink(temporary_.c_str());
  }
}

void AtomicFile::Commit() {
  if (const int error = SyncPath(temporary_, O_RDWR); error != 0) {
    throw CannotWrite(path_, error);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw CannotWrite(path_, errno);
  }
  committed_ = true;
  // The rename itself is durable once the folder is; a folder that cannot be synced is no failure.
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  SyncPath(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

}  // namespace voltcheck::verify
