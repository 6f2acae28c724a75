#include "verify/properties/hazards.h"

#include <algorithm>
#include <array>
#include <map>

#include "fixtures/generate.h"

namespace voltcheck::properties {
namespace {

using Ids = std::vector<std::int32_t>;

/// Computed slots of each expert that has any.
std::map<std::int32_t, int> RowsOf(const Case& c, const Ids& ids) {
  std::map<std::int32_t, int> rows;
  for (const std::int32_t id : ids) {
    if (fixtures::IsLocalExpert(c, id)) {
      ++rows[id];
    }
  }
  return rows;
}

int ComputedRows(const Case& c, const Ids& ids) {
  return static_cast<int>(std::count_if(
      ids.begin(), ids.end(), [&](std::int32_t id) { return fixtures::IsLocalExpert(c, id); }));
}

bool NamesAnExpertTwice(const Case& c, const Ids& ids) {
  const auto top_k = static_cast<std::ptrdiff_t>(c.shape.top_k);
  for (auto token = ids.begin(); token != ids.end(); token += top_k) {
    Ids routes(token, token + top_k);
    std::sort(routes.begin(), routes.end());
    if (std::adjacent_find(routes.begin(), routes.end()) != routes.end()) {
      return true;
    }
  }
  return false;
}

/// One expert has more rows than one row tile holds, and the last tile is not full.
bool HasRowTail(const Case& c, const Ids& ids) {
  const int tile = std::min(c.w13.tile.m, c.w2.tile.m);
  const std::map<std::int32_t, int> rows = RowsOf(c, ids);
  return std::any_of(rows.begin(), rows.end(), [&](const auto& entry) {
    return entry.second > tile && entry.second % tile != 0;
  });
}

bool HasUnevenSplits(const Case& c, const Ids&) {
  const auto uneven = [&](const Tactic& tactic, int k) {
    return ChunkCount(tactic.tile, k, c.shape.group) % tactic.splits != 0;
  };
  return uneven(c.w13, c.w13_k()) || uneven(c.w2, c.w2_k());
}

constexpr std::array<Hazard, 27> kHazards{{
    {"duplicate-slots", NamesAnExpertTwice},
    {"empty-experts",
     [](const Case& c, const Ids& ids) {
       return RowsOf(c, ids).size() < static_cast<std::size_t>(c.shape.experts);
     }},
    {"one-expert-takes-all",
     [](const Case& c, const Ids& ids) { return ids.size() > 1 && RowsOf(c, ids).size() == 1; }},
    {"no-row-computed", [](const Case& c, const Ids& ids) { return ComputedRows(c, ids) == 0; }},
    {"some-rows-not-computed",
     [](const Case& c, const Ids& ids) {
       const int rows = ComputedRows(c, ids);
       return rows > 0 && rows < c.shape.slots();
     }},
    {"id-out-of-range",
     [](const Case& c, const Ids& ids) {
       return std::any_of(ids.begin(), ids.end(),
                          [&](std::int32_t id) { return id < 0 || id >= c.shape.experts; });
     }},
    {"row-tail", HasRowTail},
    {"column-tail",
     [](const Case& c, const Ids&) {
       return c.w13_n() % c.w13.tile.n != 0 && c.w2_n() % c.w2.tile.n != 0;
     }},
    {"column-tiles",
     [](const Case& c, const Ids&) { return c.w13_n() > c.w13.tile.n || c.w2_n() > c.w2.tile.n; }},
    {"split-k", [](const Case& c, const Ids&) { return c.w13.splits > 1 || c.w2.splits > 1; }},
    {"uneven-splits", HasUnevenSplits},
    {"unsorted",
     [](const Case& c, const Ids& ids) {
       return c.layout == SlotLayout::kShuffled && ids.size() > 2 && RowsOf(c, ids).size() > 1;
     }},
    {"t=1", [](const Case& c, const Ids&) { return c.shape.tokens == 1; }},
    {"t=2", [](const Case& c, const Ids&) { return c.shape.tokens == 2; }},
    {"t=3..7", [](const Case& c, const Ids&) { return c.shape.tokens > 2 && c.shape.tokens < 8; }},
    {"t=8", [](const Case& c, const Ids&) { return c.shape.tokens == 8; }},
    {"t=9", [](const Case& c, const Ids&) { return c.shape.tokens == 9; }},
    {"t=10..126",
     [](const Case& c, const Ids&) { return c.shape.tokens > 9 && c.shape.tokens < 127; }},
    {"t=127", [](const Case& c, const Ids&) { return c.shape.tokens == 127; }},
    {"t=128", [](const Case& c, const Ids&) { return c.shape.tokens == 128; }},
    {"t>128", [](const Case& c, const Ids&) { return c.shape.tokens > 128; }},
    {"three-byte-metadata",
     [](const Case& c, const Ids&) { return c.metadata == Metadata::k3Byte; }},
    {"halved-columns", [](const Case& c, const Ids&) { return c.columns == Columns::kHalves; }},
    {"group-128", [](const Case& c, const Ids&) { return c.shape.group == 128; }},
    {"subnormals", [](const Case& c, const Ids&) { return c.data == Data::kSubnormal; }},
    {"exact-inputs", [](const Case& c, const Ids&) { return IsInteger(c.data); }},
    {"negative-scales",
     [](const Case& c, const Ids&) { return c.data == Data::kSigned || c.data == Data::kGates; }},
}};

}  // namespace

std::span<const Hazard> Hazards() { return kHazards; }

void HazardCounts::Add(const Case& c) {
  if (c.data == Data::kFixture) {
    return;
  }
  const Ids ids = fixtures::GenerateRouting(c).ids;
  for (std::size_t h = 0; h < counts_.size(); ++h) {
    counts_[h] += kHazards[h].has(c, ids) ? 1 : 0;
  }
}

void HazardCounts::Add(const HazardCounts& other) {
  for (std::size_t h = 0; h < counts_.size(); ++h) {
    counts_[h] += other.counts_[h];
  }
}

std::vector<std::string> HazardCounts::Missed() const {
  std::vector<std::string> missed;
  for (std::size_t h = 0; h < counts_.size(); ++h) {
    if (counts_[h] == 0) {
      missed.emplace_back(kHazards[h].name);
    }
  }
  return missed;
}

}  // namespace voltcheck::properties
