#include "reference/arith/value_table.h"

#include "reference/arith/table_data.h"

namespace voltcheck::arith {
namespace {

constexpr std::size_t kSingle = std::size_t{1} << 23;
constexpr std::size_t kDouble = std::size_t{1} << 20;

}  // namespace

ValueTable::ValueTable(std::span<const std::uint8_t> compressed, std::size_t entries)
    : values_(entries) {
  const std::vector<std::uint8_t> bytes = Inflate(compressed, 4 * entries);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    value += bytes[i] | std::uint32_t{bytes[entries + i]} << 8 |
             std::uint32_t{bytes[2 * entries + i]} << 16 |
             std::uint32_t{bytes[3 * entries + i]} << 24;
    values_[i] = value;
  }
}

const ValueTable& Lg2From1() {
  static const ValueTable table(StoredBytes(StoredTable::kLg2From1), kSingle);
  return table;
}
const ValueTable& Lg2FromHalf() {
  static const ValueTable table(StoredBytes(StoredTable::kLg2FromHalf), kSingle);
  return table;
}
const ValueTable& SinQuarter() {
  static const ValueTable table(StoredBytes(StoredTable::kSinQuarter), kSingle);
  return table;
}
const ValueTable& Rcp64() {
  static const ValueTable table(StoredBytes(StoredTable::kRcp64), kDouble);
  return table;
}
const ValueTable& Rsqrt64() {
  static const ValueTable table(StoredBytes(StoredTable::kRsqrt64), 2 * kDouble);
  return table;
}

}  // namespace voltcheck::arith
