#ifndef VOLTCHECK_REFERENCE_ALL_REDUCE_H_
#define VOLTCHECK_REFERENCE_ALL_REDUCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/case/problem.h"

namespace voltcheck::reference {

/// One order in which a tensor-parallel sum adds the ranks' outputs: for each pair (to, from) in
/// turn, rank `to` adds what rank `from` has by then. What `root` has at the end is the result.
struct SumOrder {
  std::string name;
  std::vector<std::pair<int, int>> adds;
  int root = 0;
  /// "((r1+r2)+r3)+r0": additions are commutative, so this says all that matters.
  std::string Text() const;
};

/// The orders that NCCL's algorithms use, for 2 ranks or more:
/// - ring, one order for each chunk: chunk c starts at rank c + 1 and ends at rank c;
/// - tree inside one node: a chain from the last rank to the first;
/// - tree across nodes of one rank each: the two trees of its double binary tree, which carry half
///   of the data each; a rank adds its own first, then its children, the lower one first;
/// - recursive halving, where the number of ranks is a power of two: partners n/2 apart, then n/4.
/// Sources: NVIDIA's description of double binary trees (developer blog, "Massively Scale Your Deep
/// Learning Training with NCCL 2.4") and the order of steps in its ring all-reduce. Orders that add
/// alike are listed once.
std::vector<SumOrder> AllReduceOrders(int ranks);

enum class SumType {
  kHalf,   ///< every sum rounded to half: the ranks exchange halves
  kFloat,  ///< halves widened, every sum rounded to fp32
};

/// sum[i] of all ranks' values i in this order. `values` holds one span per rank, of equal length;
/// with kHalf they are rounded to half first, which changes nothing of halves.
std::vector<float> SumRanks(const SumOrder& order, std::span<const std::span<const float>> values,
                            SumType type);

/// What the order alone changes: everything here is about sums of the same values.
struct OrderSpread {
  struct Order {
    SumOrder order;
    double max_error = 0;  ///< largest |sum - exact sum|
    double rms_error = 0;
  };
  std::uint64_t elements = 0;
  std::uint64_t nonfinite = 0;  ///< elements with a sum that is not finite; left out of the rest
  std::uint64_t differing = 0;  ///< elements that two orders give differently
  double max = 0;               ///< largest distance between two orders' sums of one element
  std::int64_t max_element = -1;
  double rms = 0;  ///< root mean square of that distance over elements
  std::vector<Order> orders;
};
OrderSpread SpreadOfOrders(std::span<const std::span<const float>> values, SumType type);

/// Rank `rank` of a case that is split over `ranks` by its intermediate size: the same tokens,
/// routing and router weights, columns of W13 and rows of W2 that are the rank's own; the sum of
/// the ranks' outputs is the case's output. It has no head and no captured outputs. Throws Error
/// (status 2) when the intermediate size does not split into whole groups and packed words.
Problem ShardOf(const Problem& problem, int rank, int ranks);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ALL_REDUCE_H_
