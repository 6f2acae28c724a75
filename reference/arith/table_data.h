#ifndef VOLTCHECK_REFERENCE_ARITH_TABLE_DATA_H_
#define VOLTCHECK_REFERENCE_ARITH_TABLE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace voltcheck::arith {

/// A measured table as it is stored: one zlib stream (tables/README.md).
enum class StoredTable : std::uint8_t {
  kEx2,
  kRcp,
  kSqrtFrom1,
  kSqrtFrom2,
  kRsqrtFrom1,
  kRsqrtFrom2,
  kLg2From1,
  kLg2FromHalf,
  kSinQuarter,
  kRcp64,
  kRsqrt64,
};
std::span<const std::uint8_t> StoredBytes(StoredTable table);

/// The `size` bytes that the zlib stream holds. Throws std::runtime_error when they are not as
/// many.
std::vector<std::uint8_t> Inflate(std::span<const std::uint8_t> compressed, std::size_t size);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_TABLE_DATA_H_
