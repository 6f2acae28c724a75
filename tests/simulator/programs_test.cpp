// CUDA C++ as nvcc compiles it, against the same computation on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/arith/half.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

class Programs : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Programs() : runner_(MakeOptions()), module_(Load()) {}

  static Options MakeOptions() {
    Options options;
    options.schedule = GetParam();
    options.checks = Checks::All();
    return options;
  }
  std::uint32_t Load() {
    return runner_.device().LoadModule({"programs.ptx", CompiledPtx("programs"), {}});
  }
  kernels::KernelHandle Kernel(const char* name) {
    return runner_.device().FindKernel(module_, name);
  }
  void TearDown() override { EXPECT_EQ(runner_.Findings(), ""); }

  Runner runner_;
  std::uint32_t module_;
};
INSTANTIATE_TEST_SUITE_P(Schedules, Programs, ::testing::Values(0, 1, 4));

TEST_P(Programs, SiluIsCloseToTheTrueValue) {
  std::vector<float> x;
  for (float v = -30; v < 30; v += 0.37f) {
    x.push_back(v);
  }
  const auto n = static_cast<std::int32_t>(x.size());
  const auto y = runner_.Buffer(x.size() * 4);
  runner_.Run(Kernel("silu"), {3, 1, 1}, {64, 1, 1}, 0, runner_.Upload(x), y, n);
  const auto got = runner_.Download<float>(y, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = x[i] / (1 + std::exp(-static_cast<double>(x[i])));
    EXPECT_NEAR(got[i], want, 4 * 0x1p-23 * std::fabs(want)) << x[i];
  }
}

TEST_P(Programs, LocalArraysSortEachThreadsRow) {
  std::vector<std::int32_t> in(64 * 16);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::int32_t>(i * 7919 % 1009);
  }
  const auto out = runner_.Buffer(in.size() * 4);
  runner_.Run(Kernel("sort_rows"), {2, 1, 1}, {32, 1, 1}, 0, runner_.Upload(in), out);
  const auto got = runner_.Download<std::int32_t>(out, in.size());
  for (std::size_t i = 0; i < 64; ++i) {
    std::vector<std::int32_t> row(in.begin() + static_cast<std::ptrdiff_t>(16 * i),
                                  in.begin() + static_cast<std::ptrdiff_t>(16 * i + 16));
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < 16; ++k) {
      EXPECT_EQ(got[16 * i + k], row[(k + i) % 16]);
    }
  }
}

TEST_P(Programs, SharedMemoryAndShufflesSum) {
  constexpr std::int32_t kN = 1000;
  std::vector<float> in(3 * kN);
  std::iota(in.begin(), in.end(), 1.0f);
  const auto out = runner_.Buffer(3 * 4);
  runner_.Run(Kernel("block_sum"), {3, 1, 1}, {128, 1, 1}, 0, runner_.Upload(in), out, kN);
  const auto got = runner_.Download<float>(out, 3);
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(got[b], 1000.0f * 1001.0f / 2 + 1e6f * static_cast<float>(b));
  }
}

TEST_P(Programs, SharedAndGlobalAtomicsCount) {
  std::vector<std::uint8_t> in(5000);
  std::vector<std::uint32_t> want(256, 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint8_t>(i * i % 251);
    ++want[in[i]];
  }
  const auto bins = runner_.Upload(std::vector<std::uint32_t>(256, 0));
  runner_.Run(Kernel("histogram"), {4, 1, 1}, {96, 1, 1}, 1024, runner_.Upload(in), bins,
              static_cast<std::int32_t>(in.size()));
  EXPECT_EQ(runner_.Download<std::uint32_t>(bins, 256), want);
}

TEST_P(Programs, SwitchesSendEachLaneItsWay) {
  std::vector<std::int32_t> in(32);
  for (std::int32_t i = 0; i < 32; ++i) {
    in[static_cast<std::size_t>(i)] = i * 5 % 10;
  }
  const auto out = runner_.Buffer(128);
  runner_.Run(Kernel("choose"), {1, 1, 1}, {32, 1, 1}, 0, runner_.Upload(in), out);
  const auto got = runner_.Download<std::int32_t>(out, 32);
  for (std::int32_t i = 0; i < 32; ++i) {
    const std::int32_t x = in[static_cast<std::size_t>(i)];
    const std::int32_t want[] = {
        7,          x * 3 + i, i * i, -i, in[static_cast<std::size_t>((i + 1) % 32)],
        x << i % 8, i / 3,     i % 5};
    EXPECT_EQ(got[static_cast<std::size_t>(i)], x < 8 ? want[x] : -1) << i;
  }
}

TEST_P(Programs, FunctionPointersAndRecursion) {
  const auto out = runner_.Buffer(64 * 4);
  runner_.Run(Kernel("call_table"), {1, 1, 1}, {64, 1, 1}, 0, out);
  const auto got = runner_.Download<std::int32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::int32_t steps = 0;
    for (std::uint32_t n = i + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) {
      ++steps;
    }
    EXPECT_EQ(got[i], i % 2 == 0 ? steps : static_cast<std::int32_t>(2 * (i + 1))) << i;
  }
}

TEST_P(Programs, StructsByValueAndWideDivision) {
  struct Weights {
    float w[8];
    std::int64_t bias;
  };
  const Weights weights{{1, 2, 3, 4, 5, 6, 7, 8}, -123456789012345};
  std::vector<std::int32_t> index(32);
  std::iota(index.begin(), index.end(), 3);
  const auto out = runner_.Buffer(32 * 8);
  runner_.Run(Kernel("by_value"), {1, 1, 1}, {32, 1, 1}, 0, weights, runner_.Upload(index), out);
  const auto got = runner_.Download<double>(out, 32);
  for (std::int64_t i = 0; i < 32; ++i) {
    const double root = std::sqrt(static_cast<double>(weights.w[(i + 3) & 7])) / 3.0;
    const double want = root + static_cast<double>((weights.bias + i) / (i + 1)) +
                        static_cast<double>((weights.bias - i) % (i + 7));
    EXPECT_EQ(got[static_cast<std::size_t>(i)], want) << i;
  }
}

TEST_P(Programs, HalfPairs) {
  using arith::HalfAdd;
  using arith::HalfFma;
  using arith::HalfSub;
  using arith::HalfToFloat;
  std::vector<std::uint16_t> a(64);
  std::vector<std::uint16_t> b(64);
  for (std::size_t i = 0; i < 64; ++i) {
    a[i] = arith::FloatToHalf(static_cast<float>(i) * 0.37f - 9);
    b[i] = arith::FloatToHalf(static_cast<float>(i * i % 23) * 0.11f - 1);
  }
  const auto out = runner_.Buffer(128);
  runner_.Run(Kernel("halves"), {1, 1, 1}, {32, 1, 1}, 0, runner_.Upload(a), runner_.Upload(b),
              out);
  const auto got = runner_.Download<std::uint16_t>(out, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t low = i & ~std::size_t{1};
    const bool greater = HalfToFloat(HalfFma(a[low], b[low], a[low])) > HalfToFloat(b[low]);
    const std::uint16_t fused = HalfFma(a[i], b[i], a[i]);
    EXPECT_EQ(got[i], greater ? HalfAdd(fused, b[i]) : HalfSub(fused, b[i])) << i;
  }
}

TEST_P(Programs, SemaphoresKeepTheOrderOfBlocks) {
  constexpr std::int32_t kParts = 40;
  const auto sum = runner_.Upload(std::vector<float>(64, 1.0f));
  const auto lock = runner_.Upload(std::vector<std::int32_t>(1, 0));
  runner_.Run(Kernel("ordered_add"), {kParts, 1, 1}, {64, 1, 1}, 0, sum, lock, kParts);
  float want = 1;
  for (std::int32_t p = 0; p < kParts; ++p) {
    want = want * 0.5f + static_cast<float>(p);
  }
  EXPECT_EQ(runner_.Download<float>(sum, 64), std::vector<float>(64, want));
  EXPECT_EQ(runner_.Download<std::int32_t>(lock, 1)[0], 0);
}

}  // namespace
}  // namespace voltcheck::simulator::testing
