#ifndef VOLTCHECK_VERIFY_SCALE_DEALER_H_
#define VOLTCHECK_VERIFY_SCALE_DEALER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace voltcheck::verify {

/// Deals cases out to workers in chunks, as they ask: the costliest cases first, chunks that become
/// smaller as the work runs out, so that all end at about the same time. What a worker takes along
/// and does not finish before it is lost is dealt again. It knows no clock and no network;
/// tools/mpi_sweep.cpp runs it over MPI, the simulation of docs/scale.md with 10,000 workers.
class Dealer {
 public:
  /// `order`: the open cases, the costliest first; `costs` by case number.
  Dealer(const std::vector<std::size_t>& order, const std::vector<std::uint64_t>& costs,
         std::size_t workers);

  /// The next chunk for a worker, which may still hold cases of earlier ones: at most kMostCases,
  /// of a cost of 1 / (kParts * workers) of what is open, at least one case. Empty when nothing is
  /// open, though cases that others hold may come back yet.
  std::vector<std::uint64_t> Deal(std::size_t worker);
  /// A case is finished; one that several workers were dealt counts once. False when it was
  /// finished already.
  bool Finished(std::size_t worker, std::uint64_t number);
  /// The worker is gone: what it holds is open again. Gives the number of such cases.
  std::size_t Lost(std::size_t worker);

  bool AllFinished() const { return finished_ == total_; }
  std::size_t finished() const { return finished_; }
  std::size_t total() const { return total_; }
  bool Holds(std::size_t worker) const { return !held_[worker].empty(); }

  static constexpr std::size_t kMostCases = 256;
  static constexpr std::uint64_t kParts = 4;

 private:
  const std::vector<std::uint64_t>& costs_;
  std::deque<std::uint64_t> open_;
  std::uint64_t open_cost_ = 0;
  std::vector<std::vector<std::uint64_t>> held_;  ///< by worker, unfinished
  std::vector<bool> done_;                        ///< by case number
  std::size_t finished_ = 0;
  std::size_t total_ = 0;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_DEALER_H_
