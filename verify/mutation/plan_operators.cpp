// Faults in launches, buffers and workspaces.
#include <algorithm>
#include <array>
#include <cmath>

#include "verify/mutation/plan_edits.h"

namespace voltcheck::mutation {
namespace {

constexpr std::array<PlanStage, 2> kGemms{PlanStage::kW13, PlanStage::kW2};
std::string NameOf(PlanStage stage) { return stage == PlanStage::kW13 ? "w13" : "w2"; }

void ShiftGemmArgument(std::string_view op, PlanStage stage, std::size_t argument,
                       std::int64_t bytes, const std::string& what,
                       std::vector<PlanFault>& faults) {
  faults.push_back({op, NameOf(stage) + " " + what, [=](Plan& plan) {
                      return ForLaunches(plan, stage, [=](PlanLaunch& launch) {
                        return Shift(launch, argument, bytes);
                      });
                    }});
}

// The routing of the batch before: every token has the experts of its neighbour.
std::vector<std::byte> StaleRouting(const Plan& plan, int top_k) {
  std::vector<std::byte> ids = plan.FindBuffer("topk_ids")->contents;
  const std::size_t token = static_cast<std::size_t>(top_k) * sizeof(std::int32_t);
  std::rotate(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(token % ids.size()),
              ids.end());
  return ids;
}

// Another tile of the same group and metadata form in the entry's name, the grid left as it is.
bool OtherTile(PlanLaunch& launch, std::string_view from, std::string_view to) {
  const std::size_t at = launch.kernel.find(from);
  if (at == std::string::npos) {
    return false;
  }
  launch.kernel.replace(at, from.size(), to);
  return true;
}

bool SwapLaunches(Plan& plan, PlanStage a, PlanStage b) {
  const auto find = [&](PlanStage stage) {
    return std::find_if(plan.launches.begin(), plan.launches.end(),
                        [=](const PlanLaunch& launch) { return launch.stage == stage; });
  };
  const auto first = find(a);
  const auto second = find(b);
  if (first == plan.launches.end() || second == plan.launches.end()) {
    return false;
  }
  std::iter_swap(first, second);
  return true;
}

}  // namespace

void WrongOffsets(std::vector<PlanFault>& faults) {
  constexpr std::string_view kOp = "wrong-offsets";
  for (const PlanStage stage : kGemms) {
    ShiftGemmArgument(kOp, stage, gemm::kOffsets, 4, "reads its segment offsets one entry later",
                      faults);
    ShiftGemmArgument(kOp, stage, gemm::kOut, 16, "writes eight columns to the right", faults);
    ShiftGemmArgument(kOp, stage, gemm::kInput, 16, "reads eight channels to the right", faults);
    ShiftGemmArgument(kOp, stage, gemm::kPartials, 4, "has its workspace one float later", faults);
  }
  faults.push_back({kOp, "the reduction reads its routes one slot later", [](Plan& plan) {
                      return ForLaunches(plan, PlanStage::kReduce,
                                         [](PlanLaunch& launch) { return Shift(launch, 3, 4); });
                    }});
}

void StaleIds(std::vector<PlanFault>& faults) {
  constexpr std::string_view kOp = "stale-ids";
  faults.push_back({kOp, "the permutation sorts the batch before", [](Plan& plan) {
                      const auto plant = [&](PlanLaunch& launch) {
                        if (launch.kernel != "moe_permute") {
                          return false;
                        }
                        const int top_k = std::get<std::int32_t>(launch.arguments[9]);
                        std::vector<std::byte> ids = StaleRouting(plan, top_k);
                        if (ids == plan.FindBuffer("topk_ids")->contents) {
                          return false;
                        }
                        plan.buffers.push_back(
                            {"stale_ids", ids.size(), BufferSpec::Role::kIndex, std::move(ids)});
                        launch.arguments[5] = BufferArgument{"stale_ids", 0};
                        return true;
                      };
                      return ForLaunches(plan, PlanStage::kPermute, plant);
                    }});
  for (const PlanStage stage : kGemms) {
    faults.push_back({kOp, NameOf(stage) + " takes each segment's expert from its neighbour",
                      [stage](Plan& plan) {
                        return ForLaunches(plan, stage, [](PlanLaunch& launch) {
                          return Shift(launch, gemm::kExperts, 4);
                        });
                      }});
  }
  faults.push_back({kOp, "the segments are not built", [](Plan& plan) {
                      return std::erase_if(plan.launches, [](const PlanLaunch& launch) {
                               return launch.stage == PlanStage::kSegments;
                             }) > 0;
                    }});
}

void WrongSplits(std::vector<PlanFault>& faults) {
  for (const PlanStage stage : kGemms) {
    for (const int by : {-1, 1}) {
      faults.push_back({"wrong-splits",
                        NameOf(stage) + (by < 0 ? " is told one split less than the grid has"
                                                : " is told one split more than the grid has"),
                        [stage, by](Plan& plan) {
                          return ForLaunches(plan, stage, [by](PlanLaunch& launch) {
                            auto& splits = std::get<std::int32_t>(launch.arguments[gemm::kSplits]);
                            if (splits == 1) {
                              return false;
                            }
                            splits += by;
                            return true;
                          });
                        }});
    }
    faults.push_back(
        {"wrong-splits", NameOf(stage) + " is launched with one split less", [stage](Plan& plan) {
           return ForLaunches(plan, stage, [](PlanLaunch& launch) {
             launch.grid.z -= launch.grid.z > 1 ? 1 : 0;
             return std::get<std::int32_t>(launch.arguments[gemm::kSplits]) > 1;
           });
         }});
  }
}

void UnzeroedWorkspace(std::vector<PlanFault>& faults) {
  for (const std::string name : {"w13.locks", "w2.locks"}) {
    for (const std::int32_t value : {1, -1}) {
      faults.push_back({"unzeroed-workspace",
                        name + " begin as " + std::to_string(value) + ", not as zero",
                        [name, value](Plan& plan) {
                          BufferSpec* locks = Find(plan, name);
                          if (locks == nullptr) {
                            return false;
                          }
                          locks->role = BufferSpec::Role::kIndex;
                          locks->contents.resize(locks->bytes);
                          SetNumbers(*locks, std::vector<std::int32_t>(locks->bytes / 4, value));
                          return true;
                        }});
    }
  }
}

void WrongTactic(std::vector<PlanFault>& faults) {
  // The second of each pair covers fewer rows or columns of the same grid, or deals out K in other
  // chunks.
  constexpr std::array<std::array<std::string_view, 2>, 4> kPairs{{{"8x128x64", "16x128x32"},
                                                                   {"16x128x32", "8x128x64"},
                                                                   {"16x128x32", "32x128x32"},
                                                                   {"8x128x64", "8x256x64"}}};
  for (const PlanStage stage : kGemms) {
    for (const auto& [from, to] : kPairs) {
      faults.push_back(
          {"wrong-tactic",
           NameOf(stage) + " runs " + std::string(to) + " on the grid of " + std::string(from),
           [stage, from, to](Plan& plan) {
             return ForLaunches(plan, stage,
                                [&](PlanLaunch& launch) { return OtherTile(launch, from, to); });
           }});
    }
  }
}

void SwappedStages(std::vector<PlanFault>& faults) {
  struct Pair {
    PlanStage first, second;
    std::string_view what;
  };
  constexpr std::array<Pair, 5> kPairs{
      {{PlanStage::kSilu, PlanStage::kW2, "W2 runs before the activation"},
       {PlanStage::kW13, PlanStage::kSilu, "the activation runs before W13"},
       {PlanStage::kW2, PlanStage::kReduce, "the reduction runs before W2"},
       {PlanStage::kSegments, PlanStage::kW13, "W13 runs before the segments are built"},
       {PlanStage::kPermute, PlanStage::kSegments, "segments are built before the permutation"}}};
  for (const auto& [first, second, what] : kPairs) {
    faults.push_back({"swapped-stages", std::string(what),
                      [first, second](Plan& plan) { return SwapLaunches(plan, first, second); }});
  }
}

void MissingRepack(std::vector<PlanFault>& faults) {
  for (const std::string name : {"w13.packed", "w13.metadata", "w2.packed", "w2.metadata"}) {
    const auto is_repack = [name](const PlanLaunch& launch) {
      const auto* out = std::get_if<BufferArgument>(&launch.arguments.front());
      return launch.stage == PlanStage::kRepack && out != nullptr && out->buffer == name;
    };
    faults.push_back({"missing-repack", name + " is never made", [is_repack](Plan& plan) {
                        return std::erase_if(plan.launches, is_repack) > 0;
                      }});
    faults.push_back({"missing-repack", name + " lacks its last expert", [is_repack](Plan& plan) {
                        return ForLaunches(plan, PlanStage::kRepack, [&](PlanLaunch& launch) {
                          if (!is_repack(launch) || launch.grid.y == 1) {
                            return false;
                          }
                          --launch.grid.y;
                          return true;
                        });
                      }});
  }
}

void WrongMetadataForm(std::vector<PlanFault>& faults) {
  for (const PlanStage stage : kGemms) {
    for (const auto& [from, to] : {std::pair("_3b", "_4b"), std::pair("_4b", "_3b")}) {
      faults.push_back({"metadata-form",
                        NameOf(stage) + " reads metadata of form " + (from + 1) + " as " + (to + 1),
                        [=](Plan& plan) {
                          return ForLaunches(plan, stage, [=](PlanLaunch& launch) {
                            return OtherTile(launch, from, to);
                          });
                        }});
    }
  }
}

void RouterWeightTwice(std::vector<PlanFault>& faults) {
  const auto change = [&](const char* what, float (*weigh)(float)) {
    faults.push_back({"router-weight", what, [weigh](Plan& plan) {
                        BufferSpec* weights = Find(plan, "topk_weights");
                        std::vector<float> values = Numbers<float>(*weights);
                        const std::vector<float> before = values;
                        std::transform(values.begin(), values.end(), values.begin(), weigh);
                        SetNumbers(*weights, values);
                        return values != before;
                      }});
  };
  change("the router's weight is applied twice", [](float w) { return w * w; });
  change("the router's weight is not applied", [](float) { return 1.0F; });
  change("the router's weight is rounded to ten bits",
         [](float w) { return std::ldexp(std::round(std::ldexp(w, 10)), -10); });
}

void WrongGroupStride(std::vector<PlanFault>& faults) {
  for (const std::string gemm : {"w13", "w2"}) {
    struct Variant {
      const char* what;
      std::int32_t (*change)(std::int32_t);
    };
    for (const Variant& variant :
         {Variant{"of half a row", [](std::int32_t stride) { return stride / 2; }},
          Variant{"of eight columns more", [](std::int32_t stride) { return stride + 8; }},
          Variant{"of zero", [](std::int32_t) { return 0; }}}) {
      faults.push_back(
          {"group-stride",
           gemm + " steps from group to group by a stride " + std::string(variant.what),
           [gemm, change = variant.change](Plan& plan) {
             BufferSpec* table = Find(plan, gemm + ".metadata_table");
             std::vector<std::int32_t> words = Numbers<std::int32_t>(*table);
             for (std::size_t i = 2; i < words.size(); i += 4) {
               words[i] = change(words[i]);
             }
             SetNumbers(*table, words);
             return true;
           }});
    }
  }
}

std::span<const PlanOperator> PlanOperators() {
  static constexpr std::array<PlanOperator, 13> kOperators{{
      {"wrong-offsets", "a buffer's address is an entry off", WrongOffsets},
      {"stale-ids", "expert ids or segments of another batch", StaleIds},
      {"wrong-splits", "grid and argument disagree about split-K", WrongSplits},
      {"unzeroed-workspace", "locks that were not cleared", UnzeroedWorkspace},
      {"wrong-tactic", "another tile's kernel on this grid", WrongTactic},
      {"swapped-stages", "two launches in the wrong order", SwappedStages},
      {"missing-repack", "weights or metadata that were not repacked", MissingRepack},
      {"metadata-form", "three bytes read as four, or the reverse", WrongMetadataForm},
      {"router-weight", "router weights applied twice, not, or rounded", RouterWeightTwice},
      {"group-stride", "a wrong stride from group to group", WrongGroupStride},
      {"zero-point-order", "zero points read in another nibble order", ZeroPointOrder},
      {"scale-transposed", "scales read column by column", ScaleTransposed},
      {"ragged-group", "the last group has its neighbour's scales", RaggedLastGroup},
  }};
  return kOperators;
}

}  // namespace voltcheck::mutation
