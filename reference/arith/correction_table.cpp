#include "reference/arith/correction_table.h"

#include <stdexcept>

#include "reference/arith/table_data.h"

namespace voltcheck::arith {
namespace {

CorrectionTable Load(StoredTable table, std::int32_t lowest) {
  return CorrectionTable(StoredBytes(table), lowest);
}

}  // namespace

CorrectionTable::CorrectionTable(std::span<const std::uint8_t> compressed, std::int32_t lowest)
    : packed_(kEntries / 4), lowest_(lowest) {
  const std::vector<std::uint8_t> bytes = Inflate(compressed, kEntries);
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    const auto stored = static_cast<std::uint8_t>(bytes[i] - lowest);
    if (stored > 3) throw std::runtime_error("correction table: an entry is out of range");
    packed_[i / 4] = static_cast<std::uint8_t>(packed_[i / 4] | stored << (2 * (i % 4)));
  }
}

const CorrectionTable& Ex2Corrections() {
  static const CorrectionTable table = Load(StoredTable::kEx2, -1);
  return table;
}

const CorrectionTable& RcpCorrections() {
  static const CorrectionTable table = Load(StoredTable::kRcp, -1);
  return table;
}

const CorrectionTable& SqrtCorrections(bool odd) {
  static const CorrectionTable even_table = Load(StoredTable::kSqrtFrom1, -1);
  static const CorrectionTable odd_table = Load(StoredTable::kSqrtFrom2, -1);
  return odd ? odd_table : even_table;
}

const CorrectionTable& RsqrtCorrections(bool odd) {
  static const CorrectionTable even_table = Load(StoredTable::kRsqrtFrom1, -2);
  static const CorrectionTable odd_table = Load(StoredTable::kRsqrtFrom2, -2);
  return odd ? odd_table : even_table;
}

}  // namespace voltcheck::arith
