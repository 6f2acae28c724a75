#include "verify/report/diff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "fixtures/case/error.h"
#include "fixtures/sha256.h"
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

// Half of a SHA-256, in the place of texts that would have to be kept for every case.
using Key = std::array<std::uint64_t, 2>;
Key KeyOf(std::string_view text) {
  fixtures::Sha256 hash;
  hash.Update(text);
  const std::string hex = hash.Hex();
  Key key{};
  constexpr std::size_t kDigits = 16;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* first = hex.data() + i * kDigits;
    std::from_chars(first, first + kDigits, key[i], 16);
  }
  return key;
}

// What is compared of a case.
struct Trace {
  Key descriptor{};
  Key without_tactics{};
  Key tactics{};
  std::array<std::uint64_t, verify::kStages.size()> hashes{};
  std::array<bool, verify::kStages.size()> ran{};
};

std::vector<Trace> TracesOf(const RunData& run) {
  std::vector<Trace> traces;
  traces.reserve(run.cases.size());
  for (const CaseFigures& c : run.cases) {
    Trace trace{KeyOf(c.descriptor),
                KeyOf(WithoutTactics(c.descriptor)),
                KeyOf(c.w13 + "," + c.w2),
                {},
                {}};
    for (std::size_t s = 0; s < c.stages.size(); ++s) {
      trace.hashes[s] = c.stages[s].hash;
      trace.ran[s] = c.stages[s].ran();
    }
    traces.push_back(trace);
  }
  return traces;
}

struct Traces {
  std::vector<Trace> base;
  std::vector<Trace> head;
};

// Pairs cases of equal key in order. `diff` lists the cases that have no partner yet, and keeps
// those that stay without.
void Match(const Traces& traces, Key Trace::*key, RunDiff& diff) {
  std::map<Key, std::vector<std::size_t>> by_key;
  for (auto it = diff.only_base.rbegin(); it != diff.only_base.rend(); ++it) {
    by_key[traces.base[*it].*key].push_back(*it);
  }
  std::vector<bool> taken(traces.base.size());
  std::vector<std::size_t> unmatched;
  for (const std::size_t h : diff.only_head) {
    const auto it = by_key.find(traces.head[h].*key);
    if (it == by_key.end() || it->second.empty()) {
      unmatched.push_back(h);
      continue;
    }
    CasePair pair;
    pair.base = it->second.back();
    pair.head = h;
    it->second.pop_back();
    taken[pair.base] = true;
    diff.pairs.push_back(std::move(pair));
  }
  diff.only_head = std::move(unmatched);
  std::erase_if(diff.only_base, [&](std::size_t i) { return taken[i]; });
}

void Compare(const RunData& base, const RunData& head, const Traces& traces, CasePair& pair) {
  const CaseKey& before = base.cases.key(pair.base);
  const CaseKey& after = head.cases.key(pair.head);
  const Trace& a = traces.base[pair.base];
  const Trace& b = traces.head[pair.head];
  pair.verdict_changed = before.verdict != after.verdict;
  pair.worse =
      Gravity(after.verdict) > Gravity(before.verdict) || (after.has_nan && !before.has_nan);
  pair.tactic_changed = a.tactics != b.tactics;
  pair.base_use = before.use;
  pair.head_use = after.use;
  for (const Stage stage : verify::kStages) {
    const auto s = static_cast<std::size_t>(stage);
    if (a.ran[s] != b.ran[s]) {
      pair.stages_changed.push_back(stage);
      continue;
    }
    // Logits are computed by the host, from the output: its bits say all about the device.
    if (!a.ran[s] || stage == Stage::kLogits) {
      continue;
    }
    if (a.hashes[s] == 0 || b.hashes[s] == 0) {
      pair.bits_unknown.push_back(stage);
    } else if (a.hashes[s] != b.hashes[s]) {
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
  const Traces traces{TracesOf(base), TracesOf(head)};
  Match(traces, &Trace::descriptor, diff);
  Match(traces, &Trace::without_tactics, diff);
  if (diff.pairs.empty()) {
    throw BadInput(head_name, "has no case in common with " + base_name,
                   "compare two runs of the same cases");
  }
  std::sort(diff.pairs.begin(), diff.pairs.end(),
            [](const CasePair& a, const CasePair& b) { return a.head < b.head; });
  for (CasePair& pair : diff.pairs) {
    Compare(base, head, traces, pair);
    diff.worse += pair.worse ? 1 : 0;
    diff.better += pair.verdict_changed && !pair.worse ? 1 : 0;
    diff.bits_changed += pair.bits_changed.empty() ? 0 : 1;
    diff.bits_unknown += pair.bits_unknown.empty() ? 0 : 1;
    diff.stages_changed += pair.stages_changed.empty() ? 0 : 1;
    diff.tactic_changed += pair.tactic_changed ? 1 : 0;
    diff.use_changed += pair.base_use != pair.head_use ? 1 : 0;
  }
  for (const std::size_t i : diff.only_head) {
    const CaseKey& key = head.cases.key(i);
    diff.new_not_passed += key.verdict == Verdict::kPassed && !key.has_nan ? 0 : 1;
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
    const int gravity_a = Gravity(head.cases.key(a->head).verdict);
    const int gravity_b = Gravity(head.cases.key(b->head).verdict);
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

void PinPairs(const DiffInput& input, std::span<const CasePair* const> pairs) {
  std::vector<std::size_t> base;
  std::vector<std::size_t> head;
  for (const CasePair* pair : pairs) {
    base.push_back(pair->base);
    head.push_back(pair->head);
  }
  input.base.cases.Unpin();
  input.base.cases.Pin(base);
  input.head.cases.Unpin();
  input.head.cases.Pin(head);
}

std::string StageNames(const std::vector<Stage>& stages) {
  std::string names;
  for (const Stage stage : stages) {
    names += (names.empty() ? "" : ", ") + std::string(verify::ToString(stage));
  }
  return names;
}

std::string VerdictWord(const CaseKey& key) {
  return std::string(verify::ToString(key.verdict)) + (key.has_nan ? " (NaN)" : "");
}

std::string WhyWorse(const CaseFigures& head) {
  return head.reason.empty() && head.has_nan ? "a figure of the case is NaN" : head.reason;
}

std::vector<std::string> NanNotes(const DiffInput& input) {
  std::vector<std::string> notes;
  for (const auto& [name, run] : {std::pair{"base: ", &input.base}, {"head: ", &input.head}}) {
    for (const NanColumn& nan : run->nan_columns) {
      notes.push_back(name + NanNote(nan));
    }
  }
  return notes;
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
