#include "verify/breakdown.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace voltcheck::verify {
namespace {

// A part's sums while its elements come in.
struct Sums {
  std::uint64_t finite = 0;
  std::uint64_t nonfinite = 0;
  double max_abs = 0;
  double diff = 0;
  double diff2 = 0;
  double want2 = 0;

  void Add(double got, double want) {
    if (!std::isfinite(got) || !std::isfinite(want)) {
      ++nonfinite;
      return;
    }
    const double d = got - want;
    ++finite;
    max_abs = std::max(max_abs, std::abs(d));
    diff += d;
    diff2 += d * d;
    want2 += want * want;
  }

  PartFigures Finish(int index) const {
    PartFigures f;
    f.index = index;
    f.elements = finite;
    f.nonfinite = nonfinite;
    f.max_abs = max_abs;
    if (finite > 0) {
      const auto n = static_cast<double>(finite);
      f.rms = std::sqrt(diff2 / n);
      f.bias = diff / n;
      f.rms_want = std::sqrt(want2 / n);
    }
    return f;
  }
};

}  // namespace

std::string_view ToString(Part part) {
  constexpr std::array<std::string_view, kParts.size()> kNames{"token", "expert", "tile"};
  return kNames[static_cast<std::size_t>(part)];
}

Breakdown MakeBreakdown(int rows, int cols, std::span<const double> got,
                        std::span<const double> want, std::span<const int> row_token,
                        std::span<const int> row_expert) {
  std::array<std::map<int, Sums>, kParts.size()> sums;
  for (int r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    Sums& token = sums[0][row_token[row]];
    Sums* const expert = row_expert.empty() ? nullptr : &sums[1][row_expert[row]];
    for (int c = 0; c < cols; ++c) {
      const std::size_t i = row * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c);
      token.Add(got[i], want[i]);
      if (expert != nullptr) {
        expert->Add(got[i], want[i]);
      }
      sums[2][c / kTileColumns].Add(got[i], want[i]);
    }
  }
  Breakdown breakdown;
  for (std::size_t p = 0; p < kParts.size(); ++p) {
    for (const auto& [index, part] : sums[p]) {
      breakdown[p].push_back(part.Finish(index));
    }
  }
  return breakdown;
}

PartFigures WorstOf(const std::vector<PartFigures>& parts) {
  PartFigures worst;
  for (const PartFigures& part : parts) {
    if (worst.index < 0 || part.rms > worst.rms) {
      worst = part;
    }
  }
  return worst;
}

}  // namespace voltcheck::verify
