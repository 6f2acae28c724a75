#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BLOCK_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/simulator/check/block_checker.h"
#include "kernels/simulator/check/findings.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/schedule/launch.h"
#include "kernels/simulator/schedule/warp.h"

namespace voltcheck::simulator {

/// What one block did and found.
struct BlockResult {
  std::uint64_t index = 0;
  FindingList findings;
  kernels::Counters counters;
  BlockLog log;
  std::map<std::uint64_t, LockUse> locks;  ///< by address
};

/// One thread block: its warps, shared memory and barriers. Reused for one block after the other.
class Block {
 public:
  /// Fills shared and local memory before a block starts: NaN in every float format.
  static constexpr std::byte kPoison{0xff};

  enum class Stop {
    kFinished,
    kSlice,   ///< used its budget up
    kPaused,  ///< every warp that could run would talk to other blocks next
    kKilled,  ///< a fault, a deadlock or the instruction limit; see findings()
  };

  void Start(const LaunchState& launch, std::uint64_t index);
  Stop Run(const Worker& worker, std::int64_t budget);

  /// Runs one lane up to its next visible instruction, or that one alone if `through`; for launches
  /// in which every lane runs alone. False: a fault, see findings().
  bool StepLane(const Worker& worker, std::uint32_t warp, std::uint32_t lane, bool through);
  const Warp& warp(std::uint32_t index) const { return warps_[index]; }

  /// Whether to stop before global atomics, volatile and ordered accesses.
  void set_pauses_before_communication(bool value) { pauses_ = value; }
  bool pauses_before_communication() const { return pauses_; }
  void Resume();

  std::uint64_t index() const { return index_; }
  /// What it reads and writes, while somebody asks: see StartLog.
  void StartLog(BatchMemory& memory, bool logs_reads) { log_ = BlockLog(memory, logs_reads); }
  BlockLog& log() { return log_; }
  const BlockLog& log() const { return log_; }
  const FindingList& findings() const { return findings_; }
  FindingList& findings() { return findings_; }
  kernels::Counters counters() const;
  /// When it has come to an end; then another block may start in its place.
  BlockResult TakeResult();
  std::uint64_t lane_instructions() const;
  /// Messages (volatile accesses, atomics) since Start.
  std::uint64_t messages() const;
  /// Global memory changes that other blocks could see, since Start.
  std::uint64_t changes() const;
  /// Where its threads are, and what they wait for: "warp 0 lanes 0-31 at line 12
  /// (ld.acquire.gpu.u32), polling `flags` at offset 4 (0x...), which holds 0; ...".
  std::string DescribePositions();
  /// A finding at the first thread that has not finished: `what` and the positions of all.
  void ReportStuck(const std::string& checker, const std::string& what);

  // --- for warps ---
  ExecContext MakeContext();
  void OnExit();
  /// A group arrives at a barrier. True when it may go on at once.
  bool Arrive(Warp& warp, std::size_t group, const Instr& instr, const Control& control);
  /// A finding of the barrier checker, if it is on.
  void ReportBarrier(const Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                     const std::string& what);

 private:
  static constexpr std::size_t kBarriers = 16;
  struct Barrier {
    std::uint32_t count = 0;     ///< arrived threads, whole warps rounded up to 32
    std::uint32_t expected = 0;  ///< 0: all threads that have not exited
    bool reduced_and = true;
    std::uint32_t reduced_count = 0;
    bool in_use = false;
    std::vector<std::uint32_t> arrived;  ///< lanes by warp
  };

  bool IsComplete(const Barrier& barrier) const;
  void Release(std::uint32_t id);
  void CheckRelease(std::uint32_t id);
  void CheckParked();
  void CompleteBarriers();
  /// What a group in a waiting loop looks at; empty when it is in none.
  std::string DescribePoll(Warp& warp, const LaneGroup& group);
  void FillBlockRows();
  void ReportFault(const Warp& warp, const LocatedFault& fault);
  void ReportDeadlock();

  const LaunchState* launch_ = nullptr;
  std::uint64_t index_ = 0;
  std::vector<Warp> warps_;
  std::vector<std::uint8_t> finished_;
  std::vector<AlignedBytes> rows_;
  std::vector<AlignedBytes> shared_;
  std::vector<Barrier> barriers_;
  FindingList findings_;
  BlockLog log_;
  BlockChecker checker_;
  bool is_watched_ = false;  ///< somebody wants to see accesses
  ScheduleRandom random_;
  std::size_t next_warp_ = 0;
  bool pauses_ = false;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BLOCK_H_
