#ifndef VOLTCHECK_KERNELS_ROUTE_H_
#define VOLTCHECK_KERNELS_ROUTE_H_

#include <string>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/switches.h"

namespace voltcheck::kernels {

/// Which route the operator family takes, as pure functions of what the layer is, how many tokens
/// come and what the switches say. docs/routes.md says where the conditions come from.

/// What is fixed when a layer is loaded.
struct LayerContract {
  int tensor_parallel = 4;
  int experts = 512;
  int top_k = 10;
  int hidden = 2560;
  int intermediate =
      160;  ///< local, so W13 is [hidden, 2 * intermediate] and W2 [intermediate, hidden]
  int checkpoint_group = 32;  ///< the checkpoint's quantisation group
  bool operator==(const LayerContract&) const = default;
};

/// The group that the kernels see: the checkpoint's, halved until it divides hidden and
/// intermediate size (scales and zero points are repeated along K then); 0 when not even 32 does.
int EffectiveGroup(const LayerContract& layer);

enum class Route {
  kSingleToken,     ///< one token
  kIndexedPrefill,  ///< A gathered by a row list
  kGroupedDecode,   ///< one offset-scheduled launch a stage
  kPerExpert,       ///< a launch for each segment
  kDense,           ///< a loop over every expert
};
std::string ToString(Route route);

/// The layer's gate, checked once: the exact shape on four ranks, with an effective group of 32.
bool IsGroupedDecodeLayer(const LayerContract& layer, const Switches& switches);
/// The run-time gate: such a layer, 2 <= tokens <= 8, ten routes, batched GEMMs on, no experiment.
bool AdmitsGroupedDecode(const LayerContract& layer, int tokens, const Switches& switches);
/// The operator's own gate, for one GEMM: group 32, 20 <= slots <= 80 in tens, one of the two
/// shapes, no exact-W2 experiment. Whatever the gate above admits this one must admit as well, or
/// the launch silently becomes a loop.
bool OperatorAdmitsGrouped(int slots, int k, int n, int group, const Switches& switches);
/// 128 tokens or more, the exact shape, native group 32.
bool AdmitsIndexedPrefill(const LayerContract& layer, int tokens, const Switches& switches);

/// The first that admits, in this order: one token -> single token; indexed prefill; grouped
/// decode; batched GEMMs on -> per expert; dense.
Route RouteFor(const LayerContract& layer, int tokens, const Switches& switches);

/// The path of a case (fixtures/case/case.h) that runs this route's launches.
Path PathOf(Route route);

/// The token counts for which a warmup must launch the grouped decode before launches are captured:
/// all that it admits, ascending.
std::vector<int> GroupedDecodeWarmup(const LayerContract& layer, const Switches& switches);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_ROUTE_H_
