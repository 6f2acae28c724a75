#include "kernels/autotune.h"

#include <algorithm>
#include <numeric>

#include "fixtures/case/error.h"

namespace voltcheck::kernels {
namespace {

/// The key under which a request is looked up and stored.
GemmRequest KeyOf(GemmRequest request, const TunerRules& rules) {
  if (rules.cache_forgets_groups) {
    request.groups = 1;
  }
  return request;
}

/// The entry of the smallest M not below the key's that agrees in everything else.
TunerState::const_iterator NextLargerM(const TunerState& state, const GemmRequest& key) {
  return std::find_if(state.lower_bound(key), state.end(), [&](const auto& entry) {
    GemmRequest same = entry.first;
    same.m = key.m;
    return same == key;
  });
}

std::string ToText(const TunerCall& call) {
  const GemmRequest& r = call.request;
  return "m" + std::to_string(r.m) + " n" + std::to_string(r.n) + " k" + std::to_string(r.k) +
         " g" + std::to_string(r.group) + " groups " + std::to_string(r.groups) +
         (call.mode == CallMode::kCapture ? " in capture" : "");
}

std::string ToText(const std::vector<TunerCall>& calls) {
  std::string text;
  for (const TunerCall& call : calls) {
    text += (text.empty() ? "" : "; ") + ToText(call);
  }
  return text;
}

}  // namespace

TunerChoice ChooseTactic(const TunerCall& call, const TunerRules& rules, const TunerState& state,
                         const Measurement& measure) {
  const GemmRequest& request = call.request;
  const Tactic by_default = DefaultTactic(request.m, request.k, request.n, request.group);
  if (!rules.tune) {
    return {by_default, state};
  }
  const GemmRequest key = KeyOf(request, rules);
  const auto found = rules.reuse_next_larger_m ? NextLargerM(state, key) : state.find(key);
  if (found != state.end() && (found->second.measured || rules.default_entry_stops_measuring)) {
    return {found->second.tactic, state};
  }
  TunerChoice choice{std::nullopt, state};
  if (call.mode == CallMode::kEager) {
    choice.tactic = measure(request);
    choice.next[key] = {*choice.tactic, true};
  } else if (rules.capture_takes_default) {
    choice.tactic = by_default;
    choice.next[key] = {by_default, false};
  }
  return choice;
}

std::string Describe(const HistoryDependence& dependence) {
  return ToText({dependence.request, CallMode::kEager}) + " takes " + ToString(dependence.one) +
         " after [" + ToText(dependence.order_of_one) + "] but " + ToString(dependence.other) +
         " after [" + ToText(dependence.order_of_other) + "]";
}

std::vector<HistoryDependence> FindHistoryDependence(std::vector<TunerCall> calls,
                                                     const TunerRules& rules,
                                                     const Measurement& measure) {
  constexpr std::size_t kMostCalls = 7;
  if (calls.size() > kMostCalls) {
    throw BadInput("autotune calls",
                   "every order of " + std::to_string(calls.size()) + " is too many",
                   "give at most 7");
  }
  struct Seen {
    Tactic tactic;
    std::vector<TunerCall> order;
  };
  std::map<GemmRequest, Seen> first_seen;
  std::map<GemmRequest, HistoryDependence> found;
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    TunerState state;
    std::vector<TunerCall> made;
    for (const std::size_t index : order) {
      const TunerCall& call = calls[index];
      TunerChoice choice = ChooseTactic(call, rules, state, measure);
      state = std::move(choice.next);
      made.push_back(call);
      if (!choice.tactic) {
        continue;
      }
      const auto [seen, is_new] = first_seen.try_emplace(call.request, Seen{*choice.tactic, made});
      if (!is_new && seen->second.tactic != *choice.tactic) {
        found.try_emplace(call.request,
                          HistoryDependence{call.request, seen->second.tactic, *choice.tactic,
                                            seen->second.order, made});
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<HistoryDependence> result;
  result.reserve(found.size());
  for (auto& [request, dependence] : found) {
    result.push_back(std::move(dependence));
  }
  return result;
}

}  // namespace voltcheck::kernels
