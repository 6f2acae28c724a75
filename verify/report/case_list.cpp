#include "verify/report/case_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace voltcheck::report {
namespace {

using verify::Verdict;

constexpr std::size_t kPages = 4;  // kept

// The larger one; a NaN is no figure and loses.
double Larger(double a, double b) { return std::isnan(b) || a >= b ? a : b; }

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

CaseKey KeyOf(const CaseFigures& c) { return {c.WorstUse(), c.number, c.verdict, c.has_nan}; }

const std::vector<CaseFigures>& CaseList::PageOf(std::size_t i) const {
  const std::size_t number = i / kPage;
  const auto it = std::find_if(pages_.begin(), pages_.end(),
                               [number](const Page& page) { return page.first == number; });
  if (it != pages_.end()) {
    pages_.splice(pages_.begin(), pages_, it);
  } else {
    const std::size_t first = number * kPage;
    pages_.emplace_front(number, source_->Read(first, std::min(kPage, size() - first)));
    if (pages_.size() > kPages) {
      pages_.pop_back();
    }
  }
  return pages_.front().second;
}

const CaseFigures& CaseList::operator[](std::size_t i) const {
  if (source_ == nullptr) {
    return loaded_[i];
  }
  const auto it = pinned_.find(i);
  return it != pinned_.end() ? it->second : PageOf(i)[i % kPage];
}

void CaseList::Pin(std::span<const std::size_t> cases) const {
  if (source_ == nullptr) {
    return;
  }
  std::vector<std::size_t> ascending(cases.begin(), cases.end());
  std::sort(ascending.begin(), ascending.end());
  for (const std::size_t i : ascending) {
    if (!pinned_.contains(i)) {
      pinned_.emplace(i, PageOf(i)[i % kPage]);
    }
  }
}

void CaseList::Load() {
  if (source_ == nullptr) {
    return;
  }
  loaded_.clear();
  loaded_.reserve(size());
  for (std::size_t first = 0; first < size(); first += kPage) {
    for (CaseFigures& c : source_->Read(first, std::min(kPage, size() - first))) {
      loaded_.push_back(std::move(c));
    }
  }
  source_ = nullptr;
  pages_.clear();
  pinned_.clear();
}

void CaseList::Append(CaseFigures c) {
  Load();
  keys_.push_back(KeyOf(c));
  loaded_.push_back(std::move(c));
}

void CaseList::Replace(std::size_t i, CaseFigures c) {
  Load();
  keys_[i] = KeyOf(c);
  loaded_[i] = std::move(c);
}

std::vector<std::size_t> WorstFirst(const CaseList& cases) {
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int gravity_a = Gravity(cases.key(a).verdict);
    const int gravity_b = Gravity(cases.key(b).verdict);
    return gravity_a != gravity_b ? gravity_a > gravity_b : cases.key(a).use > cases.key(b).use;
  });
  return order;
}

}  // namespace voltcheck::report
