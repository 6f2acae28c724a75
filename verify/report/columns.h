#ifndef VOLTCHECK_VERIFY_REPORT_COLUMNS_H_
#define VOLTCHECK_VERIFY_REPORT_COLUMNS_H_

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/h5.h"

namespace voltcheck::report {

/// Two numbers per dimension; the second is 1 for a column.
struct Extent {
  std::uint64_t rows = 0;
  std::uint64_t cols = 1;
};

/// Reads datasets of a file that nobody vouches for. What it follows and how much it takes is
/// bounded: hard links only, no external or virtual storage, chunks and texts of a sane size.
/// Everything that is not as it should be throws Error (status 2) naming file and dataset.
class Columns {
 public:
  /// `path` is for messages.
  Columns(hid_t file, std::string path) : file_(file), path_(std::move(path)) {}

  /// Whether the group or dataset is there; false, too, when the way to it is no hard link.
  bool Has(const std::string& name) const;
  /// The names of the hard links in a group, ascending; at most 4,096 of them.
  std::vector<std::string> Names(const std::string& group) const;
  /// Rows and columns; at most kMostRows rows and kMostCells values.
  Extent Size(const std::string& name) const;
  /// The same, and whether these are floating-point numbers.
  struct Kind {
    Extent extent;
    bool floats = false;
  };
  Kind KindOf(const std::string& name) const;

  /// Values [first, first + count) of a column, converted to T; the column must have as many.
  template <typename T>
  std::vector<T> Numbers(const std::string& name, std::uint64_t first, std::uint64_t count) const;
  template <typename T>
  std::vector<T> Numbers(const std::string& name, std::uint64_t rows) const {
    return Numbers<T>(name, 0, rows);
  }
  /// Rows [first, first + count) of a matrix, or as many as there are, row-major. `extent` is that
  /// of the whole matrix.
  template <typename T>
  std::vector<T> Matrix(const std::string& name, Extent& extent, std::uint64_t first = 0,
                        std::uint64_t count = UINT64_MAX) const;
  /// Texts [first, first + count) of a column, cleaned (text.h).
  std::vector<std::string> Texts(const std::string& name, std::uint64_t first,
                                 std::uint64_t count) const;
  std::vector<std::string> Texts(const std::string& name, std::uint64_t rows) const {
    return Texts(name, 0, rows);
  }

  /// An attribute of the root as text, cleaned; empty when there is none.
  std::string Attribute(const char* name) const;
  /// Calls for the attributes of the root that hold text or a whole number, ordered by name.
  std::vector<std::pair<std::string, std::string>> Attributes() const;

 private:
  verify::h5::Handle Open(const std::string& name) const;
  [[noreturn]] void Refuse(const std::string& name, const std::string& what) const;
  Extent SizeOf(const std::string& name, hid_t dataset) const;
  /// Throws unless the column has rows up to `end`.
  void RequireRows(const std::string& name, hid_t dataset, std::uint64_t end) const;
  void ReadNumbers(const std::string& name, hid_t dataset, hid_t type, std::uint64_t first,
                   Extent extent, void* data) const;

  hid_t file_;
  std::string path_;
};

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_COLUMNS_H_
