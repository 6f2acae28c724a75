#include "kernels/plan.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "kernels/plan_parts.h"

namespace voltcheck::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;  // of every kernel but the GEMM and the segment builder

bool IsLocal(const Case& c, std::int64_t expert) {
  return expert >= std::int64_t{c.shape.experts} * c.ep_rank / c.ep_ranks &&
         expert < std::int64_t{c.shape.experts} * (c.ep_rank + 1) / c.ep_ranks;
}

void CheckTactic(const char* key, const Tactic& tactic, int k, int n, int group) {
  const std::string why = WhyInfeasible(tactic, k, n, group);
  if (!why.empty()) {
    throw BadInput(std::string(key) + "=" + ToString(tactic), why,
                   "`voltcheck list tactics` shows what is feasible");
  }
}

void CheckIds(const Problem& problem) {
  const Shape& shape = problem.c.shape;
  for (std::size_t i = 0; i < problem.topk_ids.size(); ++i) {
    const std::int32_t id = problem.topk_ids[i];
    if (id < 0 || id >= shape.experts) {
      const auto top_k = static_cast<std::size_t>(shape.top_k);
      throw BadInput(
          "topk_ids[" + std::to_string(i / top_k) + ", " + std::to_string(i % top_k) + "]",
          "expert " + std::to_string(id) + " is outside [0, " + std::to_string(shape.experts) + ")",
          "only the single-token route (path=m1) leaves such slots out");
    }
  }
}

void CheckCase(const Problem& problem) {
  const Case& c = problem.c;
  const std::string path = "path=" + ToString(c.path);
  CheckTactic("w13", c.w13, c.w13_k(), c.w13_n(), c.shape.group);
  CheckTactic("w2", c.w2, c.w2_k(), c.w2_n(), c.shape.group);
  if (c.path == Path::kM1) {
    if (c.shape.tokens != 1) {
      throw BadInput(path, "is for one token, not " + std::to_string(c.shape.tokens), "use t=1");
    }
    if (c.columns != Columns::kInterleaved) {
      throw BadInput(path, "fuses SiLU, which needs gate and up side by side",
                     "use cols=interleaved");
    }
  } else {
    CheckIds(problem);
  }
  if (c.path == Path::kDense && c.layout != SlotLayout::kSorted) {
    throw BadInput(path, "needs each expert's rows together", "use layout=sorted");
  }
  // Threads and rows are numbered with 32-bit integers on the device.
  const std::int64_t widest = std::max<std::int64_t>(c.shape.hidden, c.w13_n());
  if (std::int64_t{c.shape.slots()} * (widest / 8) > std::numeric_limits<std::int32_t>::max() / 2) {
    throw BadInput("t=" + std::to_string(c.shape.tokens), "is too many slots for 32-bit indices",
                   "use fewer tokens");
  }
}

/// Builds the plan of one problem, step by step in launch order.
class Planner {
 public:
  explicit Planner(const Problem& problem)
      : problem_(problem),
        c_(problem.c),
        shape_(problem.c.shape),
        slots_(problem.c.shape.slots()) {}

  Plan Make() {
    AddInputs();
    AddBothWeights();
    AddPermute();
    if (c_.path == Path::kOffset || c_.path == Path::kSegment || c_.path == Path::kIndexed) {
      AddSegments("offsets", "segment_expert", 0);
    } else if (c_.path == Path::kM1) {
      AddSegments("slot_offsets", "slot_expert", 1);
    }
    if (!gathers()) {
      AddGather();
    }
    AddW13();
    if (c_.stage == StageSelection::kW13) {
      return std::move(plan_);
    }
    if (c_.path != Path::kM1) {
      AddSilu();
    }
    if (c_.stage == StageSelection::kSilu) {
      return std::move(plan_);
    }
    AddW2();
    if (c_.stage != StageSelection::kW2) {
      AddReduce();
    }
    return std::move(plan_);
  }

 private:
  /// The paths that read the activations through row_token instead of a permuted copy.
  bool gathers() const { return c_.path == Path::kIndexed || c_.path == Path::kM1; }

  void AddBuffer(const char* name, std::size_t bytes, BufferSpec::Role role) {
    plan_.buffers.push_back({name, bytes, role, {}});
  }
  template <typename T>
  void AddInput(const char* name, const std::vector<T>& values) {
    plan_.buffers.push_back(
        {name, values.size() * sizeof(T), BufferSpec::Role::kInput, ContentsOf(values)});
  }
  void AddLaunch(PlanStage stage, const char* kernel, std::int64_t threads,
                 std::vector<PlanArgument> arguments) {
    plan_.launches.push_back({stage,
                              kernel,
                              {BlocksFor(threads, kThreads), 1, 1},
                              {kThreads, 1, 1},
                              0,
                              std::move(arguments)});
  }
  std::size_t HalfBytes(std::int64_t rows, std::int64_t columns) const {
    return static_cast<std::size_t>(2 * rows * columns);
  }

  void AddInputs() {
    AddInput("hidden", problem_.hidden);
    AddInput("topk_ids", problem_.topk_ids);
    AddInput("topk_weights", problem_.topk_weights);
    if (c_.layout == SlotLayout::kShuffled) {
      AddInput("slot_order", problem_.slot_order);
    }
    if (c_.ep_ranks > 1) {
      std::vector<std::int32_t> map;
      map.reserve(static_cast<std::size_t>(shape_.experts));
      std::int32_t local = 0;
      for (int expert = 0; expert < shape_.experts; ++expert) {
        map.push_back(IsLocal(c_, expert) ? local++ : -1);
      }
      AddInput("expert_map", map);
    }
  }

  void AddBothWeights() {
    WeightPart w13{"w13",      {},         {},           shape_.experts,
                   c_.w13_k(), c_.w13_n(), shape_.group, c_.columns == Columns::kInterleaved,
                   c_.metadata};
    WeightPart w2{"w2",      {},           {},    shape_.experts, c_.w2_k(),
                  c_.w2_n(), shape_.group, false, c_.metadata};
    for (const auto& expert : problem_.experts) {
      if (!IsLocal(c_, expert->id)) {
        continue;
      }
      w13.ids.push_back(expert->id);
      w13.matrices.push_back(&expert->w13);
      w2.ids.push_back(expert->id);
      w2.matrices.push_back(&expert->w2);
    }
    AddWeights(w13, plan_);
    AddWeights(w2, plan_);
  }

  void AddPermute() {
    const std::size_t slot_bytes = sizeof(std::int32_t) * static_cast<std::size_t>(slots_);
    const bool ordered = c_.layout == SlotLayout::kShuffled;
    const int tail = ordered ? 1 : shape_.experts;  // the bucket of slots that are not computed
    for (const char* name : {"source", "inverse", "row_expert", "row_token"}) {
      AddBuffer(name, slot_bytes, BufferSpec::Role::kIndex);
    }
    AddBuffer("first_row", sizeof(std::int32_t) * (static_cast<std::size_t>(tail) + 1),
              BufferSpec::Role::kIndex);
    plan_.rows = At("first_row", sizeof(std::int32_t) * static_cast<std::uint64_t>(tail));
    AddLaunch(PlanStage::kPermute, "moe_permute", tail + 1,
              {At("source"), At("inverse"), At("row_expert"), At("row_token"), At("first_row"),
               At("topk_ids"), ordered ? PlanArgument(At("slot_order")) : PlanArgument(kNull),
               c_.ep_ranks > 1 ? PlanArgument(At("expert_map")) : PlanArgument(kNull), slots_,
               shape_.top_k, shape_.experts});
  }

  void AddSegments(const char* offsets, const char* segment_expert, std::int32_t each_row) {
    const std::size_t slot_bytes = sizeof(std::int32_t) * static_cast<std::size_t>(slots_);
    AddBuffer(offsets, slot_bytes + sizeof(std::int32_t), BufferSpec::Role::kIndex);
    AddBuffer(segment_expert, slot_bytes, BufferSpec::Role::kIndex);
    plan_.launches.push_back(
        {PlanStage::kSegments,
         "moe_segments",
         {1, 1, 1},
         {256, 1, 1},
         0,
         {At(offsets), At(segment_expert), At("row_expert"), plan_.rows, slots_, each_row}});
  }

  void AddGather() {
    AddBuffer("permuted", HalfBytes(slots_, shape_.hidden), BufferSpec::Role::kWorkspace);
    AddLaunch(PlanStage::kPermute, "moe_gather", std::int64_t{slots_} * (shape_.hidden / 8),
              {At("permuted"), At("hidden"), At("row_token"), plan_.rows, slots_, shape_.hidden});
  }

  GemmPart CommonGemm() const {
    GemmPart part;
    part.metadata = c_.metadata;
    part.group = shape_.group;
    part.slots = slots_;
    part.segments = c_.path == Path::kDense ? shape_.experts : slots_;
    part.offsets = "offsets";
    part.segment_expert = "segment_expert";
    if (c_.path == Path::kM1) {
      part.offsets = "slot_offsets";
      part.segment_expert = "slot_expert";
    } else if (c_.path == Path::kDense) {
      part.schedule = Schedule::kExperts;
      part.offsets = "first_row";
    } else if (c_.path == Path::kSegment) {
      part.schedule = Schedule::kSegments;
    }
    return part;
  }

  void AddW13() {
    GemmPart part = CommonGemm();
    part.name = "w13";
    part.stage = PlanStage::kW13;
    part.tactic = c_.w13;
    part.k = c_.w13_k();
    part.n = c_.w13_n();
    part.gather = gathers();
    part.input = part.gather ? "hidden" : "permuted";
    part.fuse_silu = c_.path == Path::kM1;
    part.output = part.fuse_silu ? "silu" : "w13";
    AddBuffer(part.output.c_str(), HalfBytes(slots_, part.fuse_silu ? part.n / 2 : part.n),
              BufferSpec::Role::kOutput);
    AddGemm(part, plan_);
  }

  void AddSilu() {
    AddBuffer("silu", HalfBytes(slots_, shape_.intermediate), BufferSpec::Role::kOutput);
    AddLaunch(PlanStage::kSilu,
              c_.columns == Columns::kInterleaved ? "silu_mul_interleaved" : "silu_mul_halves",
              std::int64_t{slots_} * (shape_.intermediate / 8),
              {At("silu"), At("w13"), plan_.rows, slots_, shape_.intermediate});
  }

  void AddW2() {
    GemmPart part = CommonGemm();
    part.name = "w2";
    part.stage = PlanStage::kW2;
    part.tactic = c_.w2;
    part.k = c_.w2_k();
    part.n = c_.w2_n();
    part.input = "silu";
    part.output = "w2";
    AddBuffer("w2", HalfBytes(slots_, part.n), BufferSpec::Role::kOutput);
    AddGemm(part, plan_);
  }

  void AddReduce() {
    AddBuffer("output", HalfBytes(shape_.tokens, shape_.hidden), BufferSpec::Role::kOutput);
    AddLaunch(PlanStage::kReduce, "moe_reduce", std::int64_t{shape_.tokens} * (shape_.hidden / 8),
              {At("output"), At("w2"), At("topk_weights"), At("inverse"), plan_.rows, shape_.tokens,
               shape_.top_k, shape_.hidden});
  }

  const Problem& problem_;
  const Case& c_;
  const Shape& shape_;
  int slots_;
  Plan plan_;
};

}  // namespace

const BufferSpec* Plan::FindBuffer(std::string_view name) const {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const BufferSpec& buffer) { return buffer.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

std::vector<PlanLaunch> Plan::StageLaunches() const {
  std::vector<PlanLaunch> stage;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(stage),
               [](const PlanLaunch& launch) { return launch.stage != PlanStage::kRepack; });
  return stage;
}

Plan MakePlan(const Problem& problem) {
  CheckCase(problem);
  return Planner(problem).Make();
}

}  // namespace voltcheck::kernels
