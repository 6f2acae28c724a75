#ifndef VOLTCHECK_KERNELS_AUTOTUNE_H_
#define VOLTCHECK_KERNELS_AUTOTUNE_H_

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/case/tactic.h"

namespace voltcheck::kernels {

/// A model of how the operator family's autotune chooses tactics. Which tactic runs there is
/// process history; here the history is a value, so that every order of calls can be tried and a
/// choice that depends on the order be shown.

/// One GEMM that asks for a tactic.
struct GemmRequest {
  int m = 1;  ///< rows
  int n = 0;
  int k = 0;
  int group = 32;
  int groups = 1;  ///< groups of the grouped launch (padded to the slots)
  auto operator<=>(const GemmRequest&) const = default;  // NOLINT(modernize-use-nullptr)
};

enum class CallMode {
  kEager,    ///< measuring is possible
  kCapture,  ///< launches are being recorded: nothing can be measured
};

struct TunerCall {
  GemmRequest request;
  CallMode mode = CallMode::kEager;
  bool operator==(const TunerCall&) const = default;
};

/// What differs between the upstream tuner and one whose choice does not depend on history. All
/// false: the latter. Each true one is one of the pitfalls that docs/routes.md describes.
struct TunerRules {
  bool tune = true;  ///< false: the default rule for everything, no state
  bool default_entry_stops_measuring =
      false;                         ///< an entry made by the default rule counts as measured
  bool reuse_next_larger_m = false;  ///< an entry of a larger M serves a request without its own
  bool cache_forgets_groups =
      false;  ///< looked up as if it had one group; tuned with the real count
  bool capture_takes_default = false;  ///< unseen in capture: the default rule, silently
  static TunerRules Upstream() { return {true, true, true, true, true}; }
  bool operator==(const TunerRules&) const = default;
};

struct TunerEntry {
  Tactic tactic;
  bool measured = false;
  bool operator==(const TunerEntry&) const = default;
};
using TunerState = std::map<GemmRequest, TunerEntry>;

/// The fastest tactic of a request, as a measurement would find it. An input: nothing is timed
/// here.
using Measurement = std::function<Tactic(const GemmRequest&)>;

struct TunerChoice {
  std::optional<Tactic> tactic;  ///< none: refused, an unseen request during capture
  TunerState next;
};

/// What one call chooses in `state`, and the state it leaves.
TunerChoice ChooseTactic(const TunerCall& call, const TunerRules& rules, const TunerState& state,
                         const Measurement& measure);

/// A request that got different tactics in different orders of the same calls.
struct HistoryDependence {
  GemmRequest request;
  Tactic one;
  Tactic other;
  std::vector<TunerCall> order_of_one;
  std::vector<TunerCall> order_of_other;
};
std::string Describe(const HistoryDependence& dependence);

/// Tries every order of the calls from an empty state; at most seven calls (5,040 orders), else
/// throws Error (status 2). A refusal is not a tactic: a request that is refused in one order and
/// served in another does not count.
std::vector<HistoryDependence> FindHistoryDependence(std::vector<TunerCall> calls,
                                                     const TunerRules& rules,
                                                     const Measurement& measure);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_AUTOTUNE_H_
