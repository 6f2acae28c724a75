#ifndef VOLTCHECK_VERIFY_WEIGHT_CACHE_H_
#define VOLTCHECK_VERIFY_WEIGHT_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "fixtures/case/problem.h"

namespace voltcheck::verify {

/// The generated experts that were asked for last, so that cases of the same shape, data and seed
/// share them. It holds a fixed number of bytes at most; what it drops lives on as long as cases
/// use it.
class WeightCache {
 public:
  explicit WeightCache(std::size_t bytes) : most_bytes_(bytes) {}

  /// What fixtures::GenerateExpert makes. Thread-safe.
  std::shared_ptr<const ExpertWeights> Get(const Case& c, int id);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const ExpertWeights> expert;
    std::size_t bytes = 0;
  };
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< the latest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_WEIGHT_CACHE_H_
