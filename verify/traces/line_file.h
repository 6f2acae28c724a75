#ifndef VOLTCHECK_VERIFY_TRACES_LINE_FILE_H_
#define VOLTCHECK_VERIFY_TRACES_LINE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/mapped_file.h"

namespace voltcheck::traces {

/// A text file read line by line, forwards or from a place that it was at before. A line longer
/// than kLongestLine is an Error (status 2) that names it, so a file costs no more memory than
/// that.
class LineFile {
 public:
  static constexpr std::uint64_t kLongestLine = std::uint64_t{64} << 20;

  explicit LineFile(const std::string& path) : file_(path) {}

  /// The next line that is not blank, without its end; false at the end of the file.
  bool Next(std::string& line);
  std::uint64_t number() const { return number_; }  ///< of the line that Next gave, from 1
  std::uint64_t offset() const { return start_; }   ///< where it begins
  std::uint64_t read() const { return position_ + at_; }
  std::uint64_t size() const { return file_.size(); }
  /// "FILE:LINE".
  std::string Where() const { return file_.path() + ":" + std::to_string(number_); }
  /// Goes to a line that begins at `offset` and has this number.
  void Seek(std::uint64_t offset, std::uint64_t number);

 private:
  bool Fill();

  fixtures::InputFile file_;
  std::vector<char> buffer_;
  std::uint64_t position_ = 0;  // of the buffer's beginning in the file
  std::size_t at_ = 0;          // of the next byte in the buffer
  std::uint64_t number_ = 0;
  std::uint64_t start_ = 0;
};

}  // namespace voltcheck::traces

#endif  // VOLTCHECK_VERIFY_TRACES_LINE_FILE_H_
