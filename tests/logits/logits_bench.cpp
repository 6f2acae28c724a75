// Value pairs per second of a comparison of captures in memory.
#include <benchmark/benchmark.h>

#include <random>

#include "reference/arith/half.h"
#include "verify/logits/compare.h"

namespace voltcheck::logits {
namespace {

constexpr std::uint64_t kRows = 256;
constexpr std::uint64_t kVocabulary = 152064;

// `distance` in thousandths: 0 is A/A, 10 what rounding does, 4000 another model.
Capture Make(unsigned seed, double distance) {
  auto bits = std::make_shared<std::vector<std::uint16_t>>(kRows * kVocabulary);
  std::mt19937_64 common(1);
  std::mt19937_64 own(seed);
  for (std::uint16_t& h : *bits) {
    const auto uniform = [](std::mt19937_64& r) {
      return static_cast<double>(r() >> 11) * 0x1p-52 - 1;
    };
    h = arith::DoubleToHalf(12 * uniform(common) * uniform(common) + distance * uniform(own));
  }
  const std::array<std::uint64_t, 2> shape{kRows, kVocabulary};
  Capture c = MakeCapture("memory", Type::kF16, shape, std::as_bytes(std::span(*bits)));
  c.owner = bits;
  return c;
}

void CompareHalves(benchmark::State& state) {
  const double distance = static_cast<double>(state.range(0)) / 1000;
  const Capture base = Make(2, distance);
  const Capture other = Make(3, distance);
  for (auto _ : state) {
    benchmark::DoNotOptimize(CompareCaptures(base, other, {}));
  }
  state.counters["pairs_per_second"] = benchmark::Counter(
      static_cast<double>(kRows * kVocabulary), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(CompareHalves)->Arg(0)->Arg(10)->Arg(4000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace voltcheck::logits

BENCHMARK_MAIN();
