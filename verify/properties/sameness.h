#ifndef VOLTCHECK_VERIFY_PROPERTIES_SAMENESS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_SAMENESS_H_

#include <string>
#include <vector>

#include "verify/properties/bench.h"

namespace voltcheck::properties {

/// The rows of a run by slot (token * k + route), wherever they lie.
class RowsBySlot {
 public:
  /// Throws Breach when the device's own list of slots is no permutation.
  explicit RowsBySlot(const StageRun& run);
  /// The row of a slot, or -1 when it was not computed.
  int operator[](int slot) const { return row_of_[static_cast<std::size_t>(slot)]; }

 private:
  std::vector<int> row_of_;
};

/// W13 [S, 2I] with its columns in checkpoint order, [gate | up]; empty where SiLU is fused.
std::vector<std::uint16_t> W13InCheckpointOrder(const StageRun& run);

/// Slot s of `got` must have the bits that slot want_slot[s] of `want` has, in w13, silu and w2
/// (those that both runs have), and both be computed or neither; -1 leaves a slot out. Throws
/// Breach at the first difference; `why` says what was expected.
void ExpectSameSlots(const StageRun& want, const StageRun& got, const std::vector<int>& want_slot,
                     const std::string& why);

/// The same for tokens of the output.
void ExpectSameTokens(const StageRun& want, const StageRun& got, const std::vector<int>& want_token,
                      const std::string& why);

/// Both, for two runs of the same tokens and routes.
void ExpectSameStage(const StageRun& want, const StageRun& got, const std::string& why);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_SAMENESS_H_
