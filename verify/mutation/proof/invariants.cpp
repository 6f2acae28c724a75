// Registers of loops and of joining branches, and what they stay within.
#include <algorithm>
#include <array>

#include "verify/mutation/proof/formulas.h"

namespace voltcheck::mutation::proof {
namespace {

// What registers are tried to stay within, from 0 on: the number of one of two buffers, and numbers
// of which two add up without overflow.
constexpr std::array<int, 2> kRanges{1, (1 << 29) - 1};

}  // namespace

Invariant Formulas::Invariants(const Flow& flow, const Premises& premises) {
  Formulas formulas(flow, premises, {});
  formulas.FindInvariants();
  return formulas.invariant_;
}

// Whether the instruction `set` leaves `name` within its range.
bool Formulas::Keeps(const std::string& name, std::uint32_t set) {
  std::optional<z3::expr> value = Result(flow_.at(set), set);
  const std::string loaded = name + "@" + std::to_string(set);
  if (const z3::expr load = Unknown(loaded, flow_.TypeOf(name));
      !value && BoundLoad(load, loaded, flow_.at(set))) {
    value = load;
  }
  if (!value || value->is_bool()) {
    return false;
  }
  std::vector<z3::expr> broken = Facts(set);
  broken.push_back(*value < 0 || *value > context_.bv_val(invariant_.at(name), 32));
  return Impossible(broken);
}

// Registers that are set at several places, each of which keeps them within 0 .. 2^29 if all of
// them were there before: found by taking out what is not kept, until all is.
void Formulas::FindInvariants() {
  std::map<std::string, std::vector<std::uint32_t>> candidates;
  for (std::uint32_t node = 0; node < flow_.exit(); ++node) {
    for (const std::string& name : flow_.Sets(node)) {
      if (flow_.SetsOf(name).size() > 1 && BitsOf(flow_.TypeOf(name)) == 32 &&
          flow_.TypeOf(name) != ptx::Type::kF32) {
        candidates[name] = flow_.SetsOf(name);
      }
    }
  }
  for (const auto& [name, sets] : candidates) {
    invariant_[name] = kRanges.front();
  }
  for (bool changed = true; changed;) {
    changed = false;
    Forget();
    for (const auto& [name, sets] : candidates) {
      const bool kept = !invariant_.contains(name) ||
                        std::all_of(sets.begin(), sets.end(),
                                    [&, n = name](std::uint32_t set) { return Keeps(n, set); });
      if (kept) {
        continue;
      }
      changed = true;
      if (invariant_[name] == kRanges.front()) {
        invariant_[name] = kRanges.back();
      } else {
        invariant_.erase(name);
      }
    }
  }
  Forget();
}

void Formulas::Forget() {
  assumed_.clear();
  unknown_.clear();
  bounded_.clear();
}

}  // namespace voltcheck::mutation::proof
