#ifndef VOLTCHECK_VERIFY_SCALE_SHARDS_H_
#define VOLTCHECK_VERIFY_SCALE_SHARDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voltcheck::verify {

/// Part `number` of `of`, from 1: "2/4". The default is everything.
struct Shard {
  std::uint64_t number = 1;
  std::uint64_t of = 1;
  bool whole() const { return of == 1; }
  bool operator==(const Shard&) const = default;
};
/// Throws Error (status 2) naming `where` for anything but "k/n" with 1 <= k <= n <= 1,000,000.
Shard ParseShard(const std::string& where, std::string_view text);
std::string ToString(const Shard& shard);

/// All cases, the costliest first, of equal ones the earlier first: the last cases to finish are
/// then short, and no worker is left with a long one while others have nothing to do.
std::vector<std::size_t> CostliestFirst(const std::vector<std::uint64_t>& costs);

/// The cases of one shard, the costliest first. Every case goes to exactly one shard: taken in the
/// order of CostliestFirst, each goes to the shard that has least cost so far, the lowest number
/// among equals. No shard's cost then exceeds the mean by more than one case's. The same costs
/// give the same shards everywhere.
std::vector<std::size_t> CasesOfShard(const std::vector<std::uint64_t>& costs, const Shard& shard);

/// `order` with cases that share weights close to each other, so that the weights are made once and
/// still at hand for the others: the costliest first to within a factor of two; among these 32
/// families at a time, of each the first case, then of each the second, and so on (one right after
/// the other would make two workers make the same weights at once). `family` by case number: equal
/// for cases that share weights.
std::vector<std::size_t> FamiliesTogether(const std::vector<std::size_t>& order,
                                          const std::vector<std::uint64_t>& costs,
                                          const std::vector<std::size_t>& family);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_SHARDS_H_
