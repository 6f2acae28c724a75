#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_BLOCK_LOG_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_BLOCK_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/simulator/exec/observer.h"
#include "kernels/simulator/memory/touched_bytes.h"

namespace voltcheck::simulator {

struct Allocation;
class AddressSpace;
class BatchMemory;

/// The old contents of what one allocation loses while blocks run side by side, chunk by chunk.
class AllocationUndo {
 public:
  /// `outer` keeps what was there at an earlier time, or is null.
  AllocationUndo(Allocation& allocation, const BatchMemory& owner, AllocationUndo* outer);
  /// Saves the chunks of [offset, offset + bytes) before their first change. Any thread.
  void Save(std::uint64_t offset, std::uint64_t bytes);
  /// Without `written`, what is known to have been written stays known.
  void Restore(bool written);
  Allocation& allocation() const { return allocation_; }
  const BatchMemory& owner() const { return owner_; }
  AllocationUndo* outer() const { return outer_; }
  /// The old bytes at `offset` (they lie in one chunk), or the present ones if nothing changed.
  const std::byte* Old(std::uint64_t offset) const;

 private:
  struct Saved {
    std::vector<std::byte> data;         ///< empty: zeros, since nothing of it was ever written
    std::vector<std::uint64_t> written;  ///< of Allocation::written
  };
  struct Chunk {
    std::atomic<std::uint8_t> state{0};  ///< 0 untouched, 1 being saved, 2 saved
    std::shared_ptr<const Saved> saved;
  };
  void SaveChunk(std::uint64_t index);
  void Keep(std::uint64_t index, const std::shared_ptr<const Saved>& saved);

  Allocation& allocation_;
  const BatchMemory& owner_;
  AllocationUndo* outer_;
  std::unique_ptr<Chunk[]> chunks_;
  std::uint64_t count_;
};

/// Global memory while a batch of blocks runs side by side, or during a whole launch: can take
/// everything back.
class BatchMemory {
 public:
  /// `outer` is the memory of the launch that the batch belongs to, or null.
  explicit BatchMemory(AddressSpace& global, BatchMemory* outer = nullptr)
      : global_(global), outer_(outer) {}
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  ~BatchMemory();

  void Save(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);
  void Rollback();
  /// The contents alone; what is known to have been written stays known.
  void RollbackContents();
  /// The allocations that were written.
  const std::vector<std::unique_ptr<AllocationUndo>>& written() const { return undo_; }
  Allocation* FindByHost(const std::byte* host) const;
  /// The undo of an allocation in this memory, made if need be.
  AllocationUndo& UndoOf(Allocation& allocation);

 private:
  AddressSpace& global_;
  BatchMemory* outer_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<AllocationUndo>> undo_;
};

/// Which global memory one block reads and writes, as addresses on the host.
class BlockLog {
 public:
  BlockLog() = default;
  BlockLog(BatchMemory& memory, bool logs_reads) : memory_(&memory), logs_reads_(logs_reads) {}

  /// Before the access happens; `cached` is the allocation that its site hit last.
  void OnAccess(const ExecContext& context, Allocation* cached, const MemorySite& site,
                const LanePointers& pointers);
  /// The same for one piece of an allocation.
  void OnPiece(Allocation& allocation, const std::byte* host, std::uint64_t bytes, bool write) {
    const auto begin = reinterpret_cast<std::uintptr_t>(host);
    Add(allocation, begin, begin + bytes, write);
  }
  /// The same for `bytes` each of 32 lanes that begin `stride` apart: a power of two from `bytes`
  /// to 64, or 0 for a read of one place.
  void OnStrided(Allocation& allocation, const std::byte* host, std::uint64_t bytes,
                 std::uint64_t stride, bool write);
  /// A read site meets an allocation for the first time.
  void NoteRead(Allocation* allocation);

  /// From here on writes are saved to the memory of the launch.
  void set_memory(BatchMemory* memory) { memory_ = memory; }
  bool logs_reads() const { return logs_reads_; }
  const std::vector<Allocation*>& read_allocations() const { return read_allocations_; }
  const TouchedBytes& reads() const { return reads_; }
  const TouchedBytes& writes() const { return writes_; }

 private:
  void Add(Allocation& allocation, std::uintptr_t begin, std::uintptr_t end, bool write);
  /// An access whose lanes all lie in `allocation`, within a chunk's length. False for any other.
  bool AddNear(Allocation& allocation, const ExecContext& context, std::uint64_t bytes, bool write,
               const LanePointers& pointers);

  BatchMemory* memory_ = nullptr;
  bool logs_reads_ = false;
  std::vector<Allocation*> read_allocations_;
  TouchedBytes reads_;
  TouchedBytes writes_;
};

enum class Overlap {
  kApart,    ///< no block touched what another one wrote
  kUnknown,  ///< an allocation was both read and written, and reads were not logged
  kConflict,
};
/// Compares the logs of a batch. The answer does not depend on how the blocks were interleaved:
/// without a conflict each block saw only what it would have seen alone, so the logs are those of
/// the blocks alone.
Overlap FindOverlap(const std::vector<const BlockLog*>& logs, const BatchMemory& memory);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_BLOCK_LOG_H_
