#include "kernels/simulator/check/knowledge.h"

#include <algorithm>

namespace voltcheck::simulator {

std::uint32_t Knowledge::At(const Entries& entries, std::uint64_t key) {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const auto& entry, std::uint64_t wanted) { return entry.first < wanted; });
  return found != entries.end() && found->first == key ? found->second : 0;
}

void Knowledge::Raise(Entries& entries, std::uint64_t key, std::uint32_t tick) {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const auto& entry, std::uint64_t wanted) { return entry.first < wanted; });
  if (found != entries.end() && found->first == key) {
    found->second = std::max(found->second, tick);
  } else {
    entries.insert(found, {key, tick});
  }
}

void Knowledge::Merge(Entries& entries, const Entries& other) {
  if (other.empty()) {
    return;
  }
  Entries merged;
  merged.reserve(entries.size() + other.size());
  auto a = entries.begin();
  auto b = other.begin();
  while (a != entries.end() || b != other.end()) {
    if (b == other.end() || (a != entries.end() && a->first < b->first)) {
      merged.push_back(*a++);
    } else if (a == entries.end() || b->first < a->first) {
      merged.push_back(*b++);
    } else {
      merged.emplace_back(a->first, std::max(a->second, b->second));
      ++a;
      ++b;
    }
  }
  entries = std::move(merged);
}

void Knowledge::AddBlock(std::uint64_t block, std::uint32_t tick) {
  Raise(cuts_, block, tick);
  DropCovered();
}

void Knowledge::AddThread(GridThread thread, std::uint32_t tick) {
  if (At(cuts_, BlockOf(thread)) < tick) {
    Raise(threads_, thread, tick);
  }
}

void Knowledge::Join(const Knowledge& other) {
  Merge(cuts_, other.cuts_);
  Merge(threads_, other.threads_);
  DropCovered();
}

void Knowledge::DropCovered() {
  std::erase_if(threads_, [this](const auto& entry) {
    return At(cuts_, BlockOf(entry.first)) >= entry.second;
  });
}

bool Knowledge::Covers(const Knowledge& other) const {
  return std::all_of(other.cuts_.begin(), other.cuts_.end(),
                     [this](const auto& e) { return At(cuts_, e.first) >= e.second; }) &&
         std::all_of(other.threads_.begin(), other.threads_.end(),
                     [this](const auto& e) { return Has(e.first, e.second); });
}

void Knowledge::Condense(std::uint64_t block, std::size_t count) {
  const auto first = std::lower_bound(
      threads_.begin(), threads_.end(), block * kThreadsOfBlock,
      [](const auto& entry, std::uint64_t wanted) { return entry.first < wanted; });
  const auto last = std::find_if(
      first, threads_.end(), [block](const auto& entry) { return BlockOf(entry.first) != block; });
  if (static_cast<std::size_t>(last - first) >= count && first != last) {
    const auto least = std::min_element(
        first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
    AddBlock(block, least->second);
  }
}

KnowledgePtr Joined(const KnowledgePtr& a, const KnowledgePtr& b) {
  if (a == nullptr || b == nullptr || a == b) {
    return a == nullptr ? b : a;
  }
  if (a->Covers(*b)) {
    return a;
  }
  if (b->Covers(*a)) {
    return b;
  }
  auto joined = std::make_shared<Knowledge>(*a);
  joined->Join(*b);
  return joined;
}

}  // namespace voltcheck::simulator
