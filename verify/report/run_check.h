#ifndef VOLTCHECK_VERIFY_REPORT_RUN_CHECK_H_
#define VOLTCHECK_VERIFY_REPORT_RUN_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "verify/report/columns.h"

namespace voltcheck::report {

/// A column with NaN where there was something to measure.
struct NanColumn {
  std::string name;  ///< "metrics/w2/own/rms"
  std::uint64_t count = 0;
  /// The first of its rows: a case's number, or the row itself in a table without cases.
  std::uint64_t first_case = 0;
};

/// "/metrics/w2/own/rms is NaN in 2 cases, first in case 7; these enter ..."
std::string NanNote(const NanColumn& nan);

/// What can be said of a run file without reading its cases.
struct RunCheck {
  std::uint64_t cases = 0;
  bool has_mutants = false;
  bool has_logit_rows = false;  ///< a file of `voltcheck logits --out`
  std::vector<NanColumn> nan_columns;
  std::vector<bool> nan_rows;  ///< of each case, whether one of its figures is NaN
};

/// Opens a file that nobody vouches for, gives it to `work`, and turns what the library says into
/// one line, Error (status 2).
verify::h5::Handle OpenRunFile(const std::string& path);
template <typename Work>
auto WithRunFile(const std::string& path, Work work) {
  try {
    return work(OpenRunFile(path));
  } catch (const verify::h5::Failure& failure) {
    throw BadInput(path, "is damaged or truncated (" + failure.reason() + ")",
                   "make it again or name another file");
  }
}

/// Throws Error (status 2) unless the root says `voltcheck.run/1`.
void RequireRunSchema(const Columns& columns, const std::string& path);

/// Reads every column of figures of an open run file. Throws Error (status 2), one line, for
/// another schema, a column of another length than its table's, and one that is NaN wherever there
/// was something to measure: nothing can be said of such a column.
RunCheck CheckRun(const Columns& columns, const std::string& path);

/// The same for a file; besides, one with neither cases nor mutants nor rows of logits is refused
/// unless `may_be_empty`. Call it in a child (verify/in_child.h).
RunCheck CheckRunFile(const std::string& path, bool may_be_empty = false);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_RUN_CHECK_H_
