#include "reference/arith/correction_table.h"

#include <zlib.h>

#include <stdexcept>

extern "C" {
// Defined in tables.S.
extern const std::uint8_t voltcheck_ex2_corrections[];
extern const std::uint8_t voltcheck_ex2_corrections_end[];
extern const std::uint8_t voltcheck_rcp_corrections[];
extern const std::uint8_t voltcheck_rcp_corrections_end[];
}

namespace voltcheck::arith {

CorrectionTable::CorrectionTable(std::span<const std::uint8_t> compressed) : packed_(kEntries / 4) {
  std::vector<std::uint8_t> bytes(kEntries);
  uLongf size = kEntries;
  if (uncompress(bytes.data(), &size, compressed.data(), compressed.size()) != Z_OK ||
      size != kEntries) {
    throw std::runtime_error("correction table: not a zlib stream of 2^23 bytes");
  }
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    const auto stored = static_cast<std::uint8_t>(bytes[i] + 1);
    if (stored > 2) throw std::runtime_error("correction table: an entry is not -1, 0 or 1");
    packed_[i / 4] = static_cast<std::uint8_t>(packed_[i / 4] | stored << (2 * (i % 4)));
  }
}

const CorrectionTable& Ex2Corrections() {
  static const CorrectionTable table({voltcheck_ex2_corrections, voltcheck_ex2_corrections_end});
  return table;
}

const CorrectionTable& RcpCorrections() {
  static const CorrectionTable table({voltcheck_rcp_corrections, voltcheck_rcp_corrections_end});
  return table;
}

}  // namespace voltcheck::arith
