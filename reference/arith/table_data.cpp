#include "reference/arith/table_data.h"

#include <zlib.h>

#include <stdexcept>
#include <string>

// Defined in tables.S.
#define VOLTCHECK_DECLARE_TABLE(name)                   \
  extern const std::uint8_t voltcheck_##name##_begin[]; \
  extern const std::uint8_t voltcheck_##name##_end[];
#define VOLTCHECK_TABLE_SPAN(name) \
  { voltcheck_##name##_begin, voltcheck_##name##_end }

extern "C" {
VOLTCHECK_DECLARE_TABLE(ex2)
VOLTCHECK_DECLARE_TABLE(rcp)
VOLTCHECK_DECLARE_TABLE(sqrt_from_1)
VOLTCHECK_DECLARE_TABLE(sqrt_from_2)
VOLTCHECK_DECLARE_TABLE(rsqrt_from_1)
VOLTCHECK_DECLARE_TABLE(rsqrt_from_2)
VOLTCHECK_DECLARE_TABLE(lg2_from_1)
VOLTCHECK_DECLARE_TABLE(lg2_from_half)
VOLTCHECK_DECLARE_TABLE(sin_quarter)
VOLTCHECK_DECLARE_TABLE(rcp64)
VOLTCHECK_DECLARE_TABLE(rsqrt64)
}

namespace voltcheck::arith {

std::span<const std::uint8_t> StoredBytes(StoredTable table) {
  switch (table) {
    case StoredTable::kEx2:
      return VOLTCHECK_TABLE_SPAN(ex2);
    case StoredTable::kRcp:
      return VOLTCHECK_TABLE_SPAN(rcp);
    case StoredTable::kSqrtFrom1:
      return VOLTCHECK_TABLE_SPAN(sqrt_from_1);
    case StoredTable::kSqrtFrom2:
      return VOLTCHECK_TABLE_SPAN(sqrt_from_2);
    case StoredTable::kRsqrtFrom1:
      return VOLTCHECK_TABLE_SPAN(rsqrt_from_1);
    case StoredTable::kRsqrtFrom2:
      return VOLTCHECK_TABLE_SPAN(rsqrt_from_2);
    case StoredTable::kLg2From1:
      return VOLTCHECK_TABLE_SPAN(lg2_from_1);
    case StoredTable::kLg2FromHalf:
      return VOLTCHECK_TABLE_SPAN(lg2_from_half);
    case StoredTable::kSinQuarter:
      return VOLTCHECK_TABLE_SPAN(sin_quarter);
    case StoredTable::kRcp64:
      return VOLTCHECK_TABLE_SPAN(rcp64);
    default:
      return VOLTCHECK_TABLE_SPAN(rsqrt64);
  }
}

std::vector<std::uint8_t> Inflate(std::span<const std::uint8_t> compressed, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  uLongf got = static_cast<uLongf>(size);
  if (uncompress(bytes.data(), &got, compressed.data(), compressed.size()) != Z_OK || got != size) {
    throw std::runtime_error("table: not a zlib stream of " + std::to_string(size) + " bytes");
  }
  return bytes;
}

}  // namespace voltcheck::arith
