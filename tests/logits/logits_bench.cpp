// Value pairs per second of a comparison of captures in memory.
#include <benchmark/benchmark.h>

#include <bit>
#include <cstring>
#include <random>

#include "reference/arith/half.h"
#include "verify/logits/compare.h"

namespace voltcheck::logits {
namespace {

constexpr std::uint64_t kRows = 64;
constexpr std::uint64_t kVocabulary = 152064;

// `distance` in thousandths: 0 is A/A, 10 what rounding does, 4000 another model.
Capture Make(Type type, unsigned seed, double distance) {
  auto bytes = std::make_shared<std::vector<std::byte>>(kRows * kVocabulary * BytesOf(type));
  std::mt19937_64 common(1);
  std::mt19937_64 own(seed);
  const auto uniform = [](std::mt19937_64& r) {
    return static_cast<double>(r() >> 11) * 0x1p-52 - 1;
  };
  for (std::uint64_t i = 0; i < kRows * kVocabulary; ++i) {
    const double x = 12 * uniform(common) * uniform(common) + distance * uniform(own);
    const auto wide = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    const std::uint16_t narrow =
        type == Type::kF16 ? arith::DoubleToHalf(x) : static_cast<std::uint16_t>(wide >> 16U);
    if (type == Type::kF32) {
      std::memcpy(bytes->data() + i * sizeof(wide), &wide, sizeof(wide));
    } else {
      std::memcpy(bytes->data() + i * sizeof(narrow), &narrow, sizeof(narrow));
    }
  }
  const std::array<std::uint64_t, 2> shape{kRows, kVocabulary};
  Capture c = MakeCapture("memory", type, shape, *bytes);
  c.owner = bytes;
  return c;
}

void Compare(benchmark::State& state) {
  const auto type = static_cast<Type>(state.range(0));
  const double distance = static_cast<double>(state.range(1)) / 1000;
  CompareOptions options;
  options.jobs = static_cast<int>(state.range(2));
  const Capture base = Make(type, 2, distance);
  const Capture other = Make(type, 3, distance);
  for (auto _ : state) {
    benchmark::DoNotOptimize(CompareCaptures(base, other, options));
  }
  state.counters["pairs_per_second"] = benchmark::Counter(
      static_cast<double>(kRows * kVocabulary), benchmark::Counter::kIsIterationInvariantRate);
}
// With one job the processor time is that of the pairs, whatever else the machine does.
BENCHMARK(Compare)
    ->ArgNames({"type", "distance", "jobs"})
    ->ArgsProduct({{static_cast<int>(Type::kF16), static_cast<int>(Type::kBf16),
                    static_cast<int>(Type::kF32)},
                   {0, 10, 4000},
                   {1}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Compare)
    ->ArgNames({"type", "distance", "jobs"})
    ->ArgsProduct({{static_cast<int>(Type::kF16), static_cast<int>(Type::kF32)},
                   {0, 10, 4000},
                   {2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace voltcheck::logits

BENCHMARK_MAIN();
