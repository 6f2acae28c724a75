// Prints, for random cases, what the cost model sees of them and the processor time that they took,
// one a line: tests/scale/fit_cost.py makes the model's weights of it.
// usage: voltcheck_cost_table COUNT [GRID]
//        voltcheck_cost_table TABLE    the cases of an earlier table, measured then, with the
//                                      terms that the model has now
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fixtures/case/descriptor.h"
#include "verify/random_cases.h"
#include "verify/scale/cost_model.h"
#include "verify/sweep.h"

namespace {

namespace v = voltcheck::verify;

constexpr std::size_t kWarmUp = 60;  // cases that load and translate the modules

// Of the whole process: one case runs at a time, and other programs on the machine do not count.
double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Print(const voltcheck::Case& c, double seconds, const std::string& descriptor) {
  for (const double term : v::CostTerms(c)) {
    std::printf("%.17g\t", term);
  }
  std::printf("%.6f\t%llu\t%s\n", seconds, static_cast<unsigned long long>(v::PredictedCost(c)),
              descriptor.c_str());
  std::fflush(stdout);
}

void PrintAgain(const char* path) {
  std::ifstream table(path);
  for (std::string line; std::getline(table, line);) {
    const std::size_t descriptor = line.rfind('\t') + 1;
    const std::size_t predicted = line.rfind('\t', descriptor - 2) + 1;
    const std::size_t seconds = line.rfind('\t', predicted - 2) + 1;
    const std::string text = line.substr(descriptor);
    Print(voltcheck::ParseDescriptor(text), std::stod(line.substr(seconds)), text);
  }
}

void Measure(const std::vector<voltcheck::Case>& cases, bool print) {
  v::SweepOptions options;
  options.jobs = 1;
  double before = ProcessorSeconds();
  v::RunCases(
      cases, v::ProblemSource(""), options,
      [&](const v::CaseRecord& record) {
        const double seconds = ProcessorSeconds() - before;
        if (print && record.verdict != v::Verdict::kSkipped) {
          Print(cases[record.index], seconds, record.descriptor);
        }
        before = ProcessorSeconds();
      },
      [] { return false; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::ifstream(argv[1]).good()) {
    PrintAgain(argv[1]);
    return 0;
  }
  const auto count = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 200);
  std::vector<voltcheck::Case> warm_up = v::RandomCases(kWarmUp, 2);
  for (voltcheck::Case& c : warm_up) {
    c.shape.tokens = 1;
  }
  Measure(warm_up, false);
  Measure(
      argc > 2 ? v::SampleCases(voltcheck::ParseGrid(argv[2]), count, 1) : v::RandomCases(count, 1),
      true);
}
