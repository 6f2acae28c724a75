#ifndef VOLTCHECK_VERIFY_LOGITS_ROW_WRITER_H_
#define VOLTCHECK_VERIFY_LOGITS_ROW_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "verify/logit_figures.h"
#include "verify/run_file.h"

namespace voltcheck::logits {

/// Writes the figures of every row to a file that appears whole or not at all.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void Append(std::uint64_t row, const verify::LogitRow& figures) = 0;
  /// `complete`: every row is there.
  virtual void Finish(bool complete) = 0;
};

/// The writer that the file's ending asks for: `.csv`, `.jsonl`, or `.h5` (a run file without
/// cases, whose table `/logit_rows` holds the rows; they wait in memory, about 80 bytes each, until
/// the end). Throws Error (status 2) for another ending or a file that cannot be written.
std::unique_ptr<RowWriter> MakeRowWriter(const std::string& path,
                                         const verify::RunProvenance& provenance);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_ROW_WRITER_H_
