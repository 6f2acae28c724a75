// Split-K: several CTAs share one output tile, each over its own rows of K.
#ifndef VOLTCHECK_KERNELS_SM70_SPLIT_K_CUH_
#define VOLTCHECK_KERNELS_SM70_SPLIT_K_CUH_

#include <cstdint>

namespace voltcheck::sm70 {

struct KRange {
  int begin;
  int end;
};

// The rows of K that a split owns. They are dealt out in whole chunks; what does not divide evenly
// goes to the last splits: 5 chunks over 4 splits are 1 + 1 + 1 + 2.
__device__ __forceinline__ KRange SplitRows(int k, int chunk, int split, int splits) {
  const int chunks = k / chunk;
  const int share = chunks / splits;
  const int first_larger = splits - chunks % splits;
  const int begin = split * share + max(0, split - first_larger);
  const int end = begin + share + (split >= first_larger ? 1 : 0);
  return {begin * chunk, end * chunk};
}

// Lets the splits of one output tile through in ascending order, so that fp32 partial sums are
// added in one fixed order: the sum's bits do not depend on timing, as they would with atomic
// additions.
//
// `lock` is zero before a launch and zero again after it. CTAs are handed out with the split
// slowest (blockIdx.z), so whoever waits here waits for a CTA that was started earlier.
class SplitTurn {
 public:
  __device__ SplitTurn(int* lock, int split, int splits)
      : lock_(lock), split_(split), splits_(splits) {}

  __device__ bool first() const { return split_ == 0; }
  __device__ bool last() const { return split_ == splits_ - 1; }

  // Returns when every earlier split has left its sum. All threads of the CTA call it.
  __device__ void Await() const {
    if (first()) return;
    if (threadIdx.x == 0) {
      int turn;
      do {
        asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(turn) : "l"(lock_) : "memory");
      } while (turn != split_);
    }
    __syncthreads();
  }

  // Hands the tile to the next split; the last one leaves the lock as it was found. The barrier
  // orders every thread's stores before the release of thread 0. All threads of the CTA call it.
  __device__ void Pass() const {
    if (splits_ == 1) return;
    __syncthreads();
    if (threadIdx.x == 0) {
      const int next = last() ? 0 : split_ + 1;
      asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(lock_), "r"(next) : "memory");
    }
  }

 private:
  int* lock_;
  int split_;
  int splits_;
};

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_SPLIT_K_CUH_
