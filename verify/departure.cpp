#include "verify/departure.h"

#include <algorithm>

#include "reference/arith/half.h"
#include "reference/order_model.h"

namespace voltcheck::verify {
namespace {

using reference::HalfMatrix;

constexpr int kStepRows = 4;

// The element's value over the first `kept` rows of K, on both sides.
struct Shortened {
  bool ran = false;
  std::uint16_t got = 0;
  std::uint16_t want = 0;
  bool differs() const { return arith::HalfUlpDistance(got, want) != 0; }
};

}  // namespace

Departure FindDeparture(const Problem& problem, const reference::Permutation& permutation,
                        reference::Gemm gemm, const HalfMatrix& input, const Tactic& tactic,
                        Numerics numerics, int row, int col, const RunGemm& run) {
  Departure departure;
  departure.row = row;
  departure.col = col;
  const auto shorten = [&](int steps) {
    const int kept = steps * kStepRows;
    Shortened s;
    const HalfMatrix out = run(gemm, kept);
    s.ran = out.rows > row && out.cols > col;
    if (s.ran) {
      s.got = out.row(row)[static_cast<std::size_t>(col)];
      s.want = reference::PredictElement(problem, permutation, gemm, input, tactic, numerics, row,
                                         col, kept);
    }
    return s;
  };
  int agrees = -1;  // no step at all: nothing to differ in
  int differs = input.cols / kStepRows;
  Shortened at = shorten(differs);
  if (!at.ran || !at.differs()) {
    return departure;  // the device gives something else now
  }
  while (differs - agrees > 1) {
    const int middle = (agrees + differs) / 2;
    const Shortened s = shorten(middle);
    if (!s.ran) {
      return departure;
    }
    if (s.differs()) {
      differs = middle;
      at = s;
    } else {
      agrees = middle;
    }
  }
  // `differs` steps end with step differs - 1; 0 means that it differs without any input.
  departure.k = std::max(differs - 1, 0) * kStepRows;
  for (int split = 0; split < tactic.splits; ++split) {
    const SplitRange range = SplitRows(tactic, split, input.cols, problem.c.shape.group);
    if (departure.k >= range.begin && departure.k < range.end) {
      departure.split = split;
    }
  }
  departure.got = arith::HalfToFloat(at.got);
  departure.want = arith::HalfToFloat(at.want);
  return departure;
}

}  // namespace voltcheck::verify
