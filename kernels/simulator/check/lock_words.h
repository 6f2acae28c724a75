#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_LOCK_WORDS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_LOCK_WORDS_H_

#include <cstdint>
#include <map>

#include "kernels/simulator/check/order_checker.h"

namespace voltcheck::simulator {

class BatchMemory;
struct BlockResult;
class FindingList;
struct LaunchState;

/// The words of global memory that the threads of a launch used as locks or waited on.
class LockWords {
 public:
  void Add(const BlockResult& block);
  /// A "lock" finding for each one that does not hold what it held before the launch, which
  /// `memory` kept: the next launch would find it taken, or its flag set already.
  void Report(const LaunchState& launch, BatchMemory& memory, FindingList& findings) const;

 private:
  struct Use {
    LockUse first;
    std::uint64_t block = 0;
  };
  std::map<std::uint64_t, Use> words_;  ///< by address
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_LOCK_WORDS_H_
