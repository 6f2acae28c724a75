// Decoding against the packing formulas of the AWQ format, written out independently here.
#include "reference/awq.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

using arith::DoubleToHalf;
using arith::HalfToFloat;

constexpr std::array<int, 8> kColumnOfNibble{0, 2, 4, 6, 1, 3, 5, 7};

int NibbleByFormat(const std::vector<std::uint32_t>& packed, int n, int row, int column) {
  for (int i = 0; i < 8; ++i) {
    if (kColumnOfNibble[static_cast<std::size_t>(i)] == column % 8) {
      return static_cast<int>(packed[static_cast<std::size_t>(row * (n / 8) + column / 8)] >>
                              (4 * i)) &
             15;
    }
  }
  return -1;
}

// A finite sum of two halves' products, rounded once: exact in double.
std::uint16_t ContractByFormula(int q, int z, std::uint16_t s) {
  const double scale = HalfToFloat(s);
  return DoubleToHalf(q * scale + HalfToFloat(DoubleToHalf(-z * scale)));
}

TEST(Awq, NibbleOrder) {
  EXPECT_EQ(AwqNibble(std::vector<std::uint32_t>{0x76543210}.data(), 8, 0, 0), 0);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(ColumnOfNibble(i), kColumnOfNibble[static_cast<std::size_t>(i)]);
    EXPECT_EQ(NibbleOfColumn(ColumnOfNibble(i)), i);
    const std::vector<std::uint32_t> packed{0, 0, std::uint32_t{0xA} << (4 * i), 0};
    for (int column = 0; column < 16; ++column) {
      const int expected = column == kColumnOfNibble[static_cast<std::size_t>(i)] ? 0xA : 0;
      EXPECT_EQ(AwqNibble(packed.data(), 16, 1, column), expected);
    }
  }
}

TEST(Awq, ContractWeightIsNotTheIdealOneRounded) {
  const std::uint16_t s = DoubleToHalf(1e-4);
  const double ideal = (1 - 3) * static_cast<double>(HalfToFloat(s));
  EXPECT_EQ(ContractWeight(1, 3, s), ContractByFormula(1, 3, s));
  EXPECT_NE(ContractWeight(1, 3, s), DoubleToHalf(ideal));
}

TEST(Awq, ContractWeightForEveryScaleAndZeroPoint) {
  for (int s = 0; s < 0x7C00; ++s) {
    for (const int z : {0, 1, 7, 8, 15}) {
      for (const int q : {0, 1, 6, 8, 15}) {
        const auto bits = static_cast<std::uint16_t>(s);
        const double bias = HalfToFloat(DoubleToHalf(-z * static_cast<double>(HalfToFloat(bits))));
        if (std::isfinite(bias)) {
          ASSERT_EQ(ContractWeight(q, z, bits) & 0x7FFF, ContractByFormula(q, z, bits) & 0x7FFF)
              << q << ' ' << z << ' ' << s;
        }
      }
    }
  }
}

// Any scales (negative, Inf and NaN as well) through the block decoder: its vector rounding must
// agree with the scalar formula down to subnormals and up to overflow.
void ExpectDecodingByTheFormula(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr int kColumns = 8 * 37;  // a ragged last block
  AwqMatrix m = RandomMatrix(64, kColumns, 32, {}, random);
  for (auto& s : m.scales) {
    s = static_cast<std::uint16_t>(random());
  }
  const HalfMatrix contract = DecodeContract(m);
  const auto ideal = Decode<double>(m, WeightKind::kIdeal);
  for (int k = 0; k < m.k; ++k) {
    for (int n = 0; n < m.n; ++n) {
      const int q = NibbleByFormat(m.qweight, m.n, k, n);
      const int z = NibbleByFormat(m.qzeros, m.n, k / 32, n);
      const std::uint16_t s = m.scales[static_cast<std::size_t>(k / 32 * m.n + n)];
      const float got = HalfToFloat(contract.row(k)[static_cast<std::size_t>(n)]);
      const float want = HalfToFloat(ContractWeight(q, z, s));
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
          << "q " << q << " z " << z << " s " << s << ": " << got << " for " << want;
      const double exact = (q - z) * static_cast<double>(HalfToFloat(s));
      if (std::isfinite(exact)) {
        ASSERT_EQ(ideal(k, n), exact);
      }
    }
  }
}

TEST(Awq, DecodeAgreesWithTheFormulaOnEveryInstructionSet) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      ExpectDecodingByTheFormula(seed);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(Awq, DecodeInFloatAndDoubleAgree) {
  std::mt19937_64 random(6);
  const AwqMatrix m = RandomMatrix(128, 136, 64, {}, random);
  for (const auto kind : {WeightKind::kContract, WeightKind::kIdeal}) {
    EXPECT_EQ(Decode<float>(m, kind).cast<double>(), Decode<double>(m, kind));
  }
}

TEST(Awq, RefusesImpossibleSizes) {
  std::mt19937_64 random(7);
  const AwqMatrix good = RandomMatrix(64, 16, 32, {}, random);
  const auto refused = [&](auto&& change) {
    AwqMatrix bad = good;
    change(bad);
    EXPECT_THROW(DecodeContract(bad), Error);
  };
  EXPECT_NO_THROW(DecodeContract(good));
  refused([](AwqMatrix& m) { m.k = 65; });
  refused([](AwqMatrix& m) { m.n = 12; });
  refused([](AwqMatrix& m) { m.group = 0; });
  refused([](AwqMatrix& m) { m.group = 48; });
  refused([](AwqMatrix& m) { m.qweight.pop_back(); });
  refused([](AwqMatrix& m) { m.qzeros.push_back(0); });
  refused([](AwqMatrix& m) { m.scales.clear(); });
}

}  // namespace
}  // namespace voltcheck::reference
