// Speed of the simulator's tensor core in multiply-adds per second and core.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "reference/arith/fused_dot_add.h"
#include "reference/arith/warp_mma.h"

namespace voltcheck::arith {
namespace {

/// Activations and weights as kernels see them: a few binades around 1, both signs.
HalfBits TypicalHalf(std::mt19937& random) {
  return static_cast<HalfBits>((random() & 0x83FF) | (10 + random() % 7) << 10);
}

struct Warp {
  std::uint32_t a[2][32], b[2][32], c[8][32];
  std::uint32_t minus_a[2][32];
  std::array<const std::uint32_t*, 2> a_rows = {a[0], a[1]};
  std::array<const std::uint32_t*, 2> negated = {minus_a[0], minus_a[1]};
  const std::uint32_t* b_rows[2] = {b[0], b[1]};
  std::uint32_t* c_rows[8] = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};

  /// Rows of A from `used` on are zeros.
  explicit Warp(int used) {
    std::mt19937 random(42);
    for (int r = 0; r < 2; ++r) {
      for (int lane = 0; lane < 32; ++lane) {
        const bool zero = lane % 4 + lane / 16 * 4 >= used;
        a[r][lane] = zero ? 0 : TypicalHalf(random) | std::uint32_t{TypicalHalf(random)} << 16;
        minus_a[r][lane] = a[r][lane] ^ 0x80008000U;
        b[r][lane] = TypicalHalf(random) | std::uint32_t{TypicalHalf(random)} << 16;
      }
    }
    for (auto& row : c) {
      for (std::uint32_t& word : row) word = 0;
    }
  }
};

void RunWarp(benchmark::State& state, WarpMmaForm form, int used) {
  Warp warp(used);
  std::int64_t steps = 0;
  for (auto _ : state) {
    WarpMma884(form, warp.a_rows.data(), warp.b_rows, warp.c_rows, warp.c_rows);
    // Alternating signs keep the accumulators from growing out of reach of the products.
    std::swap(warp.a_rows, warp.negated);
    ++steps;
  }
  benchmark::DoNotOptimize(warp.c);
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(steps) * 1024, benchmark::Counter::kIsRate);
}

constexpr auto kCol = MmaLayout::kCol;
constexpr auto kRow = MmaLayout::kRow;

BENCHMARK_CAPTURE(RunWarp, v100_f32, {StepArithmetic::kV100, kRow, kCol, false, false}, 8);
BENCHMARK_CAPTURE(RunWarp, v100_f32_col_row, {StepArithmetic::kV100, kCol, kRow, false, false}, 8);
BENCHMARK_CAPTURE(RunWarp, v100_f32_one_row_in_eight,
                  {StepArithmetic::kV100, kRow, kCol, false, false}, 1);
BENCHMARK_CAPTURE(RunWarp, v100_f16, {StepArithmetic::kV100, kRow, kCol, true, true}, 8);
BENCHMARK_CAPTURE(RunWarp, software_f32, {StepArithmetic::kSm80Software, kRow, kCol, false, false},
                  8);
BENCHMARK_CAPTURE(RunWarp, software_f16, {StepArithmetic::kSm80Software, kRow, kCol, true, true},
                  8);

void RunTileStep(benchmark::State& state, StepArithmetic arithmetic, int m, int n) {
  std::mt19937 random(42);
  std::vector<HalfBits> a(static_cast<std::size_t>(m) * 4);
  std::vector<HalfBits> b(static_cast<std::size_t>(n) * 4);
  for (HalfBits& h : a) h = TypicalHalf(random);
  for (HalfBits& h : b) h = TypicalHalf(random);
  std::vector<float> acc(static_cast<std::size_t>(m * n));
  std::int64_t steps = 0;
  for (auto _ : state) {
    TileStep(arithmetic, a.data(), b.data(), acc.data(), m, n, n);
    for (HalfBits& h : a) h ^= 0x8000;
    ++steps;
  }
  benchmark::DoNotOptimize(acc.data());
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(steps) * m * n * 4, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(RunTileStep, v100_8x8, StepArithmetic::kV100, 8, 8);
BENCHMARK_CAPTURE(RunTileStep, v100_8x320, StepArithmetic::kV100, 8, 320);
BENCHMARK_CAPTURE(RunTileStep, software_8x320, StepArithmetic::kSm80Software, 8, 320);

void RunDotChain(benchmark::State& state, StepArithmetic arithmetic, int count, int steps) {
  std::mt19937 random(42);
  const int ldb = steps * 4;
  std::vector<HalfBits> a(static_cast<std::size_t>(steps) * 4);
  std::vector<HalfBits> b(static_cast<std::size_t>(count) * static_cast<std::size_t>(ldb));
  for (HalfBits& h : a) h = TypicalHalf(random);
  for (HalfBits& h : b) h = TypicalHalf(random);
  std::vector<float> acc(static_cast<std::size_t>(count));
  std::int64_t rounds = 0;
  for (auto _ : state) {
    DotChain(arithmetic, a.data(), b.data(), ldb, acc.data(), count, steps);
    ++rounds;
  }
  benchmark::DoNotOptimize(acc.data());
  state.counters["MAC/s"] = benchmark::Counter(static_cast<double>(rounds) * count * steps * 4,
                                               benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(RunDotChain, v100_32x2560, StepArithmetic::kV100, 32, 640);
BENCHMARK_CAPTURE(RunDotChain, software_32x2560, StepArithmetic::kSm80Software, 32, 640);

}  // namespace
}  // namespace voltcheck::arith

BENCHMARK_MAIN();
