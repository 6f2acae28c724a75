// The order of tokens, slots, experts and segments, the path and the packing change no bit: a row's
// bits depend on (splits, max(CTA_K, g)), its expert's weights and its own activations alone.
#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/plan_parts.h"
#include "reference/routing.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

// Another order than the first one, unless there is only one.
std::vector<int> Shuffled(int n, const fixtures::CounterRandom& random) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.Below(i, i)]);
  }
  if (std::is_sorted(order.begin(), order.end())) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

std::vector<int> SlotsOf(const std::vector<int>& tokens, int top_k) {
  std::vector<int> slots;
  for (const int token : tokens) {
    for (int route = 0; route < top_k; ++route) {
      slots.push_back(token * top_k + route);
    }
  }
  return slots;
}

// The runs of the rows, cut at random places besides, as the segment step would have written them.
// Where there is room an empty segment that names an expert without weights stands in the middle.
struct Segments {
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> experts;
};
Segments CutSegments(const Problem& problem) {
  const reference::Permutation rows = reference::Permute(problem);
  const auto slots = static_cast<std::size_t>(problem.c.shape.slots());
  const fixtures::CounterRandom random = ChoicesOf(problem.c);
  int unused = -1;
  for (int e = 0; e < problem.c.shape.experts && unused < 0; ++e) {
    unused = problem.FindExpert(e) == nullptr ? e : -1;
  }
  Segments cut;
  for (int row = 0; row < rows.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool run_begins = row == 0 || rows.expert[at] != rows.expert[at - 1];
    if (run_begins || random.Below(2, at) == 0) {
      const bool has_room = cut.offsets.size() + static_cast<std::size_t>(rows.rows - row) < slots;
      if (unused >= 0 && has_room && row > 0) {
        cut.offsets.push_back(row);
        cut.experts.push_back(unused);
        unused = -1;
      }
      cut.offsets.push_back(row);
      cut.experts.push_back(rows.expert[at]);
    }
  }
  cut.offsets.resize(slots + 1, rows.rows);
  cut.experts.resize(slots, 0);
  return cut;
}

}  // namespace

void TokenPermutation(const Problem& problem, Bench& bench) {
  const std::vector<int> order = Shuffled(problem.c.shape.tokens, ChoicesOf(problem.c));
  const StageRun base = bench.Run(problem);
  const StageRun permuted = bench.Run(WithTokens(problem, order));
  const std::string why = "the bits that the same token has in another order of tokens";
  ExpectSameSlots(base, permuted, SlotsOf(order, problem.c.shape.top_k), why);
  ExpectSameTokens(base, permuted, order, why);
}

void SlotLayouts(const Problem& problem, Bench& bench) {
  Problem other = problem;
  other.c.layout =
      problem.c.layout == SlotLayout::kSorted ? SlotLayout::kShuffled : SlotLayout::kSorted;
  LayOutSlots(other);
  ExpectSameStage(bench.Run(problem), bench.Run(other),
                  "the bits that the slot has in the other layout");
}

void ExpertRelabelling(const Problem& problem, Bench& bench) {
  const Case& c = problem.c;
  // The experts of each rank in reverse order.
  const auto rename = [&c](int expert) {
    const auto first = [&](int rank) {
      return static_cast<int>(std::int64_t{c.shape.experts} * rank / c.ep_ranks);
    };
    int rank = 0;
    while (expert >= first(rank + 1)) {
      ++rank;
    }
    return first(rank) + first(rank + 1) - 1 - expert;
  };
  ExpectSameStage(bench.Run(problem), bench.Run(WithExpertsRenamed(problem, rename)),
                  "the bits that the slot has when its expert has another number");
}

void TokenAlone(const Problem& problem, Bench& bench) {
  const int tokens = problem.c.shape.tokens;
  const StageRun batch = bench.Run(problem);
  for (const int token : std::set<int>{0, tokens / 2, tokens - 1}) {
    const StageRun alone = bench.Run(WithTokens(problem, {token}));
    const std::string why = "the bits that token " + std::to_string(token) + " has in the batch";
    ExpectSameSlots(batch, alone, SlotsOf({token}, problem.c.shape.top_k), why);
    ExpectSameTokens(batch, alone, {token}, why);
  }
}

void SegmentSplit(const Problem& problem, Bench& bench) {
  const StageRun whole = bench.Run(problem);
  kernels::Plan plan = bench.MakePlan(problem);
  const Segments cut = CutSegments(problem);
  RemoveStage(plan, kernels::PlanStage::kSegments);
  using Role = kernels::BufferSpec::Role;
  SetContents(plan, "offsets", kernels::ContentsOf(cut.offsets), Role::kIndex);
  SetContents(plan, "segment_expert", kernels::ContentsOf(cut.experts), Role::kIndex);
  ExpectSameStage(whole, bench.Run(plan, problem.c),
                  "the bits that the slot has when its segment is not cut");
}

void PathsAgree(const Problem& problem, Bench& bench) {
  const StageRun base = bench.Run(problem);
  for (const Path path : {Path::kOffset, Path::kSegment, Path::kIndexed, Path::kDense}) {
    if (path == problem.c.path ||
        (path == Path::kDense && problem.c.layout != SlotLayout::kSorted)) {
      continue;
    }
    Problem other = problem;
    other.c.path = path;
    ExpectSameStage(bench.Run(other), base, "the bits of another path");
  }
}

void ColumnLayouts(const Problem& problem, Bench& bench) {
  Problem other = problem;
  other.c.columns =
      problem.c.columns == Columns::kInterleaved ? Columns::kHalves : Columns::kInterleaved;
  ExpectSameStage(bench.Run(other), bench.Run(problem), "the bits of the other column layout");
}

void MetadataForms(const Problem& problem, Bench& bench) {
  Problem other = problem;
  other.c.metadata = problem.c.metadata == Metadata::k4Byte ? Metadata::k3Byte : Metadata::k4Byte;
  ExpectSameStage(bench.Run(other), bench.Run(problem), "the bits of the other metadata form");
}

}  // namespace voltcheck::properties
