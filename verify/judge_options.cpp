#include "verify/judge_options.h"

#include <array>
#include <charconv>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

using reference::AccumulationOrder;

constexpr std::array<std::string_view, 4> kPolicies{"bits", "budget", "reference", "all"};

struct Limit {
  const char* name;
  double StageLimits::*value;
};
constexpr std::array<Limit, 4> kLimits{{{"own-use", &StageLimits::own_use},
                                        {"end-to-end-use", &StageLimits::end_to_end_use},
                                        {"reference-max-abs", &StageLimits::reference_max_abs},
                                        {"reference-rms", &StageLimits::reference_rms}}};

// The shortest decimal that reads back as the same double.
std::string Shortest(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

}  // namespace

std::string_view ToString(Policy policy) { return kPolicies[static_cast<std::size_t>(policy)]; }

Policy ParsePolicy(std::string_view text) {
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    if (kPolicies[i] == text) {
      return static_cast<Policy>(i);
    }
  }
  throw BadInput("--policy", "cannot be " + Quote(text), "use bits, budget, reference or all");
}

std::string_view ToString(AccumulationOrder order) {
  return order == AccumulationOrder::kDeclared ? "declared" : "undeclared";
}

AccumulationOrder ParseOrder(std::string_view text) {
  for (const auto order : {AccumulationOrder::kDeclared, AccumulationOrder::kUndeclared}) {
    if (ToString(order) == text) {
      return order;
    }
  }
  throw BadInput("--order", "cannot be " + Quote(text), "use declared or undeclared");
}

std::string CommandLine(const JudgeOptions& options) {
  const JudgeOptions fallback;
  std::string line;
  if (options.policy != fallback.policy) {
    line.append(" --policy ").append(ToString(options.policy));
  }
  if (options.order != fallback.order) {
    line.append(" --order ").append(ToString(options.order));
  }
  line.append(options.head_fp64 ? " --head-fp64" : "");
  for (const Stage stage : kStages) {
    for (const Limit& limit : kLimits) {
      const double value = options.at(stage).*limit.value;
      if (value != fallback.at(stage).*limit.value) {
        line.append(" --").append(ToString(stage)).append(".").append(limit.name);
        line.append(" ").append(Shortest(value));
      }
    }
  }
  return line;
}

std::vector<std::string_view> LimitNames() {
  std::vector<std::string_view> names;
  for (const Limit& limit : kLimits) {
    names.emplace_back(limit.name);
  }
  return names;
}

double* FindLimit(StageLimits& limits, std::string_view name) {
  for (const Limit& limit : kLimits) {
    if (limit.name == name) {
      return &(limits.*limit.value);
    }
  }
  return nullptr;
}

}  // namespace voltcheck::verify
