#ifndef VOLTCHECK_VERIFY_LOGITS_CAPTURE_H_
#define VOLTCHECK_VERIFY_LOGITS_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/logits/fast_row.h"

namespace voltcheck::logits {

/// Logits [rows, vocabulary] of one side, as they lie in a file that is mapped, or in memory.
struct Capture {
  std::string name;  ///< file, for messages
  Type type = Type::kF16;
  std::uint64_t rows = 0;
  std::uint64_t vocabulary = 0;
  std::span<const std::byte> bytes;   ///< rows * vocabulary values, row after row
  std::shared_ptr<const void> owner;  ///< keeps `bytes` alive
  bool mapped = false;                ///< pages of a file, which may be given back once read

  RowView row(std::uint64_t r) const {
    return {bytes.data() + r * vocabulary * BytesOf(type), type};
  }
};

/// Makes a capture of an array of any rank: the last dimension is the vocabulary, all before it
/// are rows. Throws Error (status 2) naming `name` for an empty array, a row longer than 2^31 - 1,
/// or `bytes` of another size.
Capture MakeCapture(const std::string& name, Type type, std::span<const std::uint64_t> shape,
                    std::span<const std::byte> bytes);

/// A dataset of a fixture or run file, or of any HDF5 file: float16 or float32. `path` inside the
/// file; empty: the captured logits of a fixture, or the only logits that a run file keeps. A
/// dataset that lies in one piece is mapped whatever its size; a chunked one is read into memory,
/// up to 1 GiB. The library opens the file in a child process. Throws Error (status 2).
Capture OpenHdf5Capture(const std::string& file, const std::string& path);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_CAPTURE_H_
