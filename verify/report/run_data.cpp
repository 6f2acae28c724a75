#include "verify/report/run_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace voltcheck::report {
namespace {

using verify::Verdict;

// The larger one; a NaN is no figure and loses.
double Larger(double a, double b) { return std::isnan(b) || a >= b ? a : b; }

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

// Whether a shell takes the word as it stands: options come from the file, and people run the line.
bool IsPlain(const std::string& word) {
  return word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "-_.,:/=+@%") == std::string::npos;
}

}  // namespace

double StageFigures::Use() const { return Larger(Larger(0, own_use), posterior_use); }

double CaseFigures::WorstUse() const {
  double worst = 0;
  for (const StageFigures& s : stages) {
    worst = Larger(worst, s.Use());
  }
  return worst;
}

double CaseFigures::WorstEndToEndUse() const {
  double worst = 0;
  for (const StageFigures& s : stages) {
    worst = Larger(worst, s.end_to_end_use);
  }
  return worst;
}

double CaseFigures::MaxAbs() const {
  double worst = 0;
  for (const StageFigures& s : stages) {
    worst = Larger(worst, s.max_abs);
  }
  return worst;
}

std::uint64_t CaseFigures::BitsDiffering() const {
  std::uint64_t sum = 0;
  for (const StageFigures& s : stages) {
    sum += s.bits_differing;
  }
  return sum;
}

std::string RunData::Attribute(const std::string& name) const {
  const auto it = attributes.find(name);
  return it == attributes.end() ? "" : it->second;
}

std::string RunData::Reproduction(const std::string& descriptor) const {
  std::string line = "voltcheck replay --case " + ShellQuoted(descriptor);
  std::string options = Attribute("options");
  if (options.empty()) {
    // A file from before there were options: what follows --device is how cases were run and
    // judged.
    const std::string arguments = Attribute("arguments");
    const std::size_t device = arguments.find("--device ");
    options = device == std::string::npos ? "" : arguments.substr(device);
  }
  // --draws and --allow-skip say nothing about one case.
  bool skips = false;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    skips = word.starts_with("--") ? word == "--draws" || word == "--allow-skip" : skips;
    if (!skips) {
      line += " " + (IsPlain(word) ? word : ShellQuoted(word));
    }
  }
  return line;
}

int Gravity(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCrashed:
      return 6;
    case Verdict::kChecker:
      return 5;
    case Verdict::kNondeterministic:
      return 4;
    case Verdict::kFailed:
      return 3;
    case Verdict::kMistrusted:
      return 2;
    case Verdict::kUntested:
    case Verdict::kSkipped:
      return 1;
    case Verdict::kPassed:
      break;
  }
  return 0;
}

std::vector<std::size_t> WorstFirst(const std::vector<CaseFigures>& cases) {
  std::vector<double> uses;
  uses.reserve(cases.size());
  for (const CaseFigures& c : cases) {
    uses.push_back(c.WorstUse());
  }
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int gravity_a = Gravity(cases[a].verdict);
    const int gravity_b = Gravity(cases[b].verdict);
    return gravity_a != gravity_b ? gravity_a > gravity_b : uses[a] > uses[b];
  });
  return order;
}

}  // namespace voltcheck::report
