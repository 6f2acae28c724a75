#include "verify/scale/shards.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

constexpr std::uint64_t kMostShards = 1'000'000;
constexpr std::size_t kFamiliesAtATime = 32;

bool ParseWhole(std::string_view text, std::uint64_t& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

Shard ParseShard(const std::string& where, std::string_view text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash == std::string_view::npos || !ParseWhole(text.substr(0, slash), shard.number) ||
      !ParseWhole(text.substr(slash + 1), shard.of) || shard.number < 1 ||
      shard.number > shard.of || shard.of > kMostShards) {
    throw BadInput(where, "cannot be " + Quote(std::string(text)),
                   "give k/n with k from 1 to n, such as 2/4");
  }
  return shard;
}

std::string ToString(const Shard& shard) {
  return std::to_string(shard.number) + "/" + std::to_string(shard.of);
}

std::vector<std::size_t> CostliestFirst(const std::vector<std::uint64_t>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  return order;
}

std::vector<std::size_t> CasesOfShard(const std::vector<std::uint64_t>& costs, const Shard& shard) {
  using Load = std::pair<std::uint64_t, std::uint64_t>;  // cost so far, number of the shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint64_t number = 1; number <= shard.of; ++number) {
    loads.emplace(0, number);
  }
  std::vector<std::size_t> mine;
  for (const std::size_t index : CostliestFirst(costs)) {
    Load load = loads.top();
    loads.pop();
    if (load.second == shard.number) {
      mine.push_back(index);
    }
    load.first += costs[index];
    loads.push(load);
  }
  return mine;
}

std::vector<std::size_t> FamiliesTogether(const std::vector<std::size_t>& order,
                                          const std::vector<std::uint64_t>& costs,
                                          const std::vector<std::size_t>& family) {
  using Class = int;  // of cost: 2^(c - 1) to 2^c
  struct Place {
    Class cost;
    std::size_t window;
    std::size_t rank;  ///< how many of the family and class come before
    std::size_t index;
  };
  struct Member {
    std::size_t window;
    std::size_t count = 0;
  };
  std::map<Class, std::unordered_map<std::size_t, Member>> families;  // in order of appearance
  std::vector<Place> places;
  places.reserve(order.size());
  for (const std::size_t index : order) {
    const Class cost = std::bit_width(costs[index]);
    auto& known = families[cost];
    Member& member =
        known.try_emplace(family[index], Member{known.size() / kFamiliesAtATime}).first->second;
    places.push_back({cost, member.window, member.count++, index});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(b.cost, a.window, a.rank) < std::tie(a.cost, b.window, b.rank);
  });
  std::vector<std::size_t> together;
  together.reserve(order.size());
  for (const Place& place : places) {
    together.push_back(place.index);
  }
  return together;
}

}  // namespace voltcheck::verify
