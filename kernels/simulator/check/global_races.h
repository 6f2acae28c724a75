#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_GLOBAL_RACES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_GLOBAL_RACES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/simulator/check/thread_order.h"
#include "kernels/simulator/memory/launch_touches.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// Finds accesses to global memory by two threads of a launch, at least one of them a write, that
/// the causality order of ThreadOrder leaves unordered and that are not both strong in a scope that
/// reaches the other. Used by one thread, and only for bytes that two threads may have touched.
class GlobalRaces {
 public:
  struct Access {
    GridThread thread = 0;
    std::uint32_t pc = 0;
    bool write = false;
    bool read = false;  ///< both: an atomic
    AccessOrder order;
    std::optional<std::uint64_t> stored;  ///< what a strong store puts there
  };
  struct Race {
    GridThread other = 0;
    std::uint32_t other_pc = 0;
    bool other_write = false;
    /// The other one stored what this thread of its block stored too, and this one was waited for.
    std::optional<GridThread> twin = std::nullopt;
  };
  struct Writer {
    GridThread thread = 0;
    std::uint32_t pc = 0;
  };

  GlobalRaces(ContestedBytes contested, std::uint32_t granule, std::uint64_t threads_of_block)
      : contested_(std::move(contested)), granule_(granule), order_(threads_of_block) {}

  ThreadOrder& order() { return order_; }
  bool IsContested(std::uintptr_t begin, std::uint64_t bytes) const {
    return contested_.Meets(begin, bytes);
  }
  /// An access of `bytes` at a host address that IsContested.
  std::optional<Race> OnAccess(const Access& access, std::uintptr_t begin, std::uint64_t bytes);
  /// Who wrote to a contested address last.
  std::optional<Writer> LastWriter(std::uintptr_t at) const;

 private:
  struct Stamp {
    GridThread thread = 0;
    std::uint32_t tick = 0;  ///< 0: nobody
    std::uint32_t pc = 0;
    bool strong = false;
    bool block_scope = false;
    bool observes = false;       ///< a strong read, or an atomic
    std::uint32_t number = 0;    ///< strong accesses of the cell before it
    std::uint32_t sequence = 0;  ///< strong stores before it: from one to the next, atomics go on
    std::optional<std::uint64_t> stored = std::nullopt;  ///< Access::stored
  };
  struct Cell {
    Stamp plain;                ///< last weak write
    std::vector<Stamp> strong;  ///< strong writes since, the last of each thread, by thread
    std::vector<Stamp> reads;   ///< the same for reads
    std::uint32_t numbers = 0;
    std::uint32_t sequences = 0;
    Writer last;
    bool written = false;
    std::unique_ptr<Message> message;
  };
  static constexpr std::uint64_t kChunkBytes = TouchedBytes::kChunkBytes;
  Cell& At(std::uintptr_t host);
  static void Note(std::vector<Stamp>& stamps, const Stamp& stamp);
  bool Races(const Access& access, const Stamp& earlier);
  /// Whether a strong read or atomic that lies before `access` has seen this strong write, by
  /// itself or through atomics: observation puts the one write before what follows the read.
  bool IsObserved(const Access& access, const Stamp& write, const Cell& cell);
  std::optional<Race> Against(const Access& access, const Cell& cell);
  /// A hand-over that two threads of a block tell: `access` changes the word, having seen what one
  /// of them stored there, and the other one's store of the same value may come behind it as well.
  std::optional<Race> ToldTwice(const Access& access, const Cell& cell);
  std::optional<Race> Touch(const Access& access, Cell& cell);

  ContestedBytes contested_;
  std::uint32_t granule_;
  ThreadOrder order_;
  std::unordered_map<std::uintptr_t, std::vector<Cell>> chunks_;  ///< by host address / kChunkBytes
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_GLOBAL_RACES_H_
