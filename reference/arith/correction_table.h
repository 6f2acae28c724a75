#ifndef VOLTCHECK_REFERENCE_ARITH_CORRECTION_TABLE_H_
#define VOLTCHECK_REFERENCE_ARITH_CORRECTION_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace voltcheck::arith {

/// 2^23 small integers, one per fp32 mantissa: how far a table unit is from the correctly rounded
/// result, in units of the last place. Two bits each, since only four values occur.
class CorrectionTable {
 public:
  static constexpr std::uint32_t kEntries = std::uint32_t{1} << 23;

  /// `compressed` is a zlib stream of kEntries signed bytes from `lowest` to `lowest` + 3. Throws
  /// std::runtime_error when it is not.
  explicit CorrectionTable(std::span<const std::uint8_t> compressed, std::int32_t lowest = -1);

  /// The correction of the mantissa `index` < kEntries.
  std::int32_t operator[](std::uint32_t index) const {
    return static_cast<std::int32_t>((packed_[index / 4] >> (2 * (index % 4))) & 3) + lowest_;
  }

 private:
  std::vector<std::uint8_t> packed_;
  std::int32_t lowest_;
};

/// The measured tables, each decompressed at its first use; safe from any thread.
const CorrectionTable& Ex2Corrections();
const CorrectionTable& RcpCorrections();
/// Roots have one table for mantissas in [1, 2) and one for [2, 4) (`odd` exponents).
const CorrectionTable& SqrtCorrections(bool odd);
const CorrectionTable& RsqrtCorrections(bool odd);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_CORRECTION_TABLE_H_
