// The CUDA math library and other compiled code against the host. The library's code is made of
// exact instructions and table units, so NVIDIA's documented errors must hold.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

class Library : public ::testing::Test {
 protected:
  Library() {
    Options options;
    options.checks = Checks::All();
    runner_ = std::make_unique<Runner>(options);
    module_ = runner_->device().LoadModule({"library.ptx", CompiledPtx("library"), {}});
  }
  kernels::KernelHandle Kernel(const char* name) {
    return runner_->device().FindKernel(module_, name);
  }
  template <typename T>
  std::vector<T> RunRows(const char* name, std::size_t rows, const std::vector<T>& x) {
    const auto n = static_cast<std::int32_t>(x.size());
    const auto y = runner_->Buffer(rows * x.size() * sizeof(T));
    runner_->Run(Kernel(name), {static_cast<std::uint32_t>((x.size() + 63) / 64), 1, 1}, {64, 1, 1},
                 0, runner_->Upload(x), y, n);
    EXPECT_EQ(runner_->Findings(), "");
    return runner_->Download<T>(y, rows * x.size());
  }

  std::unique_ptr<Runner> runner_;
  std::uint32_t module_ = 0;
};

struct Function {
  const char* name;
  double ulps;      ///< documented error, in units of the last place
  double absolute;  ///< and besides
  std::function<double(double)> exact;
};

TEST_F(Library, SinglePrecisionKeepsItsDocumentedErrors) {
  std::vector<float> x;
  for (float v = -9.7F; v < 9.7F; v += 0.0631F) {
    x.push_back(v);
  }
  const std::vector<Function> functions = {
      {"expf", 2, 0, [](double v) { return std::exp(v); }},
      {"sinf", 2, 0,
       [](double v) { return std::sin(static_cast<double>(static_cast<float>(v) * 1e5F)); }},
      {"cosf", 2, 0, [](double v) { return std::cos(v); }},
      {"logf", 1, 0, [](double v) { return std::log(std::fabs(v)); }},
      {"powf", 4, 0, [](double v) { return std::pow(std::fabs(v), static_cast<double>(1.7F)); }},
      {"tanhf", 2, 0, [](double v) { return std::tanh(v); }},
      {"erff", 2, 0, [](double v) { return std::erf(v); }},
      {"rsqrtf", 2, 0, [](double v) { return 1 / std::sqrt(std::fabs(v)); }},
      {"sqrtf, division", 1.5, 0, [](double v) { return std::sqrt(std::fabs(v)) / v; }},
      {"cbrtf", 1, 0, [](double v) { return std::cbrt(v); }},
      {"atan2f", 3, 0, [](double v) { return std::atan2(v, 1.5); }},
      {"log1pf", 1, 0, [](double v) { return std::log1p(std::fabs(v)); }},
      {"fmodf", 0, 0, [](double v) { return std::fmod(v, 0.375); }},
      {"roundings", 0.5, 0, [](double v) { return std::rint(v) + std::floor(v) * std::trunc(v); }}};
  const std::vector<float> y = RunRows("singles", functions.size(), x);
  for (std::size_t f = 0; f < functions.size(); ++f) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = functions[f].exact(x[i]);
      const double ulp = std::ldexp(1.0, std::ilogb(want == 0 ? 1 : want) - 23);
      EXPECT_LE(std::fabs(y[f * x.size() + i] - want), functions[f].ulps * ulp + 0.5 * ulp)
          << functions[f].name << "(" << x[i] << ")";
    }
  }
}

TEST_F(Library, IntrinsicsKeepTheirDocumentedErrors) {
  std::vector<float> x;
  for (float v = -3.1F; v < 3.1F; v += 0.0173F) {
    x.push_back(v);
  }
  const std::vector<Function> functions = {
      {"__expf", 6, 0, [](double v) { return std::exp(v); }},
      {"__sinf", 0, 0x1p-21, [](double v) { return std::sin(v); }},
      {"__cosf", 0, 0x1p-21, [](double v) { return std::cos(v); }},
      {"__log2f", 2, 0x1p-22, [](double v) { return std::log2(std::fabs(v)); }},
      {"__fdividef", 2, 0, [](double v) { return 1 / v; }},
      {"__frsqrt_rn", 0.5, 0, [](double v) { return 1 / std::sqrt(std::fabs(v)); }},
      {"__powf", 8, 0, [](double v) { return std::sqrt(std::fabs(v)); }}};
  const std::vector<float> y = RunRows("fast", functions.size(), x);
  for (std::size_t f = 0; f < functions.size(); ++f) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = functions[f].exact(x[i]);
      const double ulp = std::ldexp(1.0, std::ilogb(want) - 23);
      EXPECT_LE(std::fabs(y[f * x.size() + i] - want),
                functions[f].ulps * ulp + functions[f].absolute)
          << functions[f].name << "(" << x[i] << ")";
    }
  }
}

TEST_F(Library, DoublePrecisionKeepsItsDocumentedErrors) {
  std::vector<double> x;
  for (double v = -9.7; v < 9.7; v += 0.0831) {
    x.push_back(v);
  }
  const std::vector<Function> functions = {
      {"exp", 1, 0, [](double v) { return std::exp(v); }},
      {"sin", 2, 0, [](double v) { return std::sin(v * 1e9); }},
      {"log", 1, 0, [](double v) { return std::log(std::fabs(v)); }},
      {"pow", 2, 0, [](double v) { return std::pow(std::fabs(v), 1.7); }},
      {"rsqrt", 1, 0, [](double v) { return 1 / std::sqrt(std::fabs(v)); }},
      {"tanh", 2, 0, [](double v) { return std::tanh(v); }},
      {"cbrt", 2, 0, [](double v) { return std::cbrt(v); }},
      {"division", 0, 0, [](double v) { return 1 / v; }},
      {"square root", 0, 0, [](double v) { return std::sqrt(std::fabs(v)) / 3.7; }},
      {"fmod", 0, 0, [](double v) { return std::fmod(v, 0.3); }}};
  const std::vector<double> y = RunRows("doubles", functions.size(), x);
  for (std::size_t f = 0; f < functions.size(); ++f) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = functions[f].exact(x[i]);
      const double ulp = std::ldexp(1.0, std::ilogb(want == 0 ? 1 : want) - 52);
      // The host's own library errs by up to one unit, except where the entry says 0.
      const double allowed = functions[f].ulps == 0 ? 0 : functions[f].ulps + 1;
      EXPECT_LE(std::fabs(y[f * x.size() + i] - want), allowed * ulp)
          << functions[f].name << "(" << x[i] << ")";
    }
  }
}

TEST_F(Library, WideIntegers) {
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  std::uint64_t state = 88172645463325252U;
  for (int i = 0; i < 200; ++i) {
    for (std::vector<std::int64_t>* to : {&a, &b}) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      to->push_back(static_cast<std::int64_t>(state) >> (i * 7 % 60));
    }
    b.back() = b.back() == 0 || b.back() == -1 ? 3 : b.back();
  }
  const std::size_t n = a.size();
  const auto y = runner_->Buffer(12 * n * 8);
  runner_->Run(Kernel("integers"), {4, 1, 1}, {64, 1, 1}, 0, runner_->Upload(a), runner_->Upload(b),
               y, static_cast<std::int32_t>(n));
  EXPECT_EQ(runner_->Findings(), "");
  const auto got = runner_->Download<std::int64_t>(y, 12 * n);
  __extension__ using Wide = __int128;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t p = a[i];
    const std::int64_t q = b[i];
    const auto up = static_cast<std::uint64_t>(p);
    const auto uq = static_cast<std::uint64_t>(q);
    EXPECT_EQ(got[i], p / q);
    EXPECT_EQ(got[n + i], p % q);
    EXPECT_EQ(static_cast<std::uint64_t>(got[2 * n + i]), up / uq);
    EXPECT_EQ(static_cast<std::uint64_t>(got[3 * n + i]), up % uq);
    EXPECT_EQ(got[4 * n + i], static_cast<std::int64_t>(static_cast<Wide>(p) * q >> 64));
    EXPECT_EQ(got[5 * n + i], __builtin_popcountll(up) +
                                  100 * (up == 0 ? 64 : __builtin_clzll(up)) +
                                  10000 * __builtin_ffsll(q));
    std::uint64_t reversed = 0;
    for (int k = 0; k < 64; ++k) {
      reversed |= (up >> k & 1) << (63 - k);
    }
    EXPECT_EQ(static_cast<std::uint64_t>(got[6 * n + i]), reversed);
    const auto p32 = static_cast<std::int32_t>(p);
    const auto q32 = static_cast<std::int32_t>(q);
    if (p32 != INT32_MIN || (q32 | 1) != -1) {
      EXPECT_EQ(got[7 * n + i], p32 / (q32 | 1));
    }
    EXPECT_EQ(got[8 * n + i], static_cast<std::uint32_t>(p) % (static_cast<std::uint32_t>(q) | 1));
    std::uint32_t sum4 = 0;
    std::int32_t dot = 5;
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t sum =
          static_cast<std::uint32_t>(p >> (8 * k)) + static_cast<std::uint32_t>(q >> (8 * k));
      sum4 |= (sum & 0xFF) << (8 * k);
      dot += static_cast<std::int8_t>(p >> (8 * k)) * static_cast<std::int8_t>(q >> (8 * k));
    }
    EXPECT_EQ(got[9 * n + i], sum4);
    EXPECT_EQ(got[10 * n + i], dot);
    EXPECT_EQ(got[11 * n + i],
              static_cast<std::int64_t>(static_cast<Wide>(p) * q / ((q >> 40) | 1)));
  }
}

TEST_F(Library, CooperativeGroups) {
  const auto y = runner_->Buffer(64 * 4);
  runner_->Run(Kernel("groups"), {1, 1, 1}, {64, 1, 1}, 0, y);
  EXPECT_EQ(runner_->Findings(), "");
  const auto got = runner_->Download<std::uint32_t>(y, 64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t warp = i / 32;
    std::uint32_t want = 31 * 16 + warp * 32 * 32 + 1000 * (i % 4 == 3 ? i : i + 1);
    if (i % 3 == 0) {
      const std::uint32_t first = warp == 0 ? 0 : 33;
      want += 1000000 * ((i - first) / 3) + (11U << 28);
    }
    EXPECT_EQ(got[i], want) << i;
  }
}

TEST_F(Library, ObjectsPointersAndThreeDimensions) {
  constexpr std::uint32_t kCount = 4 * 3 * 5;
  constexpr std::uint32_t kBlocks = 2 * 3 * 2;
  const auto y = runner_->Buffer(kCount * kBlocks * 4);
  runner_->Run(Kernel("objects"), {2, 3, 2}, {4, 3, 5}, kCount * 4, y,
               runner_->Upload(std::vector<float>{10}));
  EXPECT_EQ(runner_->Findings(), "");
  const auto got = runner_->Download<std::int32_t>(y, kCount * kBlocks);
  for (std::uint32_t i = 0; i < kCount * kBlocks; ++i) {
    const auto t = static_cast<std::int32_t>(i % kCount);
    const std::int32_t area = t % 2 != 0 ? t + 3 : 2 * t * 3;
    const std::int32_t want = 30 + area + (t * 5 % 33) * t + t % 8 + 1 + (3 + t % 2) +
                              (t + 1) % static_cast<std::int32_t>(kCount) + 10 * (t % 3 + 1);
    EXPECT_EQ(got[i], want) << i;
  }
}

TEST_F(Library, ClocksAreDeterministic) {
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 2; ++run) {
    Runner runner;
    const auto kernel = runner.Load(CompiledPtx("library"), "clocks");
    const auto y = runner.Buffer(64 * 8);
    runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, y);
    const auto got = runner.Download<std::uint64_t>(y, 64);
    EXPECT_TRUE(run == 0 || got == first);
    first = got;
  }
}

}  // namespace
}  // namespace voltcheck::simulator::testing
