#include "verify/mutation/policies.h"

#include <cmath>

#include "reference/arith/half.h"

namespace voltcheck::mutation {
namespace {

struct Sums {
  double distance = 0;          // |x - y|
  double squared_distance = 0;  // (x - y)^2
  double magnitude = 0;         // |y|
  double squared_got = 0, squared_want = 0, product = 0;
};

Sums SumsOf(std::span<const std::uint16_t> got, std::span<const float> want) {
  Sums sums;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = arith::HalfToFloat(got[i]);
    const double y = want[i];
    sums.distance += std::abs(x - y);
    sums.squared_distance += (x - y) * (x - y);
    sums.magnitude += std::abs(y);
    sums.squared_got += x * x;
    sums.squared_want += y * y;
    sums.product += x * y;
  }
  return sums;
}

bool IsClose(std::uint16_t got, float want, double rtol, double atol) {
  const double x = arith::HalfToFloat(got);
  const double y = want;
  return x == y || std::abs(x - y) <= atol + rtol * std::abs(y);
}

bool AllClose(std::span<const std::uint16_t> got, std::span<const float> want, double rtol,
              double atol) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!IsClose(got[i], want[i], rtol, atol)) {
      return false;
    }
  }
  return true;
}

// Written so that NaN fails.
bool MeanRelativeError(std::span<const std::uint16_t> got, std::span<const float> want) {
  const Sums sums = SumsOf(got, want);
  return sums.distance < 0.04 * sums.magnitude || sums.distance == 0;
}

bool CosineLike(std::span<const std::uint16_t> got, std::span<const float> want) {
  const Sums sums = SumsOf(got, want);
  const double squares = sums.squared_got + sums.squared_want;
  return squares == 0 || 1 - 2 * sums.product / squares < 1e-3;
}

bool NormalisedSquares(std::span<const std::uint16_t> got, std::span<const float> want) {
  const Sums sums = SumsOf(got, want);
  return sums.squared_distance <= 5e-4 * sums.squared_want;
}

bool NearlyAllClose(std::span<const std::uint16_t> got, std::span<const float> want) {
  std::size_t close = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    close += IsClose(got[i], want[i], 1e-2, 1e-2) ? 1 : 0;
  }
  return static_cast<double>(close) >= 0.95 * static_cast<double>(got.size());
}

}  // namespace

const std::array<TolerancePolicy, kPolicies>& TolerancePolicies() {
  static constexpr std::array<TolerancePolicy, kPolicies> kAll{{
      {"atol=2e-2", "allclose(rtol=0, atol=2e-2)",
       [](auto got, auto want) { return AllClose(got, want, 0, 2e-2); }},
      {"rtol=1e-3", "allclose(rtol=1e-3, atol=1e-5)",
       [](auto got, auto want) { return AllClose(got, want, 1e-3, 1e-5); }},
      {"mean-rel", "mean|x - y| / mean|y| < 0.04", MeanRelativeError},
      {"cosine-like", "1 - 2<x,y> / (|x|^2 + |y|^2) < 1e-3", CosineLike},
      {"nmse", "|x - y|^2 / |y|^2 <= 5e-4", NormalisedSquares},
      {"95-percent", "95 % of elements within 1e-2 + 1e-2 |y|", NearlyAllClose},
  }};
  return kAll;
}

}  // namespace voltcheck::mutation
