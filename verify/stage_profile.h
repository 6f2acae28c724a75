#ifndef VOLTCHECK_VERIFY_STAGE_PROFILE_H_
#define VOLTCHECK_VERIFY_STAGE_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verify/breakdown.h"

namespace voltcheck::verify {

/// Bins of a magnitude, two powers of two wide: bin 0 holds what is smaller than `first`, bin b
/// what is in [first * 4^(b-1), first * 4^b), the last one everything from there up.
inline constexpr std::size_t kMagnitudeBins = 22;
/// Magnitudes of expected values start at the smallest half, 2^-24; bin 0 is zero and below.
inline constexpr int kValueFirstExponent = -24;
/// Differences start at 2^-36; bin 0 holds no difference, and those that are smaller yet.
inline constexpr int kErrorFirstExponent = -36;
/// The bin of a finite magnitude, which is not negative.
std::size_t MagnitudeBin(double magnitude, int first_exponent);
/// The lower end of a bin; 0 for bin 0.
double MagnitudeBinLower(std::size_t bin, int first_exponent);

/// So many elements have an expected value in one bin and a difference in another.
struct DensityCell {
  std::uint16_t cell = 0;  ///< value's bin * kMagnitudeBins + difference's bin
  std::uint32_t count = 0;
  bool operator==(const DensityCell&) const = default;
};

/// The worst element of one expert or tile.
struct PartMaximum {
  int index = -1;
  float use = 0;  ///< largest share of the budget on the stage's own input; may be infinite
  float abs = 0;  ///< largest |got - want| from the case's inputs
  bool operator==(const PartMaximum&) const = default;
};

/// How one stage's differences lie over its outputs: what a report draws. Small (a few hundred
/// bytes), and the same on every machine: all is against the fp64 oracle. Only elements that are
/// finite on both sides count.
struct StageProfile {
  std::vector<DensityCell> density;  ///< ascending cells; end to end, difference by magnitude
  std::vector<PartMaximum> experts;  ///< ascending index; empty where rows mix experts
  std::vector<PartMaximum> tiles;    ///< kTileColumns columns each, ascending index
  bool operator==(const StageProfile&) const = default;
};

/// One stage's output, row-major [rows, cols], with what it was held against.
struct ProfileInput {
  int rows = 0;
  int cols = 0;
  std::span<const double> got;
  std::span<const double> own_want;  ///< oracle on the stage's own input
  std::span<const double> own_budget;
  std::span<const double> end_to_end_want;  ///< oracle from the case's inputs
  std::span<const int> row_expert;          ///< [rows], or empty
};
StageProfile MakeStageProfile(const ProfileInput& input);

/// The first eight bytes of the SHA-256 of `bytes`, big-endian, but never 0, which stands for "no
/// output".
std::uint64_t HashOutput(std::span<const std::byte> bytes);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STAGE_PROFILE_H_
