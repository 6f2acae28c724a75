#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_WARP_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_WARP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/program/program.h"
#include "kernels/simulator/program/rows.h"
#include "kernels/simulator/schedule/launch.h"

namespace voltcheck::simulator {

class Block;

/// What a thread that runs warps brings along.
struct Worker {
  Allocation** site_cache = nullptr;  ///< by memory site: the allocation it hit last
  BlockLog* log = nullptr;            ///< while blocks run side by side
};

/// A fault and the instruction at which it happened.
struct LocatedFault {
  Fault fault;
  std::uint32_t pc = 0;
};

/// Lanes of a warp that are at one instruction and execute together.
struct LaneGroup {
  enum class State {
    kReady,
    kSync,     ///< at a .sync instruction, waiting for the other lanes of its mask
    kBarrier,  ///< at a block barrier
    kPaused,   ///< before an instruction that may talk to other blocks
  };
  struct CallFrame {
    std::uint32_t return_pc = 0;
    std::uint32_t control = 0;   ///< of the call, for its parameter copies
    std::uint32_t function = 0;  ///< the caller
    std::uint64_t local_base = 0;
    bool operator==(const CallFrame&) const = default;
  };

  std::uint32_t mask = 0;
  std::uint32_t pc = 0;
  State state = State::kReady;
  std::uint32_t record = kNone;         ///< where it reconverges; kNone: nowhere
  std::uint32_t reconvergence = kNone;  ///< the record's pc
  std::uint32_t function = 0;
  std::uint64_t local_base = 0;  ///< of its frame in local memory
  std::vector<CallFrame> calls;  ///< innermost last
  std::uint64_t idle_trips =
      0;                        ///< through loops that only compute, since it last did other things
  std::uint32_t wait_mask = 0;  ///< kSync: the member mask
  std::uint32_t barrier = 0;    ///< kBarrier: its number
  std::uint32_t depth() const { return static_cast<std::uint32_t>(calls.size()); }
};

/// 32 threads with independent program counters.
///
/// When a branch diverges, its lanes split into groups that meet again at the branch's immediate
/// post-dominator: a record there counts who is expected, and groups that arrive park in it. Lanes
/// may wait for each other: when the running groups only spin, parked lanes are let go before all
/// have arrived.
class Warp {
 public:
  enum class Stop { kFinished, kBlocked, kSlice, kPaused };

  void Start(const LaunchState& launch, Block& block, std::uint32_t index);

  /// Runs ready groups until none is left or about `budget` instructions are used up. Throws
  /// LocatedFault.
  Stop Run(const Worker& worker, std::int64_t budget);
  /// What Run used of its budget.
  std::int64_t used() const { return used_; }

  /// See Block::StepLane.
  void StepLane(const Worker& worker, std::uint32_t lane, bool through);
  /// The group that a lane is in; null when it has exited.
  const LaneGroup* GroupOf(std::uint32_t lane) const;

  /// Lets all parked lanes go. False when there are none.
  bool ReleaseAllParked();
  /// Groups paused before communication may go on.
  void Resume();

  std::uint32_t alive() const { return alive_; }
  std::uint32_t first_lanes() const { return first_lanes_; }
  std::uint32_t index() const { return index_; }
  std::vector<LaneGroup>& groups() { return groups_; }
  const std::vector<LaneGroup>& groups() const { return groups_; }
  std::uint64_t matrix_instructions() const { return context_.matrix_instructions; }
  std::uint64_t matrix_zero_rows() const { return context_.matrix_zero_rows; }
  std::uint64_t messages() const { return context_.messages; }
  std::uint64_t changes() const { return context_.changes; }
  /// Lanes that wait at a reconvergence point, and where (kNone: nobody).
  std::uint32_t parked_at() const;
  /// A barrier let groups go: those that are at one place again become one.
  void OnBarrier() { MergeEqualGroups(); }
  /// The row of a group's operand, for the block's barriers.
  template <typename T>
  T* RowOf(const LaneGroup& group, Ref ref) {
    Bind(group);
    return context_.Row<T>(ref);
  }

  std::uint64_t lane_instructions = 0;
  std::uint64_t warp_instructions = 0;

 private:
  struct Record {
    std::uint32_t pc = kNone;
    std::uint32_t depth = 0;
    std::uint32_t expected = 0;
    std::uint32_t parent = kNone;
    LaneGroup parked;  ///< mask: who has arrived
    std::uint64_t parked_messages =
        0;  ///< messages and work of the warp when the first one arrived
    std::uint64_t parked_work = 0;
    bool used = false;
  };
  struct Part {
    std::uint32_t mask;
    std::uint32_t pc;
  };

  void SplitIntoLanes();
  bool IsVisible(std::uint32_t pc) const;
  void FillRows();
  void Bind(const LaneGroup& group);
  std::size_t NextReady();
  void RunGroup(std::size_t index, std::int64_t limit);
  std::int32_t ExecuteRun(const Instr* instr, std::int32_t count, std::uint32_t mask);
  void ExecuteOne(const Instr& instr, std::uint32_t mask);
  void CountControl(std::uint32_t mask);
  /// A group has gone back by a branch. Every loop that touches memory has a branch back over that
  /// instruction, so what is counted is only what computes and nothing else.
  void CountTrip(LaneGroup& group, const Control& branch, std::uint32_t pc) const;
  /// Those of `lanes` that an instruction's guard lets execute it.
  std::uint32_t ActiveLanes(const Instr& instr, std::uint32_t lanes) const {
    return lanes & (*context_.Row<const std::uint32_t>(instr.guard) ^ instr.guard_flip);
  }
  bool MaySplit(const LaneGroup& group) const;
  std::int32_t ChooseSplit(const LaneGroup& group, std::int32_t count);
  void SplitRandomly(std::size_t index);

  // Control instructions; false when the group at `index` cannot simply go on.
  bool Step(std::size_t index, const Instr& instr, const Control& control);
  bool StepBranchTable(std::size_t index, const Instr& instr, const Control& control);
  bool StepCall(std::size_t index, const Instr& instr, const Control& control);
  bool StepReturn(std::size_t index, std::uint32_t lanes);
  bool StepSync(std::size_t index, const Instr& instr, const Control& control);
  bool StepOrdered(std::size_t index, const Instr& instr);
  void Exit(std::size_t index, std::uint32_t lanes);

  // Divergence.
  void Diverge(std::size_t index, const std::vector<Part>& parts, std::uint32_t reconvergence);
  std::uint32_t NewRecord(std::uint32_t pc, std::uint32_t depth, std::uint32_t expected,
                          std::uint32_t parent);
  void SetRecord(LaneGroup& group, std::uint32_t record);
  void Park(std::size_t index);
  void Complete(std::uint32_t record);
  bool ReleaseSpunOut();
  bool ReleaseForSync();
  void Release(std::uint32_t record);

  // .sync instructions.
  bool TryMeet(std::size_t index);
  void Meet(const std::vector<std::size_t>& members);
  void MergeEqualGroups();
  void RetryMeets();
  void CheckWholeWarp(const Control& control, std::uint32_t pc, std::uint32_t mask);

  // Calls.
  void EnsureRegisters(std::uint32_t depth);
  void EnsureLocal(std::uint64_t bytes);
  std::byte* FrameOf(std::uint32_t depth);
  void CopyParameters(const std::vector<ParamCopy>& copies, std::uint64_t caller,
                      std::uint64_t callee, std::uint32_t mask, bool into_callee);

  const LaunchState* launch_ = nullptr;
  const Program* program_ = nullptr;
  Block* block_ = nullptr;
  ExecContext context_;
  std::uint32_t index_ = 0;
  std::uint32_t alive_ = 0;
  std::uint32_t first_lanes_ = 0;
  std::vector<AlignedBytes> registers_;
  std::vector<AlignedBytes> rows_;  ///< for rows_block_ and rows_index_
  kernels::Dim3 rows_block_;
  std::uint32_t rows_index_ = 0;
  std::vector<AlignedBytes> scratch_;
  std::vector<std::byte> local_;
  std::vector<LaneGroup> groups_;
  std::vector<Record> records_;
  std::size_t turn_ = 0;
  std::int64_t used_ = 0;
  std::uint64_t work_ = 0;  ///< warp instructions since Start
  ScheduleRandom random_;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_WARP_H_
