// How fast the reference is beside plain Eigen SGEMM on the same shapes: the same grouped products
// over weights that were decoded to fp32 beforehand. Both in one run, so only their ratio matters;
// it must be at least one half.
#include <benchmark/benchmark.h>

#include <map>

#include "reference/budget.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "reference/stage.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

// Arguments: H, I, E, k, T, and for the products which GEMM.
Problem BenchProblem(const benchmark::State& state) {
  Case c;
  c.shape = {.hidden = static_cast<int>(state.range(0)),
             .intermediate = static_cast<int>(state.range(1)),
             .experts = static_cast<int>(state.range(2)),
             .top_k = static_cast<int>(state.range(3)),
             .group = 32,
             .tokens = static_cast<int>(state.range(4))};
  return RandomProblem(c, {}, 1);
}

Matrix<float> BenchInput(const Problem& problem, Gemm gemm) {
  const Case& c = problem.c;
  return Matrix<float>::Random(c.shape.slots(), gemm == Gemm::kW13 ? c.w13_k() : c.w2_k());
}

void CountMultiplications(benchmark::State& state, const Problem& problem) {
  const double per_gemm = static_cast<double>(problem.c.shape.slots()) * problem.c.shape.hidden *
                          problem.c.shape.intermediate;
  state.counters["mac"] = benchmark::Counter(
      per_gemm * (state.range(5) == 0 ? 2 : 1) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

void Reference(benchmark::State& state) {
  const Problem problem = BenchProblem(state);
  const Permutation permutation = Permute(problem);
  const Gemm gemm = state.range(5) == 0 ? Gemm::kW13 : Gemm::kW2;
  const Matrix<float> a = BenchInput(problem, gemm);
  for (auto _ : state) {
    benchmark::DoNotOptimize(GroupedGemm<float>(problem, permutation, gemm, a, {}));
  }
  CountMultiplications(state, problem);
}

void PlainEigen(benchmark::State& state) {
  const Problem problem = BenchProblem(state);
  const Permutation permutation = Permute(problem);
  const Gemm gemm = state.range(5) == 0 ? Gemm::kW13 : Gemm::kW2;
  const Matrix<float> a = BenchInput(problem, gemm);
  std::map<int, Matrix<float>> decoded;
  for (const auto& expert : problem.experts) {
    decoded[expert->id] =
        Decode<float>(gemm == Gemm::kW13 ? expert->w13 : expert->w2, WeightKind::kContract);
  }
  for (auto _ : state) {
    Matrix<float> out(a.rows(), decoded.begin()->second.cols());
    for (int s = 0; s < permutation.active; ++s) {
      const int first = permutation.offsets[static_cast<std::size_t>(s)];
      const int rows = permutation.offsets[static_cast<std::size_t>(s) + 1] - first;
      const int expert = permutation.segment_expert[static_cast<std::size_t>(s)];
      out.middleRows(first, rows).noalias() = a.middleRows(first, rows) * decoded[expert];
    }
    benchmark::DoNotOptimize(out);
  }
  CountMultiplications(state, problem);
}

void OrderModel(benchmark::State& state) {
  const Problem problem = BenchProblem(state);
  const Permutation permutation = Permute(problem);
  const HalfMatrix a = ToHalfMatrix(PermutedInput<float>(problem, permutation));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        PredictGemm(problem, permutation, Gemm::kW13, a, {{8, 128, 64}, 4}, Numerics::kV100));
  }
}

void Budget(benchmark::State& state) {
  const Problem problem = BenchProblem(state);
  const Permutation permutation = Permute(problem);
  const Matrix<double> a = PermutedInput<double>(problem, permutation);
  for (auto _ : state) {
    benchmark::DoNotOptimize(BoundGemm(problem, permutation, Gemm::kW13, a, nullptr,
                                       {{8, 128, 64}, 4}, Numerics::kV100));
  }
}

void Shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"H", "I", "E", "k", "T", "W2"});
  for (const int w2 : {0, 1}) {
    for (const int tokens : {1, 8, 128}) {
      b->Args({2560, 160, 512, 10, tokens, w2});
    }
    b->Args({256, 64, 16, 4, 8, w2});
    b->Args({2048, 256, 16, 8, 64, w2});
  }
}

BENCHMARK(PlainEigen)->Apply(Shapes)->Unit(benchmark::kMillisecond);
BENCHMARK(Reference)->Apply(Shapes)->Unit(benchmark::kMillisecond);
BENCHMARK(OrderModel)->Args({2560, 160, 512, 10, 8})->Unit(benchmark::kMillisecond);
BENCHMARK(Budget)->Args({2560, 160, 512, 10, 8})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace voltcheck::reference

BENCHMARK_MAIN();
