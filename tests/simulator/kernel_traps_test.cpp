// The traps of traps_test.cpp again, in kernels as nvcc compiles them: four warps a block.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "reference/arith/half.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

constexpr std::uint32_t kThreads = 128;
using Words = std::vector<std::uint32_t>;

class KernelTraps : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  KernelTraps() : runner_(MakeOptions()) {
    module_ = runner_.device().LoadModule({"traps.ptx", CompiledPtx("traps"), {}});
    std::uint64_t state = 0x243F6A8885A308D3;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      a_.push_back(static_cast<std::uint32_t>(state >> 32));
      b_.push_back(static_cast<std::uint32_t>(state >> 20) ^ 0x80000000);
    }
  }
  static Options MakeOptions() {
    Options options;
    options.schedule = GetParam();
    options.checks = Checks::All();
    options.checks.shared_races = false;  // atomics beside plain reads are looked at elsewhere
    return options;
  }
  template <typename... A>
  void Run(const char* kernel, const A&... arguments) {
    runner_.Run(runner_.device().FindKernel(module_, kernel), {1, 1, 1}, {kThreads, 1, 1}, 0,
                arguments...);
  }
  Words RunOnWords(const char* kernel, std::size_t results = kThreads) {
    const auto out = runner_.Buffer(4 * results);
    Run(kernel, runner_.Upload(a_), runner_.Upload(b_), out);
    EXPECT_EQ(runner_.Findings(), "");
    return runner_.Download<std::uint32_t>(out, results);
  }

  Runner runner_;
  std::uint32_t module_ = 0;
  Words a_;
  Words b_;
};
INSTANTIATE_TEST_SUITE_P(Schedules, KernelTraps, ::testing::Values(0, 3));

TEST_P(KernelTraps, PermutesBytesAndSigns) {
  const Words out = RunOnWords("permute");
  const auto byte = [](std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
    const std::uint64_t all = std::uint64_t{high} << 32 | low;
    const auto value = static_cast<std::uint8_t>(all >> (8 * (selector & 7)));
    return (selector & 8) == 0 ? value : static_cast<std::uint8_t>(value >= 128 ? 255 : 0);
  };
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    std::uint32_t want = 0;
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t plain = byte(a_[i], b_[i], b_[i] >> (4 * k) & 7);
      const std::uint32_t sign = byte(a_[i], b_[i], 8 + k);
      want |= (plain ^ sign) << (8 * k);
    }
    EXPECT_EQ(out[i], want) << i;
  }
}

TEST_P(KernelTraps, ShufflesInEveryWarp) {
  const auto out_address = runner_.Buffer(4 * kThreads);
  Run("shuffle", runner_.Upload(a_), out_address);
  const Words out = runner_.Download<std::uint32_t>(out_address, kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint32_t lane = i % 32;
    const std::uint32_t base = i - lane;
    const std::uint32_t up = lane % 16 >= 3 ? a_[i - 3] : a_[i];
    const std::uint32_t down = lane + 5 < 32 ? a_[i + 5] : a_[i];
    const std::uint32_t from = a_[base + (lane & 24) + (a_[i] % 40) % 8];
    EXPECT_EQ(out[i],
              up + 3 * down + 5 * a_[base + (lane ^ 9)] + 7 * from + 11 * (lane + 7 < 32 ? 1U : 0U))
        << i;
  }
}

TEST_P(KernelTraps, HalfPairsKeepBothHalves) {
  const Words out = RunOnWords("half_pairs", 8 * kThreads);
  using H = std::uint16_t;
  const auto both = [](std::uint32_t a, std::uint32_t b, const std::function<H(H, H)>& f) {
    return std::uint32_t{f(static_cast<H>(a), static_cast<H>(b))} |
           std::uint32_t{f(static_cast<H>(a >> 16), static_cast<H>(b >> 16))} << 16;
  };
  const auto nan = [](H x) { return (x & 0x7FFF) > 0x7C00; };
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint32_t a = a_[i];
    const std::uint32_t b = b_[i];
    EXPECT_EQ(out[i], both(a, b, [](H x, H y) { return arith::HalfAdd(x, y); })) << i;
    EXPECT_EQ(out[128 + i], both(a, b, [](H x, H y) { return arith::HalfSub(x, y); })) << i;
    EXPECT_EQ(out[256 + i], both(a, b, [](H x, H y) { return arith::HalfMul(x, y); })) << i;
    EXPECT_EQ(out[384 + i], both(a, b, [](H x, H y) { return arith::HalfFma(x, y, x); })) << i;
    EXPECT_EQ(out[512 + i],
              both(a, b, [&](H x, H) { return nan(x) ? H{0x7FFF} : static_cast<H>(x ^ 0x8000); }))
        << i;
    EXPECT_EQ(out[640 + i],
              both(a, b, [&](H, H y) { return nan(y) ? H{0x7FFF} : static_cast<H>(y & 0x7FFF); }))
        << i;
    EXPECT_EQ(out[768 + i], both(a, b,
                                 [](H x, H y) {
                                   return arith::HalfToFloat(x) >= arith::HalfToFloat(y) ? H{0x3C00}
                                                                                         : H{0};
                                 }))
        << i;
    EXPECT_EQ(out[896 + i], a << 16 | a >> 16);
  }
}

TEST_P(KernelTraps, FusesWhatIsWrittenSo) {
  std::vector<float> x;
  std::vector<float> y;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    x.push_back(1.0F + static_cast<float>(i + 1) * 0x1p-23F);
    y.push_back(1.0F - static_cast<float>(i + 1) * 0x1p-24F);
  }
  const auto out = runner_.Buffer(8 * kThreads);
  Run("fused", runner_.Upload(x), runner_.Upload(y), out);
  const auto got = runner_.Download<float>(out, 2 * kThreads);
  int different = 0;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const float product = x[i] * y[i];
    EXPECT_EQ(got[i], std::fma(x[i], y[i], -1.0F));
    EXPECT_EQ(got[kThreads + i], product - 1.0F);
    different += got[i] != got[kThreads + i] ? 1 : 0;
  }
  EXPECT_GT(different, 100);
}

TEST_P(KernelTraps, LogicAndFunnelShifts) {
  const Words out = RunOnWords("logic", 3 * kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint64_t both = std::uint64_t{b_[i]} << 32 | a_[i];
    const std::uint32_t left = static_cast<std::uint32_t>(both << (a_[i] & 31) >> 32);
    const std::uint32_t right =
        static_cast<std::uint32_t>(both >> std::min<std::uint32_t>(b_[i] & 63, 32));
    EXPECT_EQ(out[i], (a_[i] ^ b_[i] ^ 0xFF00FF00U) + left + right) << i;
    std::uint32_t apart = 0;
    std::uint32_t sum = 7;
    for (std::uint32_t k = 0; k < 32; k += 8) {
      apart |= static_cast<std::uint32_t>(std::abs(static_cast<int>(a_[i] >> k & 255) -
                                                   static_cast<int>(b_[i] >> k & 255)))
               << k;
      sum += static_cast<std::uint32_t>(
          std::abs(static_cast<std::int8_t>(a_[i] >> k) - static_cast<std::int8_t>(b_[i] >> k)));
    }
    EXPECT_EQ(out[kThreads + i], apart);
    EXPECT_EQ(out[2 * kThreads + i], sum);
  }
}

TEST_P(KernelTraps, AtomicsOnPairsAndDoubles) {
  const auto pairs = runner_.Upload(Words{0, 0});
  const auto wide = runner_.Upload(std::vector<double>{0, 0});
  const auto narrow = runner_.Upload(std::vector<float>{0});
  const auto out = runner_.Buffer(4 * kThreads);
  Run("atomics", pairs, wide, narrow, out);
  EXPECT_EQ(runner_.Download<std::uint32_t>(pairs, 2), (Words{0x58005C00, 0x5C005800}));
  EXPECT_EQ(runner_.Download<double>(wide, 2), (std::vector<double>{32, 64}));
  EXPECT_EQ(runner_.Download<float>(narrow, 1)[0], 192.0F);
  Words order = runner_.Download<std::uint32_t>(out, kThreads);
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(order[i], i);
  }
}

TEST_P(KernelTraps, NamedBarriersReduceTheirOwnHalf) {
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    a_[i] = i % 3 == 0 && i < 64 ? 200 : 5;
  }
  const auto out_address = runner_.Buffer(4 * kThreads);
  Run("named_barriers", runner_.Upload(a_), out_address);
  EXPECT_EQ(runner_.Findings(), "");
  const Words out = runner_.Download<std::uint32_t>(out_address, kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(out[i], i < 64 ? 2 * 22U + 1 : 0U) << i;
  }
}

TEST_P(KernelTraps, CarryChainsOf128Bits) {
  __extension__ using Wide = unsigned __int128;
  std::vector<std::uint64_t> x;
  std::vector<std::uint64_t> y;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    x.push_back(i == 0 ? ~std::uint64_t{0} : std::uint64_t{a_[i]} << 32 | b_[i]);
    y.push_back(i < 2 ? ~std::uint64_t{0} : std::uint64_t{b_[i]} << 32 | a_[i] >> 3);
  }
  const auto out = runner_.Buffer(16 * kThreads);
  Run("carries", runner_.Upload(x), runner_.Upload(y), out);
  const auto got = runner_.Download<std::uint64_t>(out, 2 * kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const Wide p = static_cast<Wide>(x[i]) << 64 | y[i];
    const Wide q = static_cast<Wide>(y[i]) << 64 | x[i];
    const Wide want = p * q + (p - q);
    EXPECT_EQ(got[2 * i], static_cast<std::uint64_t>(want)) << i;
    EXPECT_EQ(got[2 * i + 1], static_cast<std::uint64_t>(want >> 64)) << i;
  }
}

TEST_P(KernelTraps, CallsPassStructsAndRecurse) {
  const auto out = runner_.Buffer(8 * kThreads);
  Run("calls", out);
  const auto got = runner_.Download<double>(out, kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint32_t depth = i % 5;
    EXPECT_EQ(got[i], (i << depth) + 7 + (0.5 + depth) * 2.0) << i;
  }
}

TEST_P(KernelTraps, LaneMasksAndClock) {
  const auto out = runner_.Buffer(4 * kThreads);
  Run("lanes", out);
  const Words got = runner_.Download<std::uint32_t>(out, kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint32_t gt = ~std::uint32_t{0} << (i % 32) << 1;
    EXPECT_EQ(got[i], gt) << i;
  }
}

TEST_P(KernelTraps, MatrixTilesInSharedMemoryOfEveryWarp) {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    a.push_back(arith::FloatToHalf(static_cast<float>(i * 7 % 11) - 5));
    b.push_back(arith::FloatToHalf(static_cast<float>(i * 5 % 13) - 6));
  }
  const auto out = runner_.Buffer(4096);
  Run("tiles", runner_.Upload(a), runner_.Upload(b), out);
  const auto got = runner_.Download<float>(out, 1024);
  for (std::uint32_t w = 0; w < 4; ++w) {
    for (std::uint32_t r = 0; r < 16; ++r) {
      for (std::uint32_t c = 0; c < 16; ++c) {
        float want = 1;
        for (std::uint32_t k = 0; k < 16; ++k) {
          want += arith::HalfToFloat(a[w * 256 + r * 16 + k]) *
                  arith::HalfToFloat(b[w * 256 + c * 16 + k]);
        }
        EXPECT_EQ(got[w * 256 + r * 16 + c], want) << w << " " << r << " " << c;
      }
    }
  }
}

TEST_P(KernelTraps, TheDeviceRuntimeHasBodies) {
  const auto out = runner_.Buffer(4 * kThreads);
  Run("asserts", out, std::int32_t{kThreads});
  EXPECT_EQ(runner_.Findings(), "");
  const auto got = runner_.Download<std::int32_t>(out, kThreads);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(kThreads); ++i) {
    EXPECT_EQ(got[static_cast<std::size_t>(i)], i * 10 + 2);
  }
  Run("asserts", out, std::int32_t{100});
  const std::string findings = runner_.Findings();
  EXPECT_NE(findings.find("assert"), std::string::npos) << findings;
  EXPECT_NE(findings.find("assertion `i < limit` failed in "), std::string::npos) << findings;
  EXPECT_NE(findings.find("traps.cu:"), std::string::npos) << findings;
  EXPECT_TRUE(runner_.device().faulted());
}

}  // namespace
}  // namespace voltcheck::simulator::testing
