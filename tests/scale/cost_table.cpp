// Prints, for random cases, what the cost model sees of them and how long they took, one a line:
// tests/scale/fit_cost.py makes the model's weights of it. usage: voltcheck_cost_table COUNT [GRID]
#include <cstdio>
#include <cstdlib>
#include <map>

#include "fixtures/case/descriptor.h"
#include "verify/random_cases.h"
#include "verify/scale/cost_model.h"
#include "verify/sweep.h"

int main(int argc, char** argv) {
  namespace v = voltcheck::verify;
  const auto count = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 200);
  std::vector<voltcheck::Case> cases;
  if (argc > 2) {
    cases = v::SampleCases(voltcheck::ParseGrid(argv[2]), count, 1);
  } else {
    cases = v::RandomCases(count, 1);
  }
  v::SweepOptions options;
  options.jobs = 1;
  options.finished = [&](const v::CaseRecord& record, double seconds) {
    for (const double term : v::CostTerms(cases[record.index])) {
      std::printf("%.17g\t", term);
    }
    std::printf("%.6f\t%llu\t%s\n", seconds,
                static_cast<unsigned long long>(v::PredictedCost(cases[record.index])),
                record.descriptor.c_str());
  };
  v::RunCases(
      cases, v::ProblemSource(""), options, [](const v::CaseRecord&) {}, [] { return false; });
}
