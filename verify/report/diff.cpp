#include "verify/report/diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "fixtures/case/error.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Stage;
using verify::Verdict;

// The descriptor without its tactics.
std::string WithoutTactics(const std::string& descriptor) {
  std::string rest;
  for (std::size_t at = 0; at < descriptor.size();) {
    const std::size_t comma = std::min(descriptor.find(',', at), descriptor.size());
    const std::string part = descriptor.substr(at, comma - at);
    if (!part.starts_with("w13=") && !part.starts_with("w2=")) {
      rest += (rest.empty() ? "" : ",") + part;
    }
    at = comma + 1;
  }
  return rest;
}

// Pairs cases of equal key in order. `base` and `head` list the cases that have no partner yet, and
// keep those that stay without.
template <typename Key>
void Match(const RunData& base, const RunData& head, Key key, std::vector<std::size_t>& base_left,
           std::vector<std::size_t>& head_left, std::vector<CasePair>& pairs) {
  std::map<std::string, std::vector<std::size_t>> by_key;
  for (auto it = base_left.rbegin(); it != base_left.rend(); ++it) {
    by_key[key(base.cases[*it].descriptor)].push_back(*it);
  }
  std::set<std::size_t> taken;
  std::vector<std::size_t> unmatched;
  for (const std::size_t h : head_left) {
    const auto it = by_key.find(key(head.cases[h].descriptor));
    if (it == by_key.end() || it->second.empty()) {
      unmatched.push_back(h);
      continue;
    }
    CasePair pair;
    pair.base = it->second.back();
    pair.head = h;
    it->second.pop_back();
    taken.insert(pair.base);
    pairs.push_back(pair);
  }
  head_left = std::move(unmatched);
  std::erase_if(base_left, [&](std::size_t i) { return taken.contains(i); });
}

void Compare(const CaseFigures& base, const CaseFigures& head, CasePair& pair) {
  pair.verdict_changed = base.verdict != head.verdict;
  pair.worse = Gravity(head.verdict) > Gravity(base.verdict);
  pair.tactic_changed = base.w13 != head.w13 || base.w2 != head.w2;
  pair.base_use = base.WorstUse();
  pair.head_use = head.WorstUse();
  for (const Stage stage : verify::kStages) {
    const StageFigures& a = base.at(stage);
    const StageFigures& b = head.at(stage);
    if (a.ran() != b.ran()) {
      pair.stages_changed.push_back(stage);
      continue;
    }
    // Logits are computed by the host, from the output: its bits say all about the device.
    if (!a.ran() || stage == Stage::kLogits) {
      continue;
    }
    if (a.hash == 0 || b.hash == 0) {
      pair.bits_unknown.push_back(stage);
    } else if (a.hash != b.hash) {
      pair.bits_changed.push_back(stage);
    }
  }
}

void CompareProperties(const RunData& base, const RunData& head, RunDiff& diff) {
  std::map<std::string, PropertyChange> changes;
  std::set<std::string> held_or_broken_in_base;
  for (const verify::PropertyRecord& p : base.properties) {
    changes[p.property].broken_in_base |= p.verdict == Verdict::kFailed;
    held_or_broken_in_base.insert(p.property);
  }
  for (const verify::PropertyRecord& p : head.properties) {
    PropertyChange& change = changes[p.property];
    if (p.verdict == Verdict::kFailed && !change.broken_in_head) {
      change.broken_in_head = true;
      change.reason = p.reason;
      change.reproduction = p.reproduction;
    }
  }
  for (auto& [name, change] : changes) {
    if (change.broken_in_base != change.broken_in_head) {
      change.property = name;
      diff.properties.push_back(std::move(change));
    }
  }
}

void CompareAttributes(const RunData& base, const RunData& head, RunDiff& diff) {
  std::set<std::string> names;
  for (const RunData* run : {&base, &head}) {
    for (const auto& [name, value] : run->attributes) {
      names.insert(name);
    }
  }
  diff.same_setup = true;
  for (const std::string& name : names) {
    if (base.Attribute(name) != head.Attribute(name)) {
      diff.attributes.push_back(name);
      for (const char* of_setup : {"kernels_hash", "arguments", "seed", "device_kind",
                                   "device_name", "numerics", "driver", "fixtures"}) {
        diff.same_setup = diff.same_setup && name != of_setup;
      }
    }
  }
}

}  // namespace

bool RunDiff::regressed() const {
  return worse > 0 || new_not_passed > 0 || head_incomplete ||
         std::any_of(properties.begin(), properties.end(),
                     [](const PropertyChange& p) { return p.broken_in_head; });
}

RunDiff DiffRuns(const RunData& base, const RunData& head, const std::string& base_name,
                 const std::string& head_name) {
  RunDiff diff;
  for (std::size_t i = 0; i < base.cases.size(); ++i) {
    diff.only_base.push_back(i);
  }
  for (std::size_t i = 0; i < head.cases.size(); ++i) {
    diff.only_head.push_back(i);
  }
  const auto whole = [](const std::string& descriptor) { return descriptor; };
  Match(base, head, whole, diff.only_base, diff.only_head, diff.pairs);
  Match(base, head, WithoutTactics, diff.only_base, diff.only_head, diff.pairs);
  if (diff.pairs.empty()) {
    throw BadInput(head_name, "has no case in common with " + base_name,
                   "compare two runs of the same cases");
  }
  std::sort(diff.pairs.begin(), diff.pairs.end(),
            [](const CasePair& a, const CasePair& b) { return a.head < b.head; });
  for (CasePair& pair : diff.pairs) {
    Compare(base.cases[pair.base], head.cases[pair.head], pair);
    diff.worse += pair.worse ? 1 : 0;
    diff.better += pair.verdict_changed && !pair.worse ? 1 : 0;
    diff.bits_changed += pair.bits_changed.empty() ? 0 : 1;
    diff.bits_unknown += pair.bits_unknown.empty() ? 0 : 1;
    diff.stages_changed += pair.stages_changed.empty() ? 0 : 1;
    diff.tactic_changed += pair.tactic_changed ? 1 : 0;
    diff.use_changed += pair.base_use != pair.head_use ? 1 : 0;
  }
  for (const std::size_t i : diff.only_head) {
    diff.new_not_passed += head.cases[i].verdict == Verdict::kPassed ? 0 : 1;
  }
  diff.head_incomplete = base.complete && !head.complete;
  CompareProperties(base, head, diff);
  CompareAttributes(base, head, diff);
  return diff;
}

std::vector<const CasePair*> WorstChangesFirst(const RunDiff& diff, const RunData& head) {
  std::vector<const CasePair*> changed;
  for (const CasePair& pair : diff.pairs) {
    if (pair.changed()) {
      changed.push_back(&pair);
    }
  }
  const auto rank = [](const CasePair& p) {
    return p.worse ? 0 : p.verdict_changed ? 1 : !p.bits_changed.empty() ? 2 : 3;
  };
  std::stable_sort(changed.begin(), changed.end(), [&](const CasePair* a, const CasePair* b) {
    if (rank(*a) != rank(*b)) {
      return rank(*a) < rank(*b);
    }
    const int gravity_a = Gravity(head.cases[a->head].verdict);
    const int gravity_b = Gravity(head.cases[b->head].verdict);
    if (gravity_a != gravity_b) {
      return gravity_a > gravity_b;
    }
    // Infinity minus infinity is no order.
    const double rise_a = a->head_use == a->base_use ? 0 : a->head_use - a->base_use;
    const double rise_b = b->head_use == b->base_use ? 0 : b->head_use - b->base_use;
    return rise_a > rise_b;
  });
  return changed;
}

std::string StageNames(const std::vector<Stage>& stages) {
  std::string names;
  for (const Stage stage : stages) {
    names += (names.empty() ? "" : ", ") + std::string(verify::ToString(stage));
  }
  return names;
}

std::string DiffHeadline(const DiffInput& input) {
  const RunDiff& d = input.diff;
  const std::string kind = d.same_setup ? "A/A: " : "A/B: ";
  std::string text;
  const auto add = [&text](std::uint64_t count, const std::string& what) {
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + Grouped(count) + " " + what;
    }
  };
  add(d.worse, "worse");
  add(d.better, "with a better verdict");
  add(d.bits_changed, "with other bits");
  add(d.bits_unknown, "whose bits are not recorded");
  add(d.stages_changed, "with other stages");
  add(d.tactic_changed, "with other tactics");
  add(d.only_head.size(), "new");
  add(d.only_base.size(), "gone");
  if (d.bit_equal()) {
    text = "bit-equal" + (text.empty() ? "" : ", " + text);
  }
  return kind + Count(d.pairs.size(), "case") + " in both: " + text;
}

}  // namespace voltcheck::report
