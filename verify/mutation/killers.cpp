#include "verify/mutation/killers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/generate.h"
#include "kernels/plan.h"
#include "kernels/plan_parts.h"
#include "verify/mutation/data_files.h"
#include "verify/mutation/gemm_entry.h"

namespace voltcheck::mutation {
namespace {

// What the placeholders of a line stand for.
using Subject = GemmEntryName;

// Along which the kernels beside the GEMMs, plans and data are tried.
const Subject kSmall;
const Subject kDecode{{8, 128, 64}, 32, "3b"};

void ReplaceAll(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

std::string Filled(std::string line, const Subject& subject) {
  const int chunk = std::max(subject.tile.k, subject.group);
  const int h = 3 * chunk;
  const int m = subject.tile.m;
  const std::array<std::pair<std::string_view, int>, 11> numbers{{{"{h}", h},
                                                                  {"{2h}", 2 * h},
                                                                  {"{2h+g}", 2 * h + chunk},
                                                                  {"{i}", chunk},
                                                                  {"{2i}", 2 * chunk},
                                                                  {"{2i+g}", 3 * chunk},
                                                                  {"{g}", subject.group},
                                                                  {"{m}", m},
                                                                  {"{m+1}", m + 1},
                                                                  {"{2m+1}", 2 * m + 1},
                                                                  {"{chunk}", chunk}}};
  for (const auto& [name, value] : numbers) {
    ReplaceAll(line, name, std::to_string(value));
  }
  std::string ragged;
  for (int block = 0; block < kernels::GemmWarpRows(subject.tile) / 8; ++block) {
    ragged += (block == 0 ? "" : ",") + std::to_string(8 * block + 5);
  }
  ReplaceAll(line, "{ragged}", ragged);
  std::string columns = std::to_string(subject.group);
  for (int n = 2 * subject.group; n < subject.tile.n; n += subject.group) {
    columns += "," + std::to_string(n);
  }
  ReplaceAll(line, "{columns}", columns);
  const bool splits = WhyInfeasible({subject.tile, 3}, h, h, subject.group).empty();
  ReplaceAll(line, "{split}", splits ? "3" : "1");
  ReplaceAll(line, "{tile}", ToString(subject.tile));
  ReplaceAll(line, "{meta}", subject.metadata);
  return line;
}

// Takes the axis `schedule=1,2` out of a line; {0} without one.
std::vector<std::uint64_t> TakeSchedules(std::string& line) {
  constexpr std::string_view kAxis = ";schedule=";
  const std::size_t at = line.find(kAxis);
  if (at == std::string::npos) {
    return {0};
  }
  const std::size_t begin = at + kAxis.size();
  const std::size_t end = std::min(line.find(';', begin), line.size());
  std::vector<std::uint64_t> schedules;
  for (std::size_t i = begin; i < end; ++i) {
    if (line[i] == ',' || i == begin) {
      schedules.push_back(std::strtoull(line.c_str() + i + (line[i] == ',' ? 1 : 0), nullptr, 10));
    }
  }
  line.erase(at, end - at);
  return schedules;
}

// A tile may have no tactic that a line asks for: the largest one takes no split-K.
std::vector<Case> FeasibleCases(const std::string& line) {
  try {
    return ParseGrid(line);
  } catch (const Error&) {
    if (line.find("infeasible=skip") == std::string::npos) {
      throw;
    }
    return {};
  }
}

void AppendLine(std::string line, std::vector<Killer>& killers) {
  const std::vector<std::uint64_t> schedules = TakeSchedules(line);
  for (const Case& c : FeasibleCases(line)) {
    for (const std::uint64_t schedule : schedules) {
      killers.push_back({c, schedule});
    }
  }
}

void AppendSection(std::string_view name, const Subject& subject, std::vector<Killer>& killers) {
  std::string section;
  for (const std::string& line : DataLines(data::Killers())) {
    if (line.front() == '[') {
      section = line.substr(1, line.size() - 2);
    } else if (section == name) {
      AppendLine(Filled(line, subject), killers);
    }
  }
}

bool LaunchesKernel(const Case& c, const std::string& entry) {
  const kernels::Plan plan = kernels::MakePlan(fixtures::Generate(c));
  return std::any_of(plan.launches.begin(), plan.launches.end(),
                     [&](const kernels::PlanLaunch& launch) { return launch.kernel == entry; });
}

void KeepLaunching(const std::string& entry, std::vector<Killer>& killers) {
  if (!entry.empty()) {
    std::erase_if(killers, [&](const Killer& k) { return !LaunchesKernel(k.c, entry); });
  }
}

}  // namespace

std::vector<std::string> DataLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.front() != '#') {
      lines.emplace_back(line);
    }
  }
  return lines;
}

std::vector<Killer> QuickKillers(const std::string& entry) {
  std::vector<Killer> killers;
  if (const std::optional<Subject> subject = ParseGemmEntry(entry)) {
    AppendSection("quick", *subject, killers);
  } else if (entry.empty()) {
    AppendSection("quick", kSmall, killers);
    AppendSection("quick", kDecode, killers);
    AppendSection("index", kSmall, killers);
  } else {
    AppendSection("index", kSmall, killers);
    AppendSection("quick", kSmall, killers);
  }
  KeepLaunching(entry, killers);
  return killers;
}

std::vector<Killer> DeepKillers(const std::string& entry) {
  std::vector<Killer> killers;
  if (const std::optional<Subject> subject = ParseGemmEntry(entry)) {
    AppendSection("deep", *subject, killers);
  } else {
    AppendSection("deep", kSmall, killers);
    AppendSection("deep index", kSmall, killers);
    if (entry.empty()) {
      AppendSection("deep", kDecode, killers);
    }
  }
  KeepLaunching(entry, killers);
  return killers;
}

Killer HonestCase(std::uint64_t index, std::uint64_t seed) {
  static const auto* const cases = [] {
    auto* all = new std::vector<Killer>;
    for (const std::string& line : DataLines(data::Honest())) {
      AppendLine(line, *all);
    }
    return all;
  }();
  const std::uint64_t round = index / cases->size();
  Killer killer = (*cases)[index % cases->size()];
  killer.c.seed += 1000 * (seed + 1) + round;
  killer.schedule = round % 8;
  return killer;
}

}  // namespace voltcheck::mutation
