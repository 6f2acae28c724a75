#include "verify/mutation/proof/premises.h"

#include <sstream>

#include "kernels/plan_parts.h"
#include "verify/mutation/data_files.h"
#include "verify/mutation/gemm_entry.h"
#include "verify/mutation/killers.h"

namespace voltcheck::mutation::proof {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 24;

std::int64_t Number(const std::string& word, const std::optional<GemmEntryName>& gemm) {
  if (gemm && word == "{g}") {
    return gemm->group;
  }
  if (gemm && word == "{n}") {
    return gemm->tile.n;
  }
  if (gemm && word == "{chunk}") {
    return std::max(gemm->tile.k, gemm->group);
  }
  if (gemm && (word == "{threads}" || word == "{threads-1}")) {
    return kernels::GemmThreads(gemm->tile) - (word == "{threads}" ? 0 : 1);
  }
  return word == "max" ? kMost : std::stoll(word);
}

bool Keeps(const Bounds& b, std::int64_t value) {
  return value >= b.low && value <= b.high && value % b.step == 0;
}

}  // namespace

// A line is PATTERN WHAT LOW HIGH [STEP [PARAMETER or PARAMETER/SCALE]].
Premises::Premises(const std::string& entry) {
  const std::optional<GemmEntryName> gemm = ParseGemmEntry(entry);
  for (const std::string& line : DataLines(data::Premises())) {
    std::istringstream words(line);
    std::string pattern, what, low, high, step = "1", below;
    words >> pattern >> what >> low >> high >> step >> below;
    if (!FitsPattern(pattern, entry)) {
      continue;
    }
    const std::size_t slash = below.find('/');
    bounds_[what] = {Number(low, gemm), Number(high, gemm), step.empty() ? 1 : Number(step, gemm),
                     below.substr(0, slash),
                     slash == std::string::npos ? 0 : Number(below.substr(slash + 1), gemm)};
  }
}

std::optional<Bounds> Premises::Of(const std::string& what) const {
  const auto found = bounds_.find(what);
  return found == bounds_.end() ? std::nullopt : std::optional(found->second);
}

std::string Premises::Broken(const kernels::PlanLaunch& launch) const {
  std::map<std::string, std::int64_t> values{
      {"ntid.x", launch.block.x},    {"ntid.y", launch.block.y},     {"ntid.z", launch.block.z},
      {"nctaid.x", launch.grid.x},   {"nctaid.y", launch.grid.y},    {"nctaid.z", launch.grid.z},
      {"tid.x", launch.block.x - 1}, {"ctaid.x", launch.grid.x - 1}, {"ctaid.y", launch.grid.y - 1},
      {"ctaid.z", launch.grid.z - 1}};
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (const auto* value = std::get_if<std::int32_t>(&launch.arguments[i])) {
      values["param" + std::to_string(i)] = *value;
    }
  }
  for (const auto& [what, bounds] : bounds_) {
    const auto value = values.find(what);
    const auto most = values.find(bounds.below);
    const bool kept =
        value == values.end() ||
        (Keeps(bounds, value->second) &&
         (most == values.end() ||
          (bounds.scale == 0 ? value->second <= most->second
                             : (value->second - bounds.low) * bounds.scale < most->second)));
    if (!kept) {
      return what + " is " + std::to_string(value->second);
    }
  }
  return {};
}

}  // namespace voltcheck::mutation::proof
