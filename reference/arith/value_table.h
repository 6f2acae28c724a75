#ifndef VOLTCHECK_REFERENCE_ARITH_VALUE_TABLE_H_
#define VOLTCHECK_REFERENCE_ARITH_VALUE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace voltcheck::arith {

/// Results of a table unit as bit patterns, one per input of its reduced range. For units whose
/// result is no small correction of a correctly rounded one.
class ValueTable {
 public:
  /// `compressed` is a zlib stream of the `entries` differences between neighbours (the first to
  /// 0), modulo 2^32: their low bytes, then the next ones, up to the high bytes. Throws
  /// std::runtime_error when it is not.
  ValueTable(std::span<const std::uint8_t> compressed, std::size_t entries);

  std::uint32_t operator[](std::size_t index) const { return values_[index]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::uint32_t> values_;
};

/// The measured tables, each decompressed at its first use; safe from any thread.
///
/// lg2 of 1 + i 2^-23, and of half of that.
const ValueTable& Lg2From1();
const ValueTable& Lg2FromHalf();
/// The sine of the turn i 2^-25, i < 2^23.
const ValueTable& SinQuarter();
/// High words of the fp64 units: of 1 + i 2^-20; the root's for [1, 4), 2^20 entries a binade.
const ValueTable& Rcp64();
const ValueTable& Rsqrt64();

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_VALUE_TABLE_H_
