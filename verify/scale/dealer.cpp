#include "verify/scale/dealer.h"

#include <algorithm>

namespace voltcheck::verify {

Dealer::Dealer(const std::vector<std::size_t>& order, const std::vector<std::uint64_t>& costs,
               std::size_t workers)
    : costs_(costs),
      open_(order.begin(), order.end()),
      held_(workers),
      done_(costs.size(), false),
      total_(order.size()) {
  for (const std::size_t number : order) {
    open_cost_ += costs_[number];
  }
}

std::vector<std::uint64_t> Dealer::Deal(std::size_t worker) {
  const std::uint64_t share = open_cost_ / (kParts * held_.size());
  std::vector<std::uint64_t> chunk;
  std::uint64_t cost = 0;
  while (!open_.empty() && chunk.size() < kMostCases &&
         (chunk.empty() || cost + costs_[open_.front()] <= share)) {
    const std::uint64_t number = open_.front();
    open_.pop_front();
    open_cost_ -= costs_[number];
    if (!done_[number]) {
      cost += costs_[number];
      chunk.push_back(number);
    }
  }
  held_[worker].insert(held_[worker].end(), chunk.begin(), chunk.end());
  return chunk;
}

bool Dealer::Finished(std::size_t worker, std::uint64_t number) {
  std::erase(held_[worker], number);
  if (done_[number]) {
    return false;
  }
  done_[number] = true;
  ++finished_;
  return true;
}

std::size_t Dealer::Lost(std::size_t worker) {
  std::vector<std::uint64_t> back;
  back.swap(held_[worker]);
  // They were dealt before everything that is open, so they are the costliest again.
  for (auto it = back.rbegin(); it != back.rend(); ++it) {
    open_.push_front(*it);
    open_cost_ += costs_[*it];
  }
  return back.size();
}

}  // namespace voltcheck::verify
