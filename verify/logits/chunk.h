#ifndef VOLTCHECK_VERIFY_LOGITS_CHUNK_H_
#define VOLTCHECK_VERIFY_LOGITS_CHUNK_H_

#include <cstddef>
#include <cstdint>

#include "verify/logits/fast_row.h"

// What one chunk of a row gives its row; chunk-inl.h computes it in vectors.
namespace voltcheck::logits {

/// log2(e) as a float. Powers of e are powers of two of x times it, so x counts kExponentScale
/// times: softmax is that of logits larger by 1.3e-8 of themselves, on both sides.
inline constexpr float kLog2E = 1.44269504F;
inline constexpr double kExponentScale = static_cast<double>(kLog2E) * 0.69314718055994530942;

/// How far other lies from base in a chunk, which decides how exp(d) - 1 - d is summed.
enum class Reach {
  kNear,    ///< every |d| at most 1/16: a short series
  kMiddle,  ///< any d: a series up to 1/2, a difference of exponentials beyond
  kFar,     ///< the sums of both exponentials apart; for |d| near 1 and above
};

/// Powers are summed relative to powers of two, d relative to a shift.
struct ChunkScale {
  int base_exponent = 0;
  int other_exponent = 0;
  float shift = 0;
};

/// Of one chunk. With e = exp(base) / 2^base_exponent and d = (other - base) - shift, `weight` is
/// the sum of e, `moved` of e d, `last` of e (exp(d) - 1 - d); with Reach::kFar, `last` is the sum
/// of exp(other) / 2^other_exponent.
struct ChunkFigures {
  float base_largest = 0;
  float other_largest = 0;
  float lowest = 0;   ///< of other - base
  float highest = 0;  ///< of other - base
  std::uint64_t differing = 0;
  double sum = 0;      ///< of other - base
  double squares = 0;  ///< of other - base; not finite when a value is not
  double weight = 0;
  double moved = 0;
  double last = 0;
};

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_CHUNK_H_
