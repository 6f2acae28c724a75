#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_SHARED_RACES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_SHARED_RACES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// Finds accesses to shared memory that nothing orders: two threads of a block, the same bytes, at
/// least one write.
///
/// Each warp has a clock that moves on at every barrier and fence, and knows how much of the other
/// warps' clocks lies before it (a vector clock). Every cell of shared memory
/// remembers who wrote and read it last, and when. Threads of one warp are ordered by bar.warp.sync
/// and barriers alone, as on Volta.
///
/// Between warps a flag or lock orders, too: a strong write behind a fence (or a release) carries
/// what its warp knew at the fence to a strong read of the same address that a fence follows (or an
/// acquire). This is kept by warps, not threads: a fence of any of its threads counts for all, so a
/// race may be missed for it, but none is invented.
///
/// A block that starts finds the cells of the one before it, which lie in earlier phases and mean
/// nothing to it: clearing them would take longer than a small block runs.
///
/// A cell stands for 16 bytes as long as they are accessed together, else for the smallest access
/// of the program.
class SharedRaces {
 public:
  struct Access {
    std::uint32_t warp = 0;
    std::uint32_t lane = 0;
    std::uint32_t pc = 0;
    bool write = false;
    bool read = false;    ///< both: an atomic
    bool strong = false;  ///< atomic or volatile: two such accesses do not race
    bool acquire = false;
    bool release = false;
  };
  struct Race {
    std::uint32_t other_thread = 0;
    std::uint32_t other_pc = 0;
    bool other_write = false;
    bool same_warp = false;
  };

  /// `granule` (a power of two up to 16 bytes) divides every access of the program.
  void Start(std::uint64_t bytes, std::uint32_t granule, std::uint32_t warps);
  /// True: a race, described in `race`.
  bool OnAccess(const Access& access, std::uint64_t offset, std::uint64_t bytes, Race& race);
  /// A warp comes to a barrier; `waits`: not bar.arrive.
  void OnArrive(std::uint32_t barrier, std::uint32_t warp, bool waits);
  /// A barrier lets these warps go; `whole`: all threads of the block that have not exited.
  void OnRelease(std::uint32_t barrier, const std::vector<std::uint32_t>& waiting, bool whole);
  /// bar.warp.sync.
  void OnWarpSync(std::uint32_t warp) { ++syncs_[warp]; }
  /// fence, membar.
  void OnFence(std::uint32_t warp);

 private:
  static constexpr std::uint64_t kChunkBytes = 16;
  struct Write {
    std::uint32_t clock = 0;
    std::uint32_t syncs = 0;
    std::uint32_t pc = 0;
    std::uint32_t thread = kNone;
    std::uint32_t phase = 0;  ///< barriers of the whole block before it
  };
  using Clocks = std::vector<std::uint32_t>;  ///< by warp; empty: nothing
  struct Cell {
    Write plain;
    Write strong;
    std::uint32_t read_clock = 0;
    std::uint32_t read_syncs = 0;
    std::uint32_t read_pc = 0;
    std::uint32_t read_lanes = 0;  ///< of the warp that read last
    std::uint32_t read_warps = 0;  ///< all that read since barrier `phase`
    std::uint32_t phase = 0;       ///< of the last read
    std::uint8_t read_warp = 0;
    std::uint8_t read_strong = 0;
  };
  bool Ordered(std::uint32_t warp, std::uint32_t other, std::uint32_t clock) const {
    return known_[warp * warps_ + other] >= clock;
  }
  bool Touch(const Access& access, Cell& cell, Race& race);
  bool AgainstWriter(const Access& access, const Write& write, Race& race) const;
  bool AgainstReaders(const Access& access, const Cell& cell, Race& race) const;
  void NoteRead(const Access& access, Cell& cell);
  void PassMessages(const Access& access, std::uint64_t offset);
  /// What the warp knows, itself included, to be known by others; its clock moves on.
  Clocks Publish(std::uint32_t warp);
  void Learn(std::uint32_t warp, const Clocks& past);

  std::uint32_t granule_ = 4;
  std::uint32_t warps_ = 0;
  std::vector<Cell> chunks_;           ///< one per 16 bytes
  std::vector<std::uint8_t> split_;    ///< by chunk: its fine cells hold the truth
  std::vector<Cell> cells_;            ///< one per granule; none before the first that is split
  std::vector<std::uint32_t> clocks_;  ///< by warp
  std::vector<std::uint32_t> syncs_;   ///< by warp: what has ordered its own threads so far
  std::vector<std::uint32_t> known_;   ///< [warp][other]: the other's clock that lies before
  /// [barrier][other]: what those who arrived know
  std::vector<std::vector<std::uint32_t>> arrived_;
  std::uint32_t phase_ = 1;        ///< barriers of the whole block, and blocks before it
  std::uint32_t first_phase_ = 1;  ///< of this block
  bool partial_ = false;           ///< a barrier of some warps, or a flag, was used in this phase
  std::vector<Clocks> fenced_;     ///< by warp: what it knew at its last fence
  std::vector<Clocks> pending_;    ///< by warp: read from flags, known after its next fence
  std::map<std::uint64_t, Clocks> messages_;  ///< by offset: what the flag there carries
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_SHARED_RACES_H_
