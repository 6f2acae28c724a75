#include "verify/coverage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/case/keys.h"

namespace voltcheck::verify {
namespace {

constexpr std::array<int, 3> kGroups{32, 64, 128};
constexpr int kMostSplits = 16;
constexpr int kLargeK = 2048;  // 16 chunks of the largest group: every split count is feasible
constexpr std::array<int, 2> kContractTokens{2, 8};
constexpr Shape kContract{2560, 160, 512, 10, 32, 1};

std::vector<Tactic> AllTactics() {
  std::vector<Tactic> tactics;
  for (const Tile& tile : TilesForGroup(128)) {
    for (int splits = 1; splits <= kMostSplits; ++splits) {
      if (WhyInfeasible({tile, splits}, kLargeK, kLargeK, 128).empty()) {
        tactics.push_back({tile, splits});
      }
    }
  }
  return tactics;
}

// The class of a routing: parameters do not count, places of a hole do.
std::string RoutingClass(const Case& c) {
  const std::string text = ToString(c.routing);
  return c.routing.kind == RoutingKind::kHole ? text : text.substr(0, text.find(':'));
}

// One dimension: how a case's value reads, and how a case is given a value.
struct Axis {
  Dimension dimension;
  std::function<std::string(const Case&)> of;
  std::function<void(const std::string&, Case&)> set;
};

Axis KeyAxis(std::string name, std::string_view key, std::vector<std::string> values) {
  const DescriptorKey* descriptor = &FindDescriptorKey(key);
  return {
      {std::move(name), std::move(values)},
      [descriptor](const Case& c) { return descriptor->print(c); },
      [descriptor](const std::string& text, Case& c) { SetDescriptorKey(*descriptor, text, c); }};
}

std::vector<Axis> Axes() {
  std::vector<std::string> tactics;
  for (const Tactic& tactic : AllTactics()) {
    tactics.push_back(ToString(tactic));
  }
  std::vector<Axis> axes{
      KeyAxis("tokens", "t", {"1", "2", "8", "9", "127", "128"}),
      KeyAxis("path", "path", {"segment", "offset", "dense", "m1", "indexed"}),
      KeyAxis("routing", "routing",
              {"uniform", "zipf", "one", "distinct", "duplicate", "hole:first", "hole:middle",
               "hole:last"}),
      KeyAxis("order", "layout", {"sorted", "shuffled"}),
      KeyAxis("group", "g", {"32", "64", "128"}),
      KeyAxis("metadata", "meta", {"4b", "3b"}),
      KeyAxis("columns", "cols", {"interleaved", "halves"}),
      KeyAxis("w13", "w13", tactics),
      KeyAxis("w2", "w2", std::move(tactics)),
  };
  Axis& routing = axes[2];
  routing.of = RoutingClass;
  routing.set = [set = routing.set](const std::string& text, Case& c) {
    set(text == "zipf" ? "zipf:1.1" : text == "one" ? "one:1" : text, c);
  };
  return axes;
}

// A case that refuses as little as possible, but for the group.
Case Permissive(int group) {
  Case c;
  c.shape = {kLargeK, kLargeK, 4, 2, group, 1};
  c.w13 = c.w2 = {{16, 128, 32}, 1};
  return c;
}

// Why no case has both values; empty when one can.
std::string WhyNever(const Axis& a, const std::string& x, const Axis& b, const std::string& y) {
  std::string why;
  for (const int group : kGroups) {
    Case c = Permissive(group);
    a.set(x, c);
    b.set(y, c);
    try {
      ValidateCase(c);
      return "";
    } catch (const Error& error) {
      why = error.what();
    }
  }
  return why;
}

std::string TileOf(const std::string& tactic) { return tactic.substr(0, tactic.find('/')); }

bool CountsByTile(const Axis& a, const Axis& b) {
  return a.dimension.name == "w13" && b.dimension.name == "w2";
}

// The values of an axis, or of its tiles alone.
std::vector<std::string> ValuesOf(const Axis& axis, bool by_tile) {
  std::vector<std::string> values = axis.dimension.values;
  if (by_tile) {
    for (std::string& value : values) {
      value = TileOf(value);
    }
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return values;
}

PairCoverage CoverPair(const Axis& a, const Axis& b,
                       const std::vector<std::pair<std::string, std::string>>& seen) {
  const bool by_tile = CountsByTile(a, b);
  std::set<std::pair<std::string, std::string>> covered;
  for (const auto& [x, y] : seen) {
    covered.insert(by_tile ? std::pair{TileOf(x), TileOf(y)} : std::pair{x, y});
  }
  PairCoverage pair;
  for (const std::string& x : ValuesOf(a, by_tile)) {
    for (const std::string& y : ValuesOf(b, by_tile)) {
      if (covered.contains({x, y})) {
        ++pair.covered;
        continue;
      }
      const std::string names = a.dimension.name + " " + x + ", " + b.dimension.name + " " + y;
      const std::string why = WhyNever(a, x, b, y);
      if (why.empty()) {
        pair.missing.push_back(names);
      } else {
        pair.infeasible.push_back(names + ": " + why);
      }
    }
  }
  return pair;
}

ContractCoverage CoverContract(const std::vector<Case>& cases, int tokens) {
  Shape shape = kContract;
  shape.tokens = tokens;
  std::set<Tactic> w13;
  std::set<Tactic> w2;
  for (const Case& c : cases) {
    if (c.shape == shape) {
      w13.insert(c.w13);
      w2.insert(c.w2);
    }
  }
  Case c;
  c.shape = shape;
  const auto feasible = [&](int k, int n) {
    std::size_t count = 0;
    for (const Tactic& tactic : AllTactics()) {
      count += WhyInfeasible(tactic, k, n, shape.group).empty() ? 1 : 0;
    }
    return count;
  };
  return {tokens, w13.size(), feasible(c.w13_k(), c.w13_n()), w2.size(),
          feasible(c.w2_k(), c.w2_n())};
}

// The rules that forbid pairs, each with how many it forbids. What to do is left out.
std::map<std::string, std::size_t> Rules(const Coverage& coverage) {
  std::map<std::string, std::size_t> rules;
  for (const PairCoverage& pair : coverage.pairs) {
    for (const std::string& line : pair.infeasible) {
      const std::size_t colon = line.find(": ");
      const std::string names = coverage.dimensions[pair.first].name + " x " +
                                coverage.dimensions[pair.second].name + ", ";
      const bool tactic = line.find(" tile ") != std::string::npos;
      const std::string rule = line.substr(colon + 2, line.find(';') - colon - 2);
      ++rules[names + (tactic ? "the tile does not exist for the group" : rule)];
    }
  }
  return rules;
}

std::string Padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

bool Coverage::complete() const {
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const PairCoverage& pair) { return pair.missing.empty(); }) &&
         std::all_of(contract.begin(), contract.end(), [](const ContractCoverage& c) {
           return c.w13 == c.w13_feasible && c.w2 == c.w2_feasible;
         });
}

Coverage Cover(const std::vector<Case>& cases) {
  const std::vector<Axis> axes = Axes();
  Coverage coverage;
  coverage.cases = cases.size();
  std::vector<std::vector<std::string>> values(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    coverage.dimensions.push_back(axes[a].dimension);
    for (const Case& c : cases) {
      values[a].push_back(axes[a].of(c));
    }
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = a + 1; b < axes.size(); ++b) {
      std::vector<std::pair<std::string, std::string>> seen;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        seen.emplace_back(values[a][i], values[b][i]);
      }
      coverage.pairs.push_back(CoverPair(axes[a], axes[b], seen));
      coverage.pairs.back().first = a;
      coverage.pairs.back().second = b;
    }
  }
  for (const int tokens : kContractTokens) {
    coverage.contract.push_back(CoverContract(cases, tokens));
  }
  return coverage;
}

std::string ToText(const Coverage& coverage) {
  constexpr std::size_t kWidth = 11;
  std::string text = std::to_string(coverage.cases) +
                     " cases; pairs of values that are covered / feasible:\n\n" +
                     Padded("values", 2 * kWidth);
  for (const Dimension& dimension : coverage.dimensions) {
    text += Padded(dimension.name, kWidth);
  }
  for (std::size_t row = 0; row < coverage.dimensions.size(); ++row) {
    text += "\n" + Padded(coverage.dimensions[row].name, kWidth) +
            Padded(std::to_string(coverage.dimensions[row].values.size()), kWidth);
    for (std::size_t column = 0; column < coverage.dimensions.size(); ++column) {
      const auto pair =
          std::find_if(coverage.pairs.begin(), coverage.pairs.end(),
                       [&](const PairCoverage& p) { return p.first == row && p.second == column; });
      text += Padded(pair == coverage.pairs.end()
                         ? ""
                         : std::to_string(pair->covered) + "/" + std::to_string(pair->feasible()),
                     kWidth);
    }
  }
  text += "\n\nw13 x w2 counts tiles. Pairs that no case can have:\n";
  for (const auto& [rule, count] : Rules(coverage)) {
    text += Padded(std::to_string(count), 6) + "  " + rule + "\n";
  }
  text += "\nTactics (tile and splits) at the contract's shape:\n";
  for (const ContractCoverage& c : coverage.contract) {
    text += "  T = " + std::to_string(c.tokens) + ": W13 " + std::to_string(c.w13) + "/" +
            std::to_string(c.w13_feasible) + ", W2 " + std::to_string(c.w2) + "/" +
            std::to_string(c.w2_feasible) + "\n";
  }
  text += "\n";
  for (const PairCoverage& pair : coverage.pairs) {
    for (const std::string& missing : pair.missing) {
      text += "missing: " + missing + "\n";
    }
  }
  return text + (coverage.complete() ? "complete\n" : "not complete\n");
}

}  // namespace voltcheck::verify
