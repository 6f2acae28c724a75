#ifndef VOLTCHECK_VERIFY_REPORT_READ_TABLES_H_
#define VOLTCHECK_VERIFY_REPORT_READ_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/report/columns.h"
#include "verify/report/run_data.h"

namespace voltcheck::report {

/// What a run file may hold beside the columns with one row per case. Each reads its table into
/// `run`, or nothing where the file has none, and throws Error (status 2) for one that is not as it
/// should be.
void ReadFindings(const Columns& columns, std::size_t most, RunData& run);
void ReadProperties(const Columns& columns, const std::string& path, RunData& run);
void ReadMutants(const Columns& columns, RunData& run);
/// The values around the worst elements of the `most` gravest cases that kept any.
void ReadWindows(const Columns& columns, const std::string& path, std::size_t most, RunData& run);
/// A group of `/totals/STAGE`: its `scale`, max_use and max_abs.
std::vector<verify::PartMaximum> ReadMaxima(const Columns& columns, const std::string& base,
                                            const std::string& scale);

/// Throws Error (status 2) that names file and column when `text` is no verdict.
verify::Verdict ParseVerdict(const std::string& path, const std::string& column,
                             const std::string& text);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_READ_TABLES_H_
