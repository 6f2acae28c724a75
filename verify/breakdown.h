#ifndef VOLTCHECK_VERIFY_BREAKDOWN_H_
#define VOLTCHECK_VERIFY_BREAKDOWN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace voltcheck::verify {

/// Into which parts a stage's output falls.
enum class Part {
  kToken,   ///< the rows of one token
  kExpert,  ///< the rows of one expert; not for `output` and `logits`, which mix experts
  kTile,    ///< 32 neighbouring columns: one bad column of 2560 hardly moves a whole norm
};
inline constexpr std::array<Part, 3> kParts{Part::kToken, Part::kExpert, Part::kTile};
inline constexpr int kTileColumns = 32;
std::string_view ToString(Part part);

/// Difference to the FP32 reference over one part, elements that are finite on both sides.
struct PartFigures {
  int index = -1;  ///< token, expert or tile; -1: there is none
  std::uint64_t elements = 0;
  std::uint64_t nonfinite = 0;  ///< elements that are not finite on one side or both
  double max_abs = 0;
  double rms = 0;
  double bias = 0;  ///< mean of got - want
  double rms_want = 0;
};

/// All parts of one kind, ascending index.
using Breakdown = std::array<std::vector<PartFigures>, kParts.size()>;

/// got, want: [rows, cols]. `row_token` and `row_expert` name each row's token and expert;
/// `row_expert` may be empty. Throws nothing.
Breakdown MakeBreakdown(int rows, int cols, std::span<const double> got,
                        std::span<const double> want, std::span<const int> row_token,
                        std::span<const int> row_expert);

/// The part with the largest RMS of the difference, the first of equal ones.
PartFigures WorstOf(const std::vector<PartFigures>& parts);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_BREAKDOWN_H_
