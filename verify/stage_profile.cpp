#include "verify/stage_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "fixtures/sha256.h"

namespace voltcheck::verify {
namespace {

void Raise(PartMaximum& part, double use, double abs) {
  part.use = std::max(part.use, static_cast<float>(use));
  part.abs = std::max(part.abs, static_cast<float>(abs));
}

double Use(double diff, double budget) {
  if (diff == 0) {
    return 0;
  }
  return budget > 0 ? std::abs(diff) / budget : std::numeric_limits<double>::infinity();
}

std::vector<PartMaximum> Listed(const std::map<int, PartMaximum>& parts) {
  std::vector<PartMaximum> listed;
  for (const auto& [index, part] : parts) {
    listed.push_back(part);
    listed.back().index = index;
  }
  return listed;
}

}  // namespace

std::size_t MagnitudeBin(double magnitude, int first_exponent) {
  if (!(magnitude > 0)) {
    return 0;
  }
  const int above = std::ilogb(magnitude) - first_exponent;
  return above < 0
             ? 0
             : std::min<std::size_t>(1 + static_cast<std::size_t>(above) / 2, kMagnitudeBins - 1);
}

double MagnitudeBinLower(std::size_t bin, int first_exponent) {
  return bin == 0 ? 0 : std::ldexp(1.0, first_exponent + 2 * (static_cast<int>(bin) - 1));
}

StageProfile MakeStageProfile(const ProfileInput& in) {
  std::array<std::uint32_t, kMagnitudeBins * kMagnitudeBins> counts{};
  std::map<int, PartMaximum> experts;
  std::vector<PartMaximum> tiles(
      static_cast<std::size_t>((in.cols + kTileColumns - 1) / kTileColumns));
  for (int r = 0; r < in.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    PartMaximum* const expert = in.row_expert.empty() ? nullptr : &experts[in.row_expert[row]];
    for (int c = 0; c < in.cols; ++c) {
      const std::size_t i = row * static_cast<std::size_t>(in.cols) + static_cast<std::size_t>(c);
      if (!std::isfinite(in.got[i])) {
        continue;
      }
      const double diff = in.got[i] - in.end_to_end_want[i];
      const double abs = std::isfinite(diff) ? std::abs(diff) : 0;
      const double own = in.got[i] - in.own_want[i];
      const double use = std::isfinite(own) ? Use(own, in.own_budget[i]) : 0;
      Raise(tiles[static_cast<std::size_t>(c / kTileColumns)], use, abs);
      if (expert != nullptr) {
        Raise(*expert, use, abs);
      }
      if (std::isfinite(diff)) {
        const std::size_t value =
            MagnitudeBin(std::abs(in.end_to_end_want[i]), kValueFirstExponent);
        ++counts[value * kMagnitudeBins + MagnitudeBin(abs, kErrorFirstExponent)];
      }
    }
  }
  StageProfile profile;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    if (counts[cell] > 0) {
      profile.density.push_back({static_cast<std::uint16_t>(cell), counts[cell]});
    }
  }
  profile.experts = Listed(experts);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    tiles[t].index = static_cast<int>(t);
  }
  profile.tiles = std::move(tiles);
  return profile;
}

std::uint64_t HashOutput(std::span<const std::byte> bytes) {
  fixtures::Sha256 sha;
  sha.Update(bytes);
  const std::uint64_t hash = std::stoull(sha.Hex().substr(0, 16), nullptr, 16);
  return hash == 0 ? 1 : hash;
}

}  // namespace voltcheck::verify
