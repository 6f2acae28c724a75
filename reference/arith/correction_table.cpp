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
  std::vector<std::uint8_t> bytes = Inflate(compressed, kEntries);
  std::uint8_t used = 0;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(byte - lowest);
    used |= byte;
  }
  if (used > 3) throw std::runtime_error("correction table: an entry is out of range");
  for (std::uint32_t i = 0; i < kEntries / 4; ++i) {  // four bytes to two bits each
    const std::uint8_t* from = bytes.data() + 4 * i;
    packed_[i] = static_cast<std::uint8_t>(from[0] | from[1] << 2 | from[2] << 4 | from[3] << 6);
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
