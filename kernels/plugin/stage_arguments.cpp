#include "kernels/plugin/stage_arguments.h"

#include <array>
#include <cstring>
#include <stdexcept>

#include "kernels/plan_parts.h"

namespace voltcheck::plugin {
namespace {

using kernels::PlanArgument;

/// The whole numbers of the case, then `held`; in memory order.
constexpr std::array<int32_t voltcheck_case::*, 12> kNumbers{
    &voltcheck_case::tokens,         &voltcheck_case::top_k,       &voltcheck_case::slots,
    &voltcheck_case::experts,        &voltcheck_case::hidden,      &voltcheck_case::intermediate,
    &voltcheck_case::group,          &voltcheck_case::interleaved, &voltcheck_case::sorted,
    &voltcheck_case::metadata_bytes, &voltcheck_case::w13_splits,  &voltcheck_case::w2_splits};
constexpr std::size_t kNumberCount = kNumbers.size();

struct AddressField {
  const char* buffer;
  std::size_t offset;  ///< in voltcheck_stage
};
constexpr std::array<AddressField, 25> kAddresses{
    {{"hidden", offsetof(voltcheck_stage, hidden)},
     {"topk_ids", offsetof(voltcheck_stage, topk_ids)},
     {"topk_weights", offsetof(voltcheck_stage, topk_weights)},
     {"expert_slot", offsetof(voltcheck_stage, expert_slot)},
     {"w13.qweight", offsetof(voltcheck_stage, w13_weights.qweight)},
     {"w13.qzeros", offsetof(voltcheck_stage, w13_weights.qzeros)},
     {"w13.scales", offsetof(voltcheck_stage, w13_weights.scales)},
     {"w13.weight_table", offsetof(voltcheck_stage, w13_weights.packed_table)},
     {"w13.metadata_table", offsetof(voltcheck_stage, w13_weights.metadata_table)},
     {"w2.qweight", offsetof(voltcheck_stage, w2_weights.qweight)},
     {"w2.qzeros", offsetof(voltcheck_stage, w2_weights.qzeros)},
     {"w2.scales", offsetof(voltcheck_stage, w2_weights.scales)},
     {"w2.weight_table", offsetof(voltcheck_stage, w2_weights.packed_table)},
     {"w2.metadata_table", offsetof(voltcheck_stage, w2_weights.metadata_table)},
     {"permuted", offsetof(voltcheck_stage, permuted)},
     {"source", offsetof(voltcheck_stage, source)},
     {"inverse", offsetof(voltcheck_stage, inverse)},
     {"row_expert", offsetof(voltcheck_stage, row_expert)},
     {"row_token", offsetof(voltcheck_stage, row_token)},
     {"offsets", offsetof(voltcheck_stage, offsets)},
     {"segment_expert", offsetof(voltcheck_stage, segment_expert)},
     {"w13", offsetof(voltcheck_stage, w13)},
     {"silu", offsetof(voltcheck_stage, silu)},
     {"w2", offsetof(voltcheck_stage, w2)},
     {"output", offsetof(voltcheck_stage, output)}}};

template <typename T>
T Take(const std::vector<std::byte>& bytes) {
  T value;
  if (bytes.size() != sizeof(value)) {
    throw std::length_error("an argument of a plugin's step has another size");
  }
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

}  // namespace

voltcheck_case ToPluginCase(const Case& c) {
  voltcheck_case p{};
  p.struct_size = sizeof(p);
  p.tokens = c.shape.tokens;
  p.top_k = c.shape.top_k;
  p.slots = c.shape.slots();
  p.experts = c.shape.experts;
  p.hidden = c.shape.hidden;
  p.intermediate = c.shape.intermediate;
  p.group = c.shape.group;
  p.interleaved = c.columns == Columns::kInterleaved ? 1 : 0;
  p.sorted = c.layout == SlotLayout::kSorted ? 1 : 0;
  p.metadata_bytes = c.metadata == Metadata::k3Byte ? 3 : 4;
  p.w13_splits = c.w13.splits;
  p.w2_splits = c.w2.splits;
  return p;
}

std::vector<PlanArgument> StageArguments(const Case& c, const kernels::Plan& plan) {
  const voltcheck_case shape = ToPluginCase(c);
  std::vector<PlanArgument> arguments;
  for (std::size_t i = 0; i < kNumberCount; ++i) {
    arguments.emplace_back(std::int32_t{shape.*kNumbers[i]});
  }
  const kernels::BufferSpec* scales = plan.FindBuffer("w13.scales");
  const std::size_t each = std::size_t{2} * static_cast<std::size_t>(c.w13_k() / c.shape.group) *
                           static_cast<std::size_t>(c.w13_n());
  arguments.emplace_back(static_cast<std::int32_t>(scales == nullptr ? 0 : scales->bytes / each));
  arguments.emplace_back(plan.rows);
  for (const AddressField& field : kAddresses) {
    if (plan.FindBuffer(field.buffer) != nullptr) {
      arguments.emplace_back(kernels::At(field.buffer));
    } else {
      arguments.emplace_back(kernels::kNull);
    }
  }
  return arguments;
}

StageView::StageView(const std::vector<std::vector<std::byte>>& arguments) {
  if (arguments.size() != kNumberCount + 2 + kAddresses.size()) {
    throw std::length_error("a plugin's step has another number of arguments");
  }
  shape_.struct_size = sizeof(shape_);
  for (std::size_t i = 0; i < kNumberCount; ++i) {
    shape_.*kNumbers[i] = Take<std::int32_t>(arguments[i]);
  }
  stage_.struct_size = sizeof(stage_);
  stage_.shape = &shape_;
  stage_.held = Take<std::int32_t>(arguments[kNumberCount]);
  stage_.rows = Take<std::uint64_t>(arguments[kNumberCount + 1]);
  for (std::size_t i = 0; i < kAddresses.size(); ++i) {
    const auto address = Take<std::uint64_t>(arguments[kNumberCount + 2 + i]);
    std::memcpy(reinterpret_cast<std::byte*>(&stage_) + kAddresses[i].offset, &address,
                sizeof(address));
  }
}

}  // namespace voltcheck::plugin
