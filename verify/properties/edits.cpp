#include "verify/properties/edits.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "fixtures/generate.h"

namespace voltcheck::properties {
namespace {

// Far beyond the streams of fixtures/streams.h, which number 16 + 8 * expert + tensor.
constexpr std::uint64_t kChoices = std::uint64_t{1} << 40;

void KeepNamedExperts(Problem& problem) {
  const std::set<std::int32_t> named(problem.topk_ids.begin(), problem.topk_ids.end());
  std::erase_if(problem.experts, [&](const auto& expert) { return !named.contains(expert->id); });
}

template <typename T>
std::vector<T> SelectRows(const std::vector<T>& values, int width, const std::vector<int>& rows) {
  std::vector<T> selected;
  selected.reserve(rows.size() * static_cast<std::size_t>(width));
  for (const int row : rows) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row) * width;
    selected.insert(selected.end(), begin, begin + width);
  }
  return selected;
}

template <typename T>
std::vector<T> WithoutColumn(const std::vector<T>& values, int width, int column) {
  std::vector<T> rest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(width)) != column) {
      rest.push_back(values[i]);
    }
  }
  return rest;
}

}  // namespace

fixtures::CounterRandom ChoicesOf(const Case& c) { return {c.seed, kChoices}; }

void LayOutSlots(Problem& problem) {
  problem.slot_order = fixtures::MakeSlotOrder(problem.c, problem.topk_ids);
}

Problem WithTokens(const Problem& problem, const std::vector<int>& tokens) {
  const Shape& shape = problem.c.shape;
  Problem selected = problem;
  selected.c.shape.tokens = static_cast<int>(tokens.size());
  selected.hidden = SelectRows(problem.hidden, shape.hidden, tokens);
  selected.topk_ids = SelectRows(problem.topk_ids, shape.top_k, tokens);
  selected.topk_weights = SelectRows(problem.topk_weights, shape.top_k, tokens);
  selected.head = nullptr;
  selected.captured = nullptr;
  KeepNamedExperts(selected);
  LayOutSlots(selected);
  return selected;
}

Problem WithExpertsRenamed(const Problem& problem, const std::function<int(int)>& rename) {
  Problem renamed = problem;
  for (std::int32_t& id : renamed.topk_ids) {
    id = id >= 0 && id < problem.c.shape.experts ? rename(id) : id;
  }
  for (auto& expert : renamed.experts) {
    auto copy = std::make_shared<ExpertWeights>(*expert);
    copy->id = rename(expert->id);
    expert = std::move(copy);
  }
  std::sort(renamed.experts.begin(), renamed.experts.end(),
            [](const auto& a, const auto& b) { return a->id < b->id; });
  LayOutSlots(renamed);
  return renamed;
}

Problem WithoutRoute(const Problem& problem, int route) {
  const int top_k = problem.c.shape.top_k;
  Problem rest = problem;
  rest.c.shape.top_k = top_k - 1;
  rest.topk_ids = WithoutColumn(problem.topk_ids, top_k, route);
  rest.topk_weights = WithoutColumn(problem.topk_weights, top_k, route);
  KeepNamedExperts(rest);
  LayOutSlots(rest);
  return rest;
}

kernels::BufferSpec& BufferOf(kernels::Plan& plan, std::string_view buffer) {
  for (kernels::BufferSpec& spec : plan.buffers) {
    if (spec.name == buffer) {
      return spec;
    }
  }
  throw std::out_of_range("plan has no buffer " + std::string(buffer));
}

void SetContents(kernels::Plan& plan, std::string_view buffer, std::vector<std::byte> contents,
                 kernels::BufferSpec::Role role) {
  kernels::BufferSpec& spec = BufferOf(plan, buffer);
  spec.bytes = contents.size();
  spec.contents = std::move(contents);
  spec.role = role;
}

void RemoveStage(kernels::Plan& plan, kernels::PlanStage stage) {
  std::erase_if(plan.launches,
                [&](const kernels::PlanLaunch& launch) { return launch.stage == stage; });
}

}  // namespace voltcheck::properties
