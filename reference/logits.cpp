#include "reference/logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/rounding_error.h"

namespace voltcheck::reference {
namespace {

template <typename Scalar>
Matrix<Scalar> Halves(const std::vector<std::uint16_t>& bits, Eigen::Index rows, Eigen::Index cols,
                      const char* name) {
  if (bits.size() != static_cast<std::size_t>(rows * cols)) {
    throw BadInput("head." + std::string(name),
                   "has " + std::to_string(bits.size()) + " elements, not " + std::to_string(rows) +
                       " x " + std::to_string(cols),
                   "check the tensor's shape");
  }
  Matrix<Scalar> values(rows, cols);
  std::transform(bits.begin(), bits.end(), values.data(),
                 [](arith::HalfBits h) { return static_cast<Scalar>(arith::HalfToFloat(h)); });
  return values;
}

// sum of a[i] * b[i], each product and each sum rounded by itself, in an order that is the same on
// every machine whatever its vector width: kLanes interleaved sums, which a compiler may keep in
// one register or in eight, then halves added to halves.
template <typename Scalar>
Scalar FixedDot(const Scalar* a, const Scalar* b, Eigen::Index n) {
  constexpr int kLanes = 16;
  std::array<Scalar, kLanes> sums{};
  Eigen::Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < n; ++i) {
    sums[static_cast<std::size_t>(i % kLanes)] += a[i] * b[i];
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      sums[lane] += sums[lane + half];
    }
  }
  return sums[0];
}

// The head's tensors, and x = residual + output.
template <typename Scalar>
struct HeadInput {
  Matrix<Scalar> x;     // [T, H]
  Matrix<Scalar> norm;  // [1, H]
  Matrix<Scalar> head;  // [V, H]
  Scalar epsilon;

  HeadInput(const Problem& problem, const Matrix<Scalar>& output) {
    if (problem.head == nullptr) {
      throw BadInput("logits", "the problem has no head",
                     "use a fixture with norm and head tensors");
    }
    const LogitsHead& h = *problem.head;
    const Eigen::Index hidden = output.cols();
    // A residual may hold more tokens than the case runs.
    std::vector<std::uint16_t> residual = h.residual;
    residual.resize(std::min(residual.size(), static_cast<std::size_t>(output.size())));
    x = Halves<Scalar>(residual, output.rows(), hidden, "residual") + output;
    norm = Halves<Scalar>(h.norm, 1, hidden, "norm");
    head = Halves<Scalar>(h.head, h.vocabulary(), hidden, "head");
    epsilon = static_cast<Scalar>(h.epsilon);
  }

  Scalar Rms(Eigen::Index token) const {
    const Scalar* row = x.row(token).data();
    return std::sqrt(FixedDot(row, row, x.cols()) / static_cast<Scalar>(x.cols()) + epsilon);
  }
};

template <typename Scalar>
Matrix<Scalar> Logits(const HeadInput<Scalar>& in) {
  Matrix<Scalar> logits(in.x.rows(), in.head.rows());
  for (Eigen::Index t = 0; t < in.x.rows(); ++t) {
    const Matrix<Scalar> normed = (in.x.row(t) / in.Rms(t)).cwiseProduct(in.norm);
    for (Eigen::Index v = 0; v < in.head.rows(); ++v) {
      logits(t, v) = FixedDot(normed.data(), in.head.row(v).data(), normed.cols());
    }
  }
  return logits;
}

}  // namespace

template <typename Scalar>
Matrix<Scalar> Logits(const Problem& problem, const Matrix<Scalar>& output) {
  return Logits(HeadInput<Scalar>(problem, output));
}

template Matrix<float> Logits(const Problem&, const Matrix<float>&);
template Matrix<double> Logits(const Problem&, const Matrix<double>&);

Bounded BoundLogits(const Problem& problem, const Bounded& output) {
  const HeadInput<double> in(problem, output.value);
  const Matrix<double> uncertainty = output.value.binaryExpr(output.budget, &UncertaintyOf);
  Bounded out{Logits(in), {}};
  out.budget.resize(out.value.rows(), out.value.cols());
  const auto hidden = static_cast<int>(in.x.cols());
  // fp32: sum of squares, mean, square root, quotient, gain (counted with room), and the dot
  // product.
  const double own = Gamma(2 * hidden + 8);
  for (Eigen::Index t = 0; t < out.value.rows(); ++t) {
    const auto d = uncertainty.row(t).array();
    const double* moved = uncertainty.row(t).data();
    const Matrix<double> reach = in.x.row(t).cwiseAbs() + uncertainty.row(t);
    const double rms = in.Rms(t);
    const double rms_change = std::sqrt(FixedDot(moved, moved, hidden) / hidden);
    for (Eigen::Index v = 0; v < out.value.cols(); ++v) {
      double& budget = out.budget(t, v);
      if (!d.isFinite().all() || rms_change >= rms) {
        budget = std::numeric_limits<double>::infinity();
        continue;
      }
      if (!std::isfinite(out.value(t, v))) {
        budget = 0;
        continue;
      }
      const Matrix<double> weight = in.head.row(v).cwiseProduct(in.norm.row(0)).cwiseAbs();
      const double smallest_rms = rms - rms_change;
      budget = (FixedDot(weight.data(), moved, hidden) + std::fabs(out.value(t, v)) * rms_change) /
               smallest_rms;
      budget += own * FixedDot(weight.data(), reach.data(), hidden) / smallest_rms;
    }
  }
  return out;
}

}  // namespace voltcheck::reference
