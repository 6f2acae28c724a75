#ifndef VOLTCHECK_VERIFY_RUN_READER_H_
#define VOLTCHECK_VERIFY_RUN_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verify/sweep.h"

namespace voltcheck::verify {

/// What a run file says about itself.
struct RunOverview {
  std::vector<std::pair<std::string, std::string>> attributes;  ///< of the root, ordered by name
  Summary summary;                                              ///< from /cases/verdict
  bool complete = false;
  std::vector<std::pair<std::string, std::string>> datasets;  ///< path, "float32 [100, 18]"
};

/// Whether the file starts as an HDF5 file does. Throws Error (status 2) when it cannot be read.
bool IsHdf5(const std::string& path);

/// The root attribute `schema` of an HDF5 file, empty when it has none. Throws Error (status 2) for
/// a file that the library cannot open.
std::string ReadSchema(const std::string& path);

/// Throws Error (status 2) for a file that is truncated, or no `voltcheck.run/1`.
RunOverview ReadRunOverview(const std::string& path);

/// An open run file, read column by column, a stretch of rows at a time. Paths are as in
/// docs/run-file.md, "/cases/descriptor". Every call throws Error (status 2) for what is not there,
/// is not of that kind, or cannot be read. A file from outside is read inside InChild
/// (verify/in_child.h).
class RunReader {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  /// Throws Error (status 2) for a file that is truncated, or no `voltcheck.run/1`.
  explicit RunReader(const std::string& path);
  ~RunReader();
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;

  /// An attribute of the root, or of the object at `path`, as text, whatever its kind; empty when
  /// there is none of that name.
  std::string Attribute(const std::string& name, const std::string& path = "/") const;
  /// Where in the file the contents of a dataset lie that are stored in one piece, uncompressed.
  std::uint64_t Offset(const std::string& dataset) const;
  /// Rows of /case.
  std::uint64_t cases() const;
  /// Whether there is a dataset or group of that path.
  bool Has(const std::string& path) const;
  /// The names in a group, ascending; numbers ("/failures") as text.
  std::vector<std::string> Names(const std::string& group) const;
  /// The dataset's extent, [rows] or [rows, columns].
  std::vector<std::uint64_t> Extent(const std::string& dataset) const;

  /// Rows [first, first + count) or as many as there are. Text of fixed or of variable length.
  std::vector<std::string> Texts(const std::string& dataset, std::uint64_t first = 0,
                                 std::uint64_t count = kAll) const;
  /// Numbers of any stored type (float16 too), all columns of each row, row-major.
  std::vector<double> Numbers(const std::string& dataset, std::uint64_t first = 0,
                              std::uint64_t count = kAll) const;
  /// The same for whole numbers, exactly; a float column throws.
  std::vector<std::int64_t> Integers(const std::string& dataset, std::uint64_t first = 0,
                                     std::uint64_t count = kAll) const;
  std::vector<std::uint64_t> Counts(const std::string& dataset, std::uint64_t first = 0,
                                    std::uint64_t count = kAll) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RUN_READER_H_
