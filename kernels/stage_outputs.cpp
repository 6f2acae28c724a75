#include "kernels/stage_outputs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace voltcheck::kernels {
namespace {

template <typename T>
std::vector<T> DownloadAs(const PlanMemory& memory, const Plan& plan, std::string_view name) {
  if (plan.FindBuffer(name) == nullptr) {
    return {};
  }
  const std::vector<std::byte> bytes = memory.Download(name);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Rows that the device did not compute hold whatever the buffer held; make them +0.
void ClearRowsFrom(std::vector<std::uint16_t>& values, int rows, int slots) {
  if (rows >= 0 && rows < slots) {
    const std::size_t width = values.size() / static_cast<std::size_t>(slots);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(width) * rows, values.end(),
              std::uint16_t{0});
  }
}

template <typename T>
void Compare(const char* tensor, const std::vector<T>& first, const std::vector<T>& now,
             const std::string& names, std::vector<std::string>& differences) {
  const auto change = std::mismatch(first.begin(), first.end(), now.begin());
  if (change.first == first.end()) {
    return;
  }
  char values[64];
  std::snprintf(values, sizeof(values), " at element %td: 0x%x, 0x%x", change.first - first.begin(),
                static_cast<unsigned>(*change.first), static_cast<unsigned>(*change.second));
  differences.push_back(tensor + (" differs between " + names) + values);
}

}  // namespace

void DownloadOutputs(const PlanMemory& memory, const Plan& plan, const Shape& shape,
                     ObservedStage& observed) {
  observed.source = DownloadAs<std::int32_t>(memory, plan, "source");
  observed.expert = DownloadAs<std::int32_t>(memory, plan, "row_expert");
  observed.offsets = DownloadAs<std::int32_t>(memory, plan, "offsets");
  observed.segment_expert = DownloadAs<std::int32_t>(memory, plan, "segment_expert");
  observed.rows = DownloadAs<std::int32_t>(
      memory, plan, plan.rows.buffer)[plan.rows.offset / sizeof(std::int32_t)];
  observed.w13 = DownloadAs<std::uint16_t>(memory, plan, "w13");
  observed.silu = DownloadAs<std::uint16_t>(memory, plan, "silu");
  observed.w2 = DownloadAs<std::uint16_t>(memory, plan, "w2");
  observed.output = DownloadAs<std::uint16_t>(memory, plan, "output");
  for (std::vector<std::uint16_t>* stage : {&observed.w13, &observed.silu, &observed.w2}) {
    ClearRowsFrom(*stage, observed.rows, shape.slots());
  }
}

std::vector<std::string> DifferencesBetween(const ObservedStage& first, const ObservedStage& now,
                                            const std::string& name_of_first,
                                            const std::string& name_of_now) {
  const std::string names = name_of_first + " and " + name_of_now;
  std::vector<std::string> differences;
  Compare("source", first.source, now.source, names, differences);
  Compare("row_expert", first.expert, now.expert, names, differences);
  Compare("offsets", first.offsets, now.offsets, names, differences);
  Compare("segment_expert", first.segment_expert, now.segment_expert, names, differences);
  Compare("w13", first.w13, now.w13, names, differences);
  Compare("silu", first.silu, now.silu, names, differences);
  Compare("w2", first.w2, now.w2, names, differences);
  Compare("output", first.output, now.output, names, differences);
  return differences;
}

}  // namespace voltcheck::kernels
