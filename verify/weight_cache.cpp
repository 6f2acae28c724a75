#include "verify/weight_cache.h"

#include "fixtures/generate.h"

namespace voltcheck::verify {
namespace {

std::size_t BytesOf(const AwqMatrix& matrix) {
  return sizeof(matrix.qweight[0]) * (matrix.qweight.size() + matrix.qzeros.size()) +
         sizeof(matrix.scales[0]) * matrix.scales.size();
}

}  // namespace

std::shared_ptr<const ExpertWeights> WeightCache::Get(const Case& c, int id) {
  std::string key = fixtures::WeightsKey(c) + "#" + std::to_string(id);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->expert;
    }
  }
  // Two threads may make the same expert at once: the bits are equal, and neither waits.
  std::shared_ptr<const ExpertWeights> expert = fixtures::GenerateExpert(c, id);
  const std::size_t bytes = BytesOf(expert->w13) + BytesOf(expert->w2);
  const std::scoped_lock lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    return found->second->expert;
  }
  if (bytes > most_bytes_) {
    return expert;
  }
  while (bytes_ + bytes > most_bytes_) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, expert, bytes});
  by_key_.emplace(std::move(key), entries_.begin());
  bytes_ += bytes;
  return expert;
}

}  // namespace voltcheck::verify
