#include "reference/arith/warp_mma.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <sstream>
#include <string>

#include "each_target.h"
#include "operands.h"
#include "reference/arith/warp_mma_scalar.h"

namespace voltcheck::arith {
namespace {

using testing::ForEachTarget;
using testing::kAllOperands;
using testing::Operands;
using testing::RandomAddend;
using testing::RandomHalf;

using Row = std::array<std::uint32_t, 32>;

struct Registers {
  std::array<Row, 2> a, b;
  std::array<Row, 8> c;
};

std::uint32_t Pack(HalfBits low, HalfBits high) {
  return low | static_cast<std::uint32_t>(high) << 16;
}

Registers RandomRegisters(Operands kind, bool c_half, std::mt19937& random) {
  Registers registers;
  for (auto* rows : {&registers.a, &registers.b}) {
    for (Row& row : *rows) {
      for (std::uint32_t& word : row) {
        const HalfBits low = RandomHalf(kind, random);
        word = Pack(low, RandomHalf(kind, random));
      }
    }
  }
  for (Row& row : registers.c) {
    for (std::uint32_t& word : row) {
      if (c_half) {
        const HalfBits low = RandomHalf(kind, random);
        word = Pack(low, RandomHalf(kind, random));
      } else {
        word = std::bit_cast<std::uint32_t>(RandomAddend(kind, random));
      }
    }
  }
  return registers;
}

template <class Mma>
std::array<Row, 8> Multiply(Mma mma, const WarpMmaForm& form, const Registers& in) {
  std::array<Row, 8> d{};
  const std::uint32_t* a[2] = {in.a[0].data(), in.a[1].data()};
  const std::uint32_t* b[2] = {in.b[0].data(), in.b[1].data()};
  const std::uint32_t* c[8];
  std::uint32_t* out[8];
  for (std::size_t i = 0; i < 8; ++i) {
    c[i] = in.c[i].data();
    out[i] = d[i].data();
  }
  mma(form, a, b, c, out);
  return d;
}

/// Where two results differ first, or nothing.
std::string Difference(const std::array<Row, 8>& got, const std::array<Row, 8>& want) {
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (got[i][lane] == want[i][lane]) continue;
      std::ostringstream text;
      text << std::hex << "register " << i << " lane " << std::dec << lane << std::hex << ": got "
           << got[i][lane] << ", want " << want[i][lane];
      return text.str();
    }
  }
  return {};
}

/// Every combination that PTX has, for every arithmetic.
template <typename Body>
void ForEachForm(Body body) {
  for (const StepArithmetic arithmetic :
       {StepArithmetic::kV100, StepArithmetic::kSm75, StepArithmetic::kSm80Software}) {
    for (const MmaLayout a : {MmaLayout::kRow, MmaLayout::kCol}) {
      for (const MmaLayout b : {MmaLayout::kRow, MmaLayout::kCol}) {
        for (const auto& [c_half, d_half] :
             {std::pair{false, false}, std::pair{true, true}, std::pair{true, false}}) {
          SCOPED_TRACE("arithmetic " + std::to_string(static_cast<int>(arithmetic)) +
                       (a == MmaLayout::kRow ? " row" : " col") +
                       (b == MmaLayout::kRow ? " row" : " col") + (c_half ? " f16" : " f32") +
                       (d_half ? " f16" : " f32"));
          body(WarpMmaForm{arithmetic, a, b, c_half, d_half});
        }
      }
    }
  }
}

TEST(WarpMma884, EqualsTheScalarFormOnEveryTarget) {
  ForEachTarget([] {
    ForEachForm([](const WarpMmaForm& form) {
      std::mt19937 random(7);
      for (const Operands kind : kAllOperands) {
        for (int repeat = 0; repeat < 12; ++repeat) {
          const Registers in = RandomRegisters(kind, form.c_half, random);
          ASSERT_EQ(
              Difference(Multiply(WarpMma884, form, in), Multiply(WarpMma884Scalar, form, in)), "")
              << "operands " << static_cast<int>(kind) << " repeat " << repeat;
        }
      }
    });
  });
}

/// Fills the fragments from matrices by the layouts of the PTX manual, written here a second time.
TEST(WarpMma884, ComputesFourMatrixProducts) {
  ForEachForm([](const WarpMmaForm& form) {
    // Small integers: every sum is exact in each arithmetic and both accumulators, so a plain
    // product tells.
    std::mt19937 random(11);
    int a[4][8][4], b[4][4][8], c[4][8][8];
    const auto small = [&] { return static_cast<int>(random() % 15) - 7; };
    for (auto& product : a)
      for (auto& row : product)
        for (int& value : row) value = small();
    for (auto& product : b)
      for (auto& row : product)
        for (int& value : row) value = small();
    for (auto& product : c)
      for (auto& row : product)
        for (int& value : row) value = small();
    const auto half = [](int value) { return FloatToHalf(static_cast<float>(value)); };

    Registers in{};
    for (int lane = 0; lane < 32; ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      const int q = lane % 16 / 4;
      const int t = lane % 4;
      const int h = lane / 16;
      HalfBits a_elements[4], b_elements[4];
      for (int i = 0; i < 4; ++i) {
        a_elements[i] = half(form.a == MmaLayout::kRow ? a[q][t + 4 * h][i] : a[q][i + 4 * h][t]);
        b_elements[i] = half(form.b == MmaLayout::kRow ? b[q][t][i + 4 * h] : b[q][i][t + 4 * h]);
      }
      for (std::size_t r = 0; r < 2; ++r) {
        in.a[r][l] = Pack(a_elements[2 * r], a_elements[2 * r + 1]);
        in.b[r][l] = Pack(b_elements[2 * r], b_elements[2 * r + 1]);
      }
      for (int i = 0; i < 8; ++i) {
        const auto r = static_cast<std::size_t>(i);
        if (form.c_half) {
          in.c[r / 2][l] |= static_cast<std::uint32_t>(half(c[q][t + 4 * h][i])) << (16 * (i % 2));
        } else {
          const int row = (lane & 1) + (i & 2) + 4 * h;
          const int col = (i & 4) + (lane & 2) + (i & 1);
          in.c[r][l] = std::bit_cast<std::uint32_t>(static_cast<float>(c[q][row][col]));
        }
      }
    }
    const std::array<Row, 8> d = Multiply(WarpMma884, form, in);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 8; ++i) {
        const int q = lane % 16 / 4;
        const int h = lane / 16;
        const int row = form.d_half ? lane % 4 + 4 * h : (lane & 1) + (i & 2) + 4 * h;
        const int col = form.d_half ? i : (i & 4) + (lane & 2) + (i & 1);
        int want = c[q][row][col];
        for (int k = 0; k < 4; ++k) want += a[q][row][k] * b[q][k][col];
        const auto l = static_cast<std::size_t>(lane);
        const auto r = static_cast<std::size_t>(i);
        const float got = form.d_half
                              ? HalfToFloat(static_cast<HalfBits>(d[r / 2][l] >> (16 * (i % 2))))
                              : std::bit_cast<float>(d[r][l]);
        ASSERT_EQ(got, static_cast<float>(want))
            << "product " << q << " row " << row << " col " << col;
      }
    }
  });
}

TEST(WarpMma884, ZeroRowsKeepTheirAddendExactly) {
  // Whole rows of zeros beside full ones, with addends that a careless short cut would get wrong.
  constexpr std::uint32_t kAddends[] = {0x00000000, 0x80000000, 0x00000001, 0x807FFFFF,
                                        0x3F800001, 0xFF7FFFFF, 0x00800000, 0x34000000};
  ForEachTarget([&] {
    for (const StepArithmetic arithmetic :
         {StepArithmetic::kV100, StepArithmetic::kSm75, StepArithmetic::kSm80Software}) {
      for (unsigned used = 0; used < 256; used += 5) {
        std::mt19937 random(used);
        Registers in = RandomRegisters(Operands::kTypical, false, random);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const auto row = static_cast<unsigned>(lane % 4 + lane / 16 * 4);
          if ((used >> row & 1) == 0)
            in.a[0][lane] = in.a[1][lane] = lane % 3 == 0 ? 0x80008000 : 0;
          if ((used >> (7 - row) & 1) == 0) in.b[0][lane] = in.b[1][lane] = 0;
          for (std::size_t i = 0; i < 8; ++i) in.c[i][lane] = kAddends[(lane + i) % 8];
        }
        const WarpMmaForm form{arithmetic, MmaLayout::kRow, MmaLayout::kCol, false, false};
        ASSERT_EQ(Difference(Multiply(WarpMma884, form, in), Multiply(WarpMma884Scalar, form, in)),
                  "")
            << used;
      }
    }
  });
}

/// Registers whose A has zeros (of both signs) in the rows that `used` lacks.
Registers WithZeroRows(unsigned used, std::mt19937& random) {
  Registers in = RandomRegisters(Operands::kTypical, false, random);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto row = static_cast<unsigned>(lane % 4 + lane / 16 * 4);
    if ((used >> row & 1) == 0) in.a[0][lane] = in.a[1][lane] = lane % 3 == 0 ? 0x80008000 : 0;
  }
  return in;
}

TEST(WarpMma884, AccumulatesInPlaceBesideZeroRows) {
  // With a -0 among the addends every zero row must still be written, without one none need be.
  ForEachTarget([] {
    for (unsigned used = 0; used < 256; ++used) {
      for (const bool minus_zero : {false, true}) {
        std::mt19937 random(used);
        Registers in = WithZeroRows(used, random);
        if (minus_zero) in.c[used % 8][used % 32] = 0x80000000;
        const WarpMmaForm form{};
        const std::array<Row, 8> want = Multiply(WarpMma884Scalar, form, in);
        const std::uint32_t* a[2] = {in.a[0].data(), in.a[1].data()};
        const std::uint32_t* b[2] = {in.b[0].data(), in.b[1].data()};
        std::uint32_t* c[8];
        for (std::size_t i = 0; i < 8; ++i) c[i] = in.c[i].data();
        const int zero_rows = WarpMma884(form, a, b, c, c);
        ASSERT_EQ(Difference(in.c, want), "") << used;
        if (zero_rows != 0) {
          ASSERT_EQ(zero_rows, 8 - std::popcount(used));
        }
      }
    }
  });
}

TEST(WarpMma884, CountsTheRowsThatAreZeroInAllFourProducts) {
  std::mt19937 random(1);
  Registers in = WithZeroRows(0b00000101, random);
  const auto count = [&in] {
    int zero_rows = -1;
    Multiply([&](auto... operands) { zero_rows = WarpMma884(operands...); }, WarpMmaForm{}, in);
    return zero_rows;
  };
  EXPECT_EQ(count(), 6);
  in.a[1][7] = 0x3C00;  // row 3 of the second product
  EXPECT_EQ(count(), 5);
  in.c[0][0] = 0x7F800000;  // an infinity takes the scalar way
  EXPECT_EQ(count(), 0);
}

TEST(WarpMma884, TwiceIsTwoInARow) {
  ForEachTarget([] {
    std::mt19937 random(5);
    const auto check = [](const WarpMmaForm& form, Registers first, const Registers& second) {
      Registers apart = first;
      const std::uint32_t* a[4] = {first.a[0].data(), first.a[1].data(), second.a[0].data(),
                                   second.a[1].data()};
      const std::uint32_t* b[4] = {first.b[0].data(), first.b[1].data(), second.b[0].data(),
                                   second.b[1].data()};
      std::uint32_t* d[8];
      std::uint32_t* want[8];
      for (std::size_t i = 0; i < 8; ++i) {
        d[i] = first.c[i].data();
        want[i] = apart.c[i].data();
      }
      const int zero_rows = WarpMma884(form, a, b, want, want);
      const int both = zero_rows + WarpMma884(form, a + 2, b + 2, want, want);
      ASSERT_EQ(WarpMma884Twice(form, a, b, d), both);
      ASSERT_EQ(Difference(first.c, apart.c), "");
    };
    ForEachForm([&](const WarpMmaForm& form) {
      if (form.c_half || form.d_half) return;
      for (const Operands kind : kAllOperands) {
        for (int repeat = 0; repeat < 12; ++repeat) {
          Registers first = RandomRegisters(kind, false, random);
          const Registers second = RandomRegisters(kind, false, random);
          ASSERT_NO_FATAL_FAILURE(check(form, first, second)) << static_cast<int>(kind);
          // The first result may be the infinity that is the second addend.
          first.c[repeat % 8][repeat] = 0x7E7FFFFF + static_cast<std::uint32_t>(repeat % 3 - 1);
          first.c[1][31] = repeat % 2 == 0 ? 0xFF7FFFFF : 0xFE000000;
          ASSERT_NO_FATAL_FAILURE(check(form, first, second)) << static_cast<int>(kind);
        }
      }
    });
    for (unsigned used = 0; used < 256; ++used) {  // rows that are zero in one of them or in both
      Registers first = WithZeroRows(used, random);
      const Registers second = WithZeroRows(used * 37 % 256, random);
      if (used % 2 == 0) first.c[used % 8][used % 32] = 0x80000000;
      ASSERT_NO_FATAL_FAILURE(check(WarpMmaForm{}, first, second)) << used;
    }
  });
}

TEST(WarpMma884, ResultsMayReplaceAnyOperand) {
  ForEachForm([](const WarpMmaForm& form) {
    if (form.c_half != form.d_half) return;
    for (const Operands kind : {Operands::kTypical, Operands::kSpecial}) {
      std::mt19937 random(3);
      Registers in = RandomRegisters(kind, form.c_half, random);
      const std::array<Row, 8> want = Multiply(WarpMma884, form, in);
      const std::uint32_t* a[2] = {in.a[0].data(), in.a[1].data()};
      const std::uint32_t* b[2] = {in.b[0].data(), in.b[1].data()};
      // D shifted by one register against C, its first row on A and its last on B.
      const std::size_t count = form.d_half ? 4 : 8;
      const std::uint32_t* c[8];
      std::uint32_t* d[8];
      for (std::size_t i = 0; i < count; ++i) {
        c[i] = in.c[i].data();
        d[i] = in.c[(i + 1) % count].data();
      }
      d[0] = in.a[1].data();
      d[count - 1] = in.b[0].data();
      WarpMma884(form, a, b, c, d);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::memcmp(d[i], want[i].data(), sizeof(Row)), 0) << i;
      }
    }
  });
}

TEST(WarpMma884, RowsNeedNoAlignmentAndNothingBesideThemIsTouched) {
  std::mt19937 random(5);
  const Registers in = RandomRegisters(Operands::kTypical, false, random);
  const WarpMmaForm form{};
  const std::array<Row, 8> want = Multiply(WarpMma884, form, in);
  std::array<std::uint32_t, 8 * 33 + 1> storage{};
  storage.fill(0xDEADBEEF);
  const std::uint32_t* a[2] = {in.a[0].data(), in.a[1].data()};
  const std::uint32_t* b[2] = {in.b[0].data(), in.b[1].data()};
  std::uint32_t* rows[8];
  for (std::size_t i = 0; i < 8; ++i) {
    rows[i] = storage.data() + 1 + i * 33;
    std::memcpy(rows[i], in.c[i].data(), sizeof(Row));
  }
  WarpMma884(form, a, b, rows, rows);
  EXPECT_EQ(storage[0], 0xDEADBEEF);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(std::memcmp(rows[i], want[i].data(), sizeof(Row)), 0);
    EXPECT_EQ(rows[i][32], 0xDEADBEEF);
  }
}

}  // namespace
}  // namespace voltcheck::arith
