#ifndef VOLTCHECK_REFERENCE_ARITH_MMA_RULES_H_
#define VOLTCHECK_REFERENCE_ARITH_MMA_RULES_H_

#include <cstddef>
#include <span>

#include "reference/arith/fused_dot_add.h"

namespace voltcheck::arith {

/// How a chip's tensor core covers the K of one fp16 matrix instruction: `steps` fused sums in a
/// row, low k first, the rounded result of each being the C of the next.
struct MmaRule {
  DotAddRule sum;
  int steps = 1;
  constexpr int k() const { return sum.terms * steps; }
};

inline constexpr MmaRule kSm70M8n8k4{kV100DotAdd, 1};
inline constexpr MmaRule kSm75M8n8k4{kSm75DotAdd, 1};
inline constexpr MmaRule kSm75M16n8k8{{8, 24}, 1};
/// sm_80 and sm_89. Their m8n8k4 is no tensor-core instruction: see SoftwareDotAdd.
inline constexpr MmaRule kSm80M16n8k8{{8, 24}, 1};
inline constexpr MmaRule kSm80M16n8k16{{8, 24}, 2};
inline constexpr MmaRule kSm90M16n8k8{{8, 25}, 1};
inline constexpr MmaRule kSm90M16n8k16{kSm90WmmaDotAdd, 1};

/// One output of the instruction, fp32 accumulator. `a` and `b` hold rule.k() elements, k
/// ascending. (How an fp16 accumulator is rounded between two steps is not known, so there is no
/// such form.)
inline float MmaDotAdd(const MmaRule& rule, std::span<const HalfBits> a,
                       std::span<const HalfBits> b, float c) {
  const auto terms = static_cast<std::size_t>(rule.sum.terms);
  for (std::size_t k = 0; k < a.size(); k += terms) {
    c = FusedDotAdd(rule.sum, a.subspan(k, terms), b.subspan(k, terms), c);
  }
  return c;
}

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_MMA_RULES_H_
