#include <cstring>

#include "kernels/plan_parts.h"

namespace voltcheck::kernels {
namespace {

constexpr int kTileColumns = 32;
constexpr std::size_t kTableEntryBytes = 16;

/// Entry `expert` of a pointer table: { u64 pointer, i32 stride, i32 padding }. The pointer is a
/// fixup.
void SetTableEntry(std::vector<std::byte>& table, int expert, std::int32_t stride) {
  std::memcpy(table.data() + static_cast<std::size_t>(expert) * kTableEntryBytes + 8, &stride,
              sizeof(stride));
}

template <typename T>
std::vector<std::byte> Concatenate(const std::vector<const AwqMatrix*>& matrices,
                                   const std::vector<T> AwqMatrix::*member) {
  std::vector<std::byte> all;
  for (const AwqMatrix* matrix : matrices) {
    const auto bytes = std::as_bytes(std::span<const T>(matrix->*member));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

}  // namespace

void AddWeights(const WeightPart& part, Plan& plan) {
  const auto held = static_cast<std::size_t>(part.ids.size());
  const int tiles = (part.n + kTileColumns - 1) / kTileColumns;
  const int groups = part.k / part.group;
  const bool three_bytes = part.metadata == Metadata::k3Byte;
  const std::size_t packed_bytes = std::size_t{4} * tiles * kTileColumns * (part.k / 8);
  const std::size_t metadata_bytes = std::size_t{three_bytes ? 3U : 4U} * groups * part.n;
  const auto name = [&](const char* suffix) { return part.name + suffix; };
  const auto add = [&](const char* suffix, std::size_t bytes, BufferSpec::Role role,
                       std::vector<std::byte> contents) {
    plan.buffers.push_back({name(suffix), bytes, role, std::move(contents)});
  };
  const auto add_input = [&](const char* suffix, std::vector<std::byte> contents) {
    const std::size_t bytes = contents.size();
    add(suffix, bytes, BufferSpec::Role::kInput, std::move(contents));
  };

  if (held > 0) {
    add_input(".qweight", Concatenate(part.matrices, &AwqMatrix::qweight));
    add_input(".qzeros", Concatenate(part.matrices, &AwqMatrix::qzeros));
    add_input(".scales", Concatenate(part.matrices, &AwqMatrix::scales));
    add(".packed", held * packed_bytes, BufferSpec::Role::kWorkspace, {});
    add(".metadata", held * metadata_bytes, BufferSpec::Role::kWorkspace, {});
    const auto interleave = static_cast<std::int32_t>(part.interleave);
    const auto experts = static_cast<std::uint32_t>(held);
    constexpr std::uint32_t kThreads = 128;
    plan.launches.push_back(
        {PlanStage::kRepack,
         "awq_repack_weights",
         {BlocksFor(std::int64_t{part.k / 8} * tiles * (kTileColumns / 8), kThreads), experts, 1},
         {kThreads, 1, 1},
         0,
         {At(name(".packed")), At(name(".qweight")), part.k, part.n, interleave}});
    plan.launches.push_back({PlanStage::kRepack,
                             three_bytes ? "awq_repack_metadata_3b" : "awq_repack_metadata_4b",
                             {BlocksFor(std::int64_t{groups} * (part.n / 8), kThreads), experts, 1},
                             {kThreads, 1, 1},
                             0,
                             {At(name(".metadata")), At(name(".scales")), At(name(".qzeros")),
                              groups, part.n, interleave}});
  }
  // All ones: a NaN scale, and in the 4-byte form a NaN bias too.
  add_input(".unused_packed", std::vector<std::byte>(packed_bytes, std::byte{0xff}));
  add_input(".unused_metadata", std::vector<std::byte>(metadata_bytes, std::byte{0xff}));

  std::vector<std::byte> weight_table(kTableEntryBytes * static_cast<std::size_t>(part.experts));
  std::vector<std::byte> metadata_table(weight_table.size());
  std::size_t next_held = 0;
  for (int expert = 0; expert < part.experts; ++expert) {
    SetTableEntry(weight_table, expert, kTileColumns * (part.k / 8));
    SetTableEntry(metadata_table, expert, three_bytes ? -part.n : part.n);
    const std::uint64_t offset = kTableEntryBytes * static_cast<std::uint64_t>(expert);
    if (next_held < held && part.ids[next_held] == expert) {
      plan.fixups.push_back(
          {name(".weight_table"), offset, At(name(".packed"), next_held * packed_bytes)});
      plan.fixups.push_back(
          {name(".metadata_table"), offset, At(name(".metadata"), next_held * metadata_bytes)});
      ++next_held;
    } else {
      plan.fixups.push_back({name(".weight_table"), offset, At(name(".unused_packed"))});
      plan.fixups.push_back({name(".metadata_table"), offset, At(name(".unused_metadata"))});
    }
  }
  add_input(".weight_table", std::move(weight_table));
  add_input(".metadata_table", std::move(metadata_table));
}

}  // namespace voltcheck::kernels
