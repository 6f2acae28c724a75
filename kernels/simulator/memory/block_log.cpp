#include "kernels/simulator/memory/block_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

#include "kernels/simulator/memory/address_space.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kChunkBytes = 64 * 1024;

void SortAndMerge(std::vector<BlockLog::Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const BlockLog::Range& range : ranges) {
    if (kept != 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

struct OwnedRange {
  BlockLog::Range range;
  std::size_t block;
};

bool ReadsWhatOthersWrote(const std::vector<BlockLog::Range>& reads, std::size_t block,
                          const std::vector<OwnedRange>& writes) {
  for (const BlockLog::Range& read : reads) {
    auto write = std::upper_bound(
        writes.begin(), writes.end(), read.begin,
        [](std::uintptr_t begin, const OwnedRange& w) { return begin < w.range.end; });
    for (; write != writes.end() && write->range.begin < read.end; ++write) {
      if (write->block != block) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

AllocationUndo::AllocationUndo(Allocation& allocation)
    : allocation_(allocation), count_((allocation.bytes + kChunkBytes - 1) / kChunkBytes) {
  chunks_ = std::make_unique<Chunk[]>(count_);
}

void AllocationUndo::SaveChunk(std::uint64_t index) {
  Chunk& chunk = chunks_[index];
  const std::uint64_t begin = index * kChunkBytes;
  const std::uint64_t bytes = std::min(kChunkBytes, allocation_.bytes - begin);
  chunk.data.assign(allocation_.host + begin, allocation_.host + begin + bytes);
  if (allocation_.written != nullptr) {
    chunk.written = allocation_.written->Copy(begin, bytes);
  }
}

void AllocationUndo::Save(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t last = (offset + bytes - 1) / kChunkBytes;
  for (std::uint64_t c = offset / kChunkBytes; c <= last; ++c) {
    std::atomic<std::uint8_t>& state = chunks_[c].state;
    if (state.load(std::memory_order_acquire) == 2) {
      continue;
    }
    std::uint8_t untouched = 0;
    if (state.compare_exchange_strong(untouched, 1)) {
      SaveChunk(c);
      state.store(2, std::memory_order_release);
    } else {
      while (state.load(std::memory_order_acquire) != 2) {
        std::this_thread::yield();
      }
    }
  }
}

void AllocationUndo::Restore() {
  for (std::uint64_t c = 0; c < count_; ++c) {
    const Chunk& chunk = chunks_[c];
    if (chunk.state.load() == 2) {
      std::copy(chunk.data.begin(), chunk.data.end(), allocation_.host + c * kChunkBytes);
      if (allocation_.written != nullptr) {
        allocation_.written->Assign(c * kChunkBytes, chunk.written);
      }
    }
  }
}

BatchMemory::~BatchMemory() {
  for (const auto& undo : undo_) {
    undo->allocation().undo.store(nullptr);
  }
}

void BatchMemory::Save(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes) {
  AllocationUndo* undo = allocation.undo.load(std::memory_order_acquire);
  if (undo == nullptr) {
    const std::lock_guard lock(mutex_);
    undo = allocation.undo.load(std::memory_order_acquire);
    if (undo == nullptr) {
      undo_.push_back(std::make_unique<AllocationUndo>(allocation));
      undo = undo_.back().get();
      allocation.undo.store(undo, std::memory_order_release);
    }
  }
  undo->Save(offset, bytes);
}

void BatchMemory::Rollback() {
  for (const auto& undo : undo_) {
    undo->Restore();
  }
}

Allocation* BatchMemory::FindByHost(const std::byte* host) const {
  for (const auto& [base, allocation] : global_.allocations()) {
    if (host >= allocation->host && host < allocation->host + allocation->bytes) {
      return allocation.get();
    }
  }
  return nullptr;
}

void BlockLog::Add(Allocation& allocation, Range range, bool write) {
  if (write) {
    memory_->Save(allocation, range.begin - reinterpret_cast<std::uintptr_t>(allocation.host),
                  range.end - range.begin);
  }
  std::vector<Range>& ranges = write ? writes_ : reads_;
  if (!ranges.empty() && ranges.back().begin <= range.begin && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

void BlockLog::OnAccess(const ExecContext& context, Allocation* cached, const MemorySite& site,
                        const LanePointers& pointers) {
  const std::uint64_t bytes = std::uint64_t{site.bytes} * site.vector;
  Allocation* allocation = cached;
  Range run;
  const auto flush = [&] {
    if (run.end != 0) {
      Add(*allocation, run, site.write);
      run = Range{};
    }
  };
  for (std::uint32_t bits = context.mask; bits != 0; bits &= bits - 1) {
    const std::byte* host = pointers.host[std::countr_zero(bits)];
    if (allocation == nullptr || host < allocation->host ||
        host >= allocation->host + allocation->bytes) {
      flush();
      const bool shared =
          host >= context.shared.host && host < context.shared.host + context.shared.bytes;
      allocation = shared ? nullptr : memory_->FindByHost(host);
      if (allocation == nullptr) {
        continue;  // shared or local memory behind a generic address
      }
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(host);
    if (run.end != 0 && run.begin <= begin && begin <= run.end) {
      run.end = std::max(run.end, begin + bytes);
    } else {
      flush();
      run = {begin, begin + bytes};
    }
  }
  flush();
}

void BlockLog::NoteRead(Allocation* allocation) {
  if (std::find(read_allocations_.begin(), read_allocations_.end(), allocation) ==
      read_allocations_.end()) {
    read_allocations_.push_back(allocation);
  }
}

Overlap FindOverlap(std::vector<BlockLog>& logs, const BatchMemory& memory) {
  bool mixed = false;
  for (const BlockLog& log : logs) {
    for (const auto& undo : memory.written()) {
      mixed |= std::find(log.read_allocations().begin(), log.read_allocations().end(),
                         &undo->allocation()) != log.read_allocations().end();
    }
  }
  if (mixed && !logs.front().logs_reads()) {
    return Overlap::kUnknown;
  }
  std::vector<OwnedRange> writes;
  for (std::size_t b = 0; b < logs.size(); ++b) {
    SortAndMerge(logs[b].writes());
    for (const BlockLog::Range& range : logs[b].writes()) {
      writes.push_back({range, b});
    }
  }
  std::sort(writes.begin(), writes.end(), [](const OwnedRange& a, const OwnedRange& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin : a.block < b.block;
  });
  for (std::size_t i = 1; i < writes.size(); ++i) {
    if (writes[i].range.begin < writes[i - 1].range.end) {
      return Overlap::kConflict;
    }
  }
  if (mixed) {
    for (std::size_t b = 0; b < logs.size(); ++b) {
      SortAndMerge(logs[b].reads());
      if (ReadsWhatOthersWrote(logs[b].reads(), b, writes)) {
        return Overlap::kConflict;
      }
    }
  }
  return Overlap::kApart;
}

}  // namespace voltcheck::simulator
