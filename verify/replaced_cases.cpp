#include "verify/replaced_cases.h"

#include <algorithm>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "kernels/kernel_set.h"
#include "kernels/plan_parts.h"

namespace voltcheck::verify {
namespace {

std::string Text(int number) { return std::to_string(number); }

}  // namespace

std::set<std::string> ReplacedEntries(const std::vector<kernels::ModuleImage>& overrides,
                                      const std::vector<std::string>& left_out) {
  std::set<std::string> entries;
  for (const kernels::ModuleImage& image : overrides) {
    for (std::string& entry : kernels::EntryNames(image.ptx)) {
      entries.insert(std::move(entry));
    }
  }
  for (const std::string& entry : left_out) {
    entries.erase(entry);
  }
  return entries;
}

std::vector<ReplacedGemm> ReplacedGemms(const std::set<std::string>& entries) {
  std::vector<ReplacedGemm> gemms;
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        if (entries.contains(kernels::GemmEntry(tile, group, metadata))) {
          gemms.push_back({tile, group, metadata});
        }
      }
    }
  }
  return gemms;
}

std::vector<Case> HazardCases(const ReplacedGemm& gemm, std::uint64_t seed) {
  const int m = gemm.tile.m;
  const int chunk = std::max(gemm.tile.k, gemm.group);  // the unit of split-K
  const std::string tile = ToString(gemm.tile);
  const std::string common =
      ";g=" + Text(gemm.group) + ";meta=" + ToString(gemm.metadata) + ";infeasible=skip";
  std::vector<Case> cases;
  // `h` and `i` in chunks; splits of both GEMMs.
  const auto add = [&](int h, int i, int w13, int w2, const std::string& rest) {
    const std::string grid = "h=" + Text(h * chunk) + ";i=" + Text(i * chunk) + common +
                             ";w13=" + tile + "/" + Text(w13) + ";w2=" + tile + "/" + Text(w2) +
                             ";" + rest;
    try {
      for (Case& c : ParseGrid(grid)) {
        c.seed += seed;
        cases.push_back(std::move(c));
      }
    } catch (const Error&) {
      // No case of the grid is feasible: a tile that takes no split-K, for one.
    }
  };
  // Where segments end: inside a block of eight rows, one short of the tile, at its end, behind the
  // second tile.
  add(2, 1, 1, 1, "e=1;k=1;data=integer;t=" + Text(m / 2 + 5) + "," + Text(m - 1) + "," + Text(m));
  add(2, 1, 1, 1, "e=6;k=1;data=normal;routing=zipf:1.1;t=" + Text(3 * m + 5));
  add(2, 1, 2, 1, "e=1;k=1;data=normal;t=" + Text(2 * m + 1));
  // Splits: uneven ones, many, in both GEMMs and with several column tiles.
  add(5, 3, 3, 2, "e=4;k=2;data=normal;t=9");
  add(7, 1, 6, 1, "e=2;k=1;data=extreme;t=" + Text(m + 1));
  add(3, 3, 2, 3, "e=2;k=2;data=integer;routing=duplicate;layout=shuffled;t=11");
  // Stages that are odd in number, roundings that show, values at the ends of binary16.
  add(3, 3, 1, 1, "e=2;k=2;data=ties,subnormal,extreme;t=5");
  add(4, 2, 3, 2, "e=2;k=2;data=ties;t=5");
  // Scales of either sign, in splits.
  add(3, 3, 2, 1, "e=2;k=2;data=signed;t=5");
  // Fused SiLU.
  add(2, 1, 1, 1, "e=8;k=8;t=1;path=m1;data=normal,ties,gates");
  add(4, 1, 2, 1, "e=8;k=8;t=1;path=m1;data=ties,gates");
  // A fifth of all halves as its gates.
  add(1, 12, 1, 1, "e=8;k=8;t=1;path=m1;data=gates;seed=1,2");
  // The contract's hidden size, and its intermediate size as near as the unit allows.
  add(2560 / chunk, std::max(1, 160 / chunk), 1, 1, "e=12;k=10;t=3;data=normal");
  // Paths, orders, empty segments; a launch for one segment of two tiles.
  add(1, 1, 1, 1, "e=1;k=1;data=integer;path=segment;t=" + Text(m + 1));
  add(1, 1, 1, 1,
      "e=6;k=2;t=" + Text(m / 8 + 9) + ";routing=zipf:1.1;path=segment,dense,indexed;data=normal");
  add(1, 1, 1, 1, "e=6;k=2;t=9;routing=hole:last;layout=shuffled;data=normal");
  // Every expert of as many as the contract's layer has, a row for each.
  add(1, 1, 1, 1, "e=512;k=8;t=64;routing=distinct;data=integer");
  // An expert whose number needs more than a byte, on a rank that holds four.
  add(1, 1, 1, 1, "e=520;k=1;t=3;routing=one:517;ep=129/130;data=integer");
  return cases;
}

std::vector<Case> HazardCases(const std::set<std::string>& entries, std::uint64_t seed) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& grid) {
    for (Case& c : ParseGrid(grid)) {
      c.seed += seed;
      cases.push_back(std::move(c));
    }
  };
  const auto holds = [&](std::string_view kernel) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const std::string& entry) { return entry.starts_with(kernel); });
  };
  if (holds("moe_") || holds("silu_") || holds("awq_")) {
    // The contract's layer, but for the number of its experts.
    add("h=2560;i=160;e=12;k=10;g=32;t=9;meta=4b,3b;cols=interleaved,halves;layout=shuffled");
  }
  if (holds("silu_")) {
    // Half of all halves as gates.
    add("h=64;i=512;e=4;k=4;g=32;t=16;data=gates;cols=interleaved,halves");
  }
  if (holds("awq_")) {
    // As many experts as the contract's layer has, each of them used.
    add("h=32;i=32;e=512;k=8;g=32;t=64;routing=distinct;data=integer;meta=4b,3b");
  }
  if (entries.contains("moe_reduce")) {
    // Sums whose order shows, of many routes.
    add("h=512;i=32;e=16;k=10,16;g=32;t=64;data=ties,normal");
  }
  if (entries.contains("moe_permute")) {
    // Slots beyond 16 bits; few of them are computed on this rank, so the GEMMs cost little.
    add("h=32;i=32;e=64;k=64;g=32;t=513;ep=63/64;path=dense;w13=128x128x16/1;w2=128x128x16/1");
  }
  if (entries.contains("moe_permute") || entries.contains("moe_segments")) {
    // Experts beyond 8 bits, in either order of the slots, along every path that numbers them.
    add("h=32;i=32;e=300;k=4;g=32;t=17;layout=sorted,shuffled;path=offset,segment,indexed");
    // More segments than a CTA has threads.
    add("h=32;i=32;e=300;k=7;g=32;t=130;layout=sorted,shuffled");
    // One token that names one expert more often than the fused SiLU has rows.
    add("h=64;i=32;e=16;k=11;g=32;t=1;path=m1;routing=one:3;w13=16x128x32/1;w2=16x128x32/1");
  }
  return cases;
}

void AddHazardCases(const std::set<std::string>& entries, std::uint64_t seed,
                    std::vector<Case>& cases) {
  std::set<std::string> seen;
  for (const Case& c : cases) {
    seen.insert(ToDescriptor(c));
  }
  const auto add = [&](std::vector<Case> more) {
    for (Case& c : more) {
      if (seen.insert(ToDescriptor(c)).second) {
        cases.push_back(std::move(c));
      }
    }
  };
  add(HazardCases(entries, seed));
  for (const ReplacedGemm& gemm : ReplacedGemms(entries)) {
    add(HazardCases(gemm, seed));
  }
}

}  // namespace voltcheck::verify
