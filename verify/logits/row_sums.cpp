#include "verify/logits/row_sums.h"

#include <algorithm>
#include <cmath>

#include "reference/exponential.h"

namespace voltcheck::logits {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

// x - log(1 + x).
double XMinusLog1p(double x) {
  if (std::abs(x) < 1e-3) {
    return x * x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x * (1.0 / 5 - x / 6))));
  }
  return x - reference::Log(1 + x);
}

// exp(x) - 1 - x, by its series where the difference would lose digits.
double Curve(double x) {
  if (std::abs(x) > 0.25) {
    return reference::Exp(x) - 1 - x;
  }
  double curve = 0;
  for (int i = 14; i >= 2; --i) {
    curve = (i == 2 ? x * x / 2 : x / i) * (1 + curve);
  }
  return curve;
}

}  // namespace

int ExponentOf(float x) {
  return static_cast<int>(std::lround(static_cast<double>(x) * static_cast<double>(kLog2E)));
}

void RowSums::Rescale(int base_exponent, int other_exponent) {
  const int down = scale_.base_exponent - base_exponent;
  for (double* sum : {&weight_, &moved_, &curved_, &spent_, &far_}) {
    *sum = std::ldexp(*sum, down);
  }
  scale_.base_exponent = base_exponent;
  scale_.other_exponent = other_exponent;
}

void RowSums::Shift(float shift) {
  const double step = static_cast<double>(scale_.shift) - static_cast<double>(shift);
  if (weight_ > 0) {
    const double curve = Curve(step);
    const double growth = curve + step;
    curved_ = (1 + growth) * curved_ + growth * moved_ + curve * weight_;
    moved_ += step * weight_;
  }
  scale_.shift = shift;
}

void RowSums::Add(const ChunkFigures& chunk, Reach reach) {
  weight_ += chunk.weight;
  if (reach != Reach::kFar) {
    moved_ += chunk.moved;
    curved_ += chunk.last;
    spent_ += chunk.last;
    return;
  }
  const double shift = static_cast<double>(scale_.shift);
  const double moved = kExponentScale * chunk.moved;
  const double other =
      chunk.last * reference::Exp(kLn2 * (scale_.other_exponent - scale_.base_exponent) -
                                  kExponentScale * shift);
  moved_ += moved;
  curved_ += other - chunk.weight - moved;
  far_ += other + chunk.weight;
}

double RowSums::Kl() const { return std::max(curved_ / weight_ - XMinusLog1p(Moved()), 0.0); }

double RowSums::LogSumChange() const {
  return static_cast<double>(scale_.shift) + reference::Log(1 + Moved());
}

bool RowSums::KlIsSharp() const { return far_ / weight_ <= 32 * Kl(); }

bool RowSums::ShiftIsClose() const { return spent_ / weight_ <= 16 * Kl(); }

float RowSums::MeanDifference() const {
  return static_cast<float>(static_cast<double>(scale_.shift) + moved_ / weight_);
}

}  // namespace voltcheck::logits
