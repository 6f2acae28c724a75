#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_KNOWLEDGE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_KNOWLEDGE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace voltcheck::simulator {

/// A thread of the grid: block * kThreadsOfBlock + thread.
using GridThread = std::uint64_t;
inline constexpr std::uint64_t kThreadsOfBlock = 1024;
inline std::uint64_t BlockOf(GridThread thread) { return thread / kThreadsOfBlock; }

/// What lies before some point of a thread: a vector clock over all threads of a grid, in two
/// parts. Each block counts ticks; "everything that block b did up to tick n" is a cut, "what
/// thread t did up to tick n" an entry of its own. Barriers give cuts, so a grid of thousands of
/// threads that hand work over block by block needs a few numbers.
class Knowledge {
 public:
  bool Has(GridThread thread, std::uint32_t tick) const {
    return At(cuts_, BlockOf(thread)) >= tick || At(threads_, thread) >= tick;
  }
  void AddBlock(std::uint64_t block, std::uint32_t tick);
  void AddThread(GridThread thread, std::uint32_t tick);
  void Join(const Knowledge& other);
  /// Whether it holds all of `other`.
  bool Covers(const Knowledge& other) const;
  /// `count` threads of the block have entries: their least tick becomes a cut.
  void Condense(std::uint64_t block, std::size_t count);

 private:
  using Entries = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  ///< sorted
  static std::uint32_t At(const Entries& entries, std::uint64_t key);
  static void Raise(Entries& entries, std::uint64_t key, std::uint32_t tick);
  static void Merge(Entries& entries, const Entries& other);
  void DropCovered();

  Entries cuts_;     ///< by block
  Entries threads_;  ///< by GridThread; only what no cut covers
};

/// Shared by all that know the same.
using KnowledgePtr = std::shared_ptr<const Knowledge>;

/// The union of two, either of which may be null; one of them if it holds the other.
KnowledgePtr Joined(const KnowledgePtr& a, const KnowledgePtr& b);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_KNOWLEDGE_H_
