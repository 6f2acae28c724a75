#ifndef VOLTCHECK_VERIFY_ATOMIC_FILE_H_
#define VOLTCHECK_VERIFY_ATOMIC_FILE_H_

#include <string>

namespace voltcheck::verify {

/// A file that appears under its final name whole or not at all: it is written as `.NAME.tmp-PID`
/// in the same folder, synced and renamed. What stood under the final name stays until then.
class AtomicFile {
 public:
  /// Creates the empty temporary file. Throws Error (status 2) when the folder cannot be written or
  /// `path` is a folder.
  explicit AtomicFile(std::string path);
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& temporary() const { return temporary_; }
  /// Syncs and renames. Throws Error (status 2), which leaves the old file.
  void Commit();

 private:
  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_ATOMIC_FILE_H_
