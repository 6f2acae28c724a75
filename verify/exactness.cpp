#include "verify/exactness.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "reference/arith/half.h"
#include "reference/awq.h"

namespace voltcheck::verify {
namespace {

using reference::Gemm;
using reference::HalfMatrix;

constexpr double kSmallestNormal =
    0x1p-14;                            // the exponent that the tensor core clamps subnormals to
constexpr double kExactRange = 0x1p23;  // F of the narrowest supported tensor core
constexpr std::size_t kFewElements =
    8;  // rows with at most as many nonzeros are looked at one by one

// The value of the lowest set bit of a nonzero finite half.
double LowestBit(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const unsigned fraction = h & 0x3FFU;
  const unsigned significand = exponent == 0 ? fraction : fraction | 0x400U;
  return std::ldexp(1.0, std::max(exponent, 1) - 25 + std::countr_zero(significand));
}

bool IsZero(std::uint16_t h) { return (h & 0x7FFFU) == 0; }
bool IsFinite(std::uint16_t h) { return (h & 0x7C00U) != 0x7C00U; }

// What the proof needs to know of a set of halves.
struct Extent {
  double unit = INFINITY;  // smallest lowest bit
  double max = 0;
  double sum = 0;
  bool finite = true;

  void Add(std::uint16_t h) {
    if (IsZero(h)) {
      return;
    }
    const double magnitude = std::abs(static_cast<double>(arith::HalfToFloat(h)));
    unit = std::min(unit, LowestBit(h));
    max = std::max(max, magnitude);
    sum += magnitude;
    finite = finite && IsFinite(h);
  }
};

bool ProvesExact(const Extent& a, const Extent& w) {
  if (!a.finite || !w.finite) {
    return false;
  }
  if (a.max == 0 || w.max == 0) {
    return true;
  }
  const double limit = kExactRange * a.unit * w.unit;
  return a.sum * w.max < limit &&
         std::max(a.max, kSmallestNormal) * std::max(w.max, kSmallestNormal) < limit;
}

// One expert's contract weights with the extent of each column.
struct Columns {
  HalfMatrix weights;
  std::vector<Extent> extents;
};

Columns MakeColumns(const AwqMatrix& m) {
  Columns columns{reference::DecodeContract(m), {}};
  columns.extents.resize(static_cast<std::size_t>(m.n));
  for (int k = 0; k < m.k; ++k) {
    const auto row = columns.weights.row(k);
    for (std::size_t n = 0; n < row.size(); ++n) {
      columns.extents[n].Add(row[n]);
    }
  }
  return columns;
}

}  // namespace

std::vector<std::uint8_t> ExactOutputs(const Problem& problem,
                                       const reference::Permutation& permutation, Gemm gemm,
                                       const HalfMatrix& a) {
  const bool is_w13 = gemm == Gemm::kW13;
  const auto n = static_cast<std::size_t>(is_w13 ? problem.c.w13_n() : problem.c.w2_n());
  std::vector<std::uint8_t> exact(static_cast<std::size_t>(permutation.rows) * n, 0);
  std::map<int, Columns> experts;
  for (int r = 0; r < permutation.rows; ++r) {
    const auto row = a.row(r);
    Extent extent;
    std::vector<int> nonzero;
    for (std::size_t k = 0; k < row.size(); ++k) {
      extent.Add(row[k]);
      if (!IsZero(row[k]) && nonzero.size() <= kFewElements) {
        nonzero.push_back(static_cast<int>(k));
      }
    }
    // Random halves span so many binades that no weight can save the proof: do not decode for them.
    if (!extent.finite || (extent.max > 0 && extent.sum >= kExactRange * extent.unit)) {
      continue;
    }
    const int expert = permutation.expert[static_cast<std::size_t>(r)];
    const ExpertWeights* weights = problem.FindExpert(expert);
    if (weights == nullptr) {
      continue;
    }
    auto it = experts.find(expert);
    if (it == experts.end()) {
      it = experts.emplace(expert, MakeColumns(is_w13 ? weights->w13 : weights->w2)).first;
    }
    const bool few = nonzero.size() <= kFewElements;
    for (std::size_t col = 0; col < n; ++col) {
      Extent met = it->second.extents[col];
      if (few) {
        met = Extent();
        for (const int k : nonzero) {
          met.Add(it->second.weights.row(k)[col]);
        }
      }
      exact[static_cast<std::size_t>(r) * n + col] = ProvesExact(extent, met) ? 1 : 0;
    }
  }
  return exact;
}

}  // namespace voltcheck::verify
