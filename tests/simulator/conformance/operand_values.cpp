#include "operand_values.h"

#include <algorithm>
#include <array>

#include "fixtures/counter_random.h"

namespace voltcheck::conformance {
namespace {

using fixtures::CounterRandom;

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kEdgeLanes = 4096;    ///< at most, for the combinations of edge cases
constexpr std::size_t kRandomLanes = 2048;  ///< at least

// Signed zeros, infinities and NaNs, the borders of the subnormals, ones, halves between whole
// numbers, the borders of the integer types. For three operands only the first sixteen are
// combined.
const std::vector<std::uint64_t> kFloatEdges = {
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
    0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800001, 0xBF7FFFFF, 0x40400000, 0x0DA24260, 0xC0200000,
    0x00400000, 0x80000001, 0x007FFFFF, 0x80800000, 0xFF7FFFFF, 0x3F000000, 0xBF000000, 0x3FC00000,
    0x40200000, 0x4AFFFFFF, 0x4B000001, 0x4B800001, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F800000,
    0x5F000000, 0xDF000000, 0x5F800000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0xFFBFFFFF, 0x33000000,
    0x33000001, 0x477FE000, 0x477FF000, 0x387FC000, 0x33800000, 0x3DCCCCCD, 0x40490FDB, 0x42FE0000,
    0xC2FC0000, 0xC3160000, 0x437F8000, 0x42FF0000, 0xC3010000, 0x46FFFF00, 0x477FFF80, 0x7E800000,
    0x7F000000, 0x00FFFFFF, 0x01000000, 0x3EFFFFFF};
const std::vector<std::uint64_t> kDoubleEdges = {
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001,
    0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x3FF0000000000001,
    0xBFEFFFFFFFFFFFFF, 0x4008000000000000, 0x1E60000000000001, 0xC004000000000000,
    0x3FE0000000000000, 0x3FF8000000000000, 0x4004000000000000, 0x432FFFFFFFFFFFFF,
    0x4330000000000001, 0x41E0000000000000, 0xC1E0000000000000, 0xC1E0000000200000,
    0x41F0000000000000, 0x43E0000000000000, 0xC3E0000000000000, 0x43F0000000000000,
    0xFFF8000000000000, 0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, 0xFFF7FFFFFFFFFFFF,
    0x36A0000000000000, 0x36A0000000000001, 0x3690000000000000, 0x380FFFFFE0000000,
    0x380FFFFFF0000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x40EFFC0000000000,
    0x40EFFE0000000000, 0x3E60000000000001, 0x3FB999999999999A, 0x400921FB54442D18};
const std::vector<std::uint64_t> kHalfEdges = {
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x83FF, 0x0400, 0x7BFF,
    0x3C01, 0xBBFF, 0x4200, 0x1400, 0xC100, 0x3800, 0x3E00, 0x4100, 0x6400, 0x67FF, 0x7BFE,
    0xFBFF, 0x7C01, 0x7FFF, 0xFE00, 0xFDFF, 0x03FF, 0x8001, 0x0200, 0x77FF, 0x5BF8, 0x57F8};
const std::vector<std::uint64_t> kShifts = {0,          1,   31,  32,         33,      16,  63, 64,
                                            0xFFFFFFFF, 15,  17,  8,          255,     256, 5,  7,
                                            65,         127, 128, 0x80000000, 0x10001, 260};

std::uint64_t Mask(std::uint32_t bytes) { return ~std::uint64_t{0} >> (64 - 8 * bytes); }

std::vector<std::uint64_t> IntegerEdges(std::uint32_t bytes) {
  const std::uint64_t all = Mask(bytes);
  const std::uint64_t top = (all >> 1) + 1;
  std::vector<std::uint64_t> edges = {0,
                                      1,
                                      all,
                                      top,
                                      top - 1,
                                      2,
                                      all - 1,
                                      top + 1,
                                      0x55555555 * 0x100000001ULL,
                                      7,
                                      0x80,
                                      0xFF,
                                      0xAAAAAAAA * 0x100000001ULL,
                                      0x7F,
                                      all << (4 * bytes),
                                      all >> (4 * bytes),
                                      0x100,
                                      0x8000,
                                      0x7FFF,
                                      0xFFFF,
                                      0x10000,
                                      31,
                                      32,
                                      33,
                                      3,
                                      10,
                                      0x12345678,
                                      0xFFFFFF80,
                                      0xFFFF8000,
                                      0xFFFFFFFF,
                                      0x80000000,
                                      0x7FFFFFFF,
                                      0x00FFFFFF,
                                      0x01000000,
                                      all - 2,
                                      all - 9};
  std::vector<std::uint64_t> unique;
  for (const std::uint64_t edge : edges) {
    const std::uint64_t masked = edge & all;
    if (std::find(unique.begin(), unique.end(), masked) == unique.end()) {
      unique.push_back(masked);
    }
  }
  return unique;
}

/// A floating-point pattern: uniform bits, or a moderate exponent, or one with few significant
/// bits, so that products and sums are exact or tie.
std::uint64_t RandomFloat(const CounterRandom& random, std::uint64_t index, int exponent_bits,
                          int mantissa_bits) {
  const std::uint64_t bits = random.Bits(4 * index);
  const std::uint64_t kind = random.Below(4, 4 * index + 1);
  const int total = 1 + exponent_bits + mantissa_bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - total);
  if (kind == 0) {
    return bits & mask;
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto spread = static_cast<std::uint64_t>(kind == 3 ? 3 : exponent_bits == 5 ? 9 : 30);
  const auto exponent =
      static_cast<std::uint64_t>(bias) + random.Below(2 * spread, 4 * index + 2) - spread;
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  if (kind == 2) {
    const std::uint64_t dropped =
        random.Below(static_cast<std::uint64_t>(mantissa_bits), 4 * index + 3);
    mantissa = mantissa >> dropped << dropped;
  }
  return ((bits >> 63) << (total - 1)) | (exponent << mantissa_bits) | mantissa;
}

std::uint64_t RandomBits(const CounterRandom& random, std::uint64_t index, std::uint32_t bytes) {
  // A third of them small in magnitude, of either sign.
  const std::uint64_t bits = random.Bits(2 * index);
  const std::uint64_t kind = random.Below(6, 2 * index + 1);
  const std::uint64_t value = kind == 0 ? bits >> 56 : kind == 1 ? 0 - (bits >> 56) : bits;
  return value & Mask(bytes);
}

std::uint64_t RandomValue(const Operand& operand, const CounterRandom& random,
                          std::uint64_t index) {
  switch (operand.domain) {
    case Domain::kShift: {
      const std::uint64_t bits = random.Bits(2 * index);
      return random.Below(8, 2 * index + 1) == 0 ? bits & Mask(4) : bits % 70;
    }
    case Domain::kDivisor: {
      const std::uint64_t value = RandomBits(random, index, operand.bytes);
      return value == 0 ? 1 : value;
    }
    case Domain::kBool:
      return random.Bits(index) & 1;
    case Domain::kHalf:
      return RandomFloat(random, index, 5, 10);
    case Domain::kHalf2:
      return RandomFloat(random, 2 * index, 5, 10) | RandomFloat(random, 2 * index + 1, 5, 10)
                                                         << 16;
    case Domain::kMatrix: {
      // Sixteen products meet in one sum: a special value in one of 256 words keeps most sums
      // finite.
      const std::uint64_t bits = random.Bits(index);
      const std::uint64_t exponents =
          0x2C002C00 + ((bits >> 32 & 7) << 10) + ((bits >> 36 & 7) << 26);
      const std::uint64_t special = kHalfEdges[(bits >> 40) % kHalfEdges.size()];
      return (bits >> 56) == 0 ? special | (exponents & 0xFFFF0000)
                               : exponents | (bits & 0x83FF83FF);
    }
    case Domain::kFloat:
      return RandomFloat(random, index, 8, 23);
    case Domain::kDouble:
      return RandomFloat(random, index, 11, 52);
    case Domain::kBits:
      return RandomBits(random, index, operand.bytes);
  }
  return 0;
}

/// A value near the first operand's, so that differences cancel: a few units away, of either sign.
std::uint64_t NearTo(const Operand& operand, std::uint64_t first, std::uint64_t bits) {
  const std::uint64_t moved = first + bits % 5 - 2;
  const std::uint64_t sign = (bits >> 32 & 1) << (8 * operand.bytes - 1);
  return (moved ^ sign) & Mask(operand.bytes);
}

bool IsFloat(Domain domain) {
  return domain == Domain::kFloat || domain == Domain::kDouble || domain == Domain::kHalf;
}

/// How many edge cases each operand may contribute so that their combinations fit.
std::vector<std::size_t> EdgeCounts(const std::vector<std::vector<std::uint64_t>>& edges) {
  std::vector<std::size_t> counts;
  counts.reserve(edges.size());
  for (const auto& list : edges) {
    counts.push_back(list.size());
  }
  const auto product = [&] {
    std::size_t all = 1;
    for (const std::size_t count : counts) {
      all = std::min(all * count, kEdgeLanes * 4096);
    }
    return all;
  };
  while (product() > kEdgeLanes) {
    --*std::max_element(counts.begin(), counts.end());
  }
  return counts;
}

}  // namespace

std::vector<std::uint64_t> EdgeCases(const Operand& operand) {
  switch (operand.domain) {
    case Domain::kShift:
      return kShifts;
    case Domain::kBool:
      return {0, 1};
    case Domain::kHalf:
      return kHalfEdges;
    case Domain::kHalf2: {
      // Each half walks through the edge cases at a pace of its own.
      std::vector<std::uint64_t> pairs;
      pairs.reserve(kHalfEdges.size());
      for (std::size_t i = 0; i < kHalfEdges.size(); ++i) {
        pairs.push_back(kHalfEdges[i] | kHalfEdges[(i * 5 + 3) % kHalfEdges.size()] << 16);
      }
      return pairs;
    }
    case Domain::kMatrix:
      return {};
    case Domain::kFloat:
      return kFloatEdges;
    case Domain::kDouble:
      return kDoubleEdges;
    case Domain::kDivisor: {
      std::vector<std::uint64_t> edges = IntegerEdges(operand.bytes);
      edges.erase(std::remove(edges.begin(), edges.end(), std::uint64_t{0}), edges.end());
      return edges;
    }
    case Domain::kBits:
      return IntegerEdges(operand.bytes);
  }
  return {};
}

OperandValues MakeOperandValues(const Instruction& instruction) {
  std::vector<std::vector<std::uint64_t>> edges;
  bool has_edges = true;
  for (const Operand& operand : instruction.inputs) {
    edges.push_back(EdgeCases(operand));
    has_edges = has_edges && !edges.back().empty();
  }
  const std::vector<std::size_t> counts =
      has_edges ? EdgeCounts(edges) : std::vector<std::size_t>();
  std::size_t combinations = has_edges ? 1 : 0;
  for (const std::size_t count : counts) {
    combinations *= count;
  }
  const std::size_t lanes = (combinations + kRandomLanes + kBlock - 1) / kBlock * kBlock;

  OperandValues values;
  values.lanes = static_cast<std::uint32_t>(lanes);
  std::size_t stride = 1;  // of this operand among the combinations
  std::vector<std::uint64_t> first(lanes);
  for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
    const Operand& operand = instruction.inputs[i];
    const CounterRandom random(kSeed, i);
    const CounterRandom choice(kSeed, 100 + i);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::uint64_t value = 0;
      if (lane < combinations) {
        value = edges[i][lane / stride % counts[i]];
      } else if (i > 0 && IsFloat(operand.domain) && operand.bytes == instruction.inputs[0].bytes &&
                 choice.Below(4, lane) == 0) {
        value = NearTo(operand, first[lane], choice.Bits(lane + lanes));
      } else {
        value = RandomValue(operand, random, lane);
      }
      if (i == 0) {
        first[lane] = value;
      }
      std::array<std::byte, 8> bytes{};
      for (std::uint32_t byte = 0; byte < operand.bytes; ++byte) {
        bytes[byte] = static_cast<std::byte>(value >> (8 * byte));
      }
      values.columns.insert(values.columns.end(), bytes.begin(), bytes.begin() + operand.bytes);
    }
    stride *= has_edges ? counts[i] : 1;
  }
  return values;
}

}  // namespace voltcheck::conformance
