#include "verify/logits/capture.h"

#include <limits>

#include "fixtures/case/error.h"

namespace voltcheck::logits {

Capture MakeCapture(const std::string& name, Type type, std::span<const std::uint64_t> shape,
                    std::span<const std::byte> bytes) {
  Capture capture;
  capture.name = name;
  capture.type = type;
  capture.bytes = bytes;
  if (shape.empty()) {
    throw BadInput(name, "holds one number, not rows of logits", "capture [rows, vocabulary]");
  }
  capture.vocabulary = shape.back();
  capture.rows = 1;
  bool fits = true;
  for (const std::uint64_t size : shape.first(shape.size() - 1)) {
    fits = fits && !__builtin_mul_overflow(capture.rows, size, &capture.rows);
  }
  std::uint64_t values = 0;
  std::uint64_t total = 0;
  fits = fits && !__builtin_mul_overflow(capture.rows, capture.vocabulary, &values) &&
         !__builtin_mul_overflow(values, BytesOf(type), &total) && total == bytes.size();
  if (!fits) {
    throw BadInput(name, "has a shape that does not fit its size", "capture it again");
  }
  if (values == 0) {
    throw BadInput(name, "holds no logits", "capture at least one row");
  }
  if (capture.vocabulary > std::numeric_limits<int>::max()) {
    throw BadInput(name, "has rows of " + std::to_string(capture.vocabulary) + " logits",
                   "the last dimension is the vocabulary");
  }
  return capture;
}

}  // namespace voltcheck::logits
