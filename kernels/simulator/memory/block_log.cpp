#include "kernels/simulator/memory/block_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <thread>

#include "kernels/simulator/memory/address_space.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kChunkBytes = 64 * 1024;
const std::array<std::byte, kChunkBytes> kZeros{};

/// One block's part of a chunk.
struct OwnedChunk {
  const TouchedBytes::Chunk* chunk;
  std::size_t block;
};

/// The chunks that any block wrote, by address and block.
std::vector<OwnedChunk> WrittenChunks(const std::vector<const BlockLog*>& logs) {
  std::vector<OwnedChunk> written;
  for (std::size_t b = 0; b < logs.size(); ++b) {
    for (const TouchedBytes::Chunk& chunk : logs[b]->writes().chunks()) {
      written.push_back({&chunk, b});
    }
  }
  std::sort(written.begin(), written.end(), [](const OwnedChunk& a, const OwnedChunk& b) {
    return a.chunk->number != b.chunk->number ? a.chunk->number < b.chunk->number
                                              : a.block < b.block;
  });
  return written;
}

bool TwoBlocksWrote(const std::vector<OwnedChunk>& written) {
  for (std::size_t i = 0; i < written.size();) {
    TouchedBytes::Bits seen{};
    const std::uintptr_t number = written[i].chunk->number;
    for (; i < written.size() && written[i].chunk->number == number; ++i) {
      const TouchedBytes::Bits& bits = written[i].chunk->bits;
      if (Meet(seen, bits)) {
        return true;
      }
      for (std::size_t w = 0; w < seen.size(); ++w) {
        seen[w] |= bits[w];
      }
    }
  }
  return false;
}

bool ReadsWhatOthersWrote(const TouchedBytes& reads, std::size_t block,
                          const std::vector<OwnedChunk>& written) {
  for (const TouchedBytes::Chunk& read : reads.chunks()) {
    auto write = std::lower_bound(
        written.begin(), written.end(), read.number,
        [](const OwnedChunk& w, std::uintptr_t number) { return w.chunk->number < number; });
    for (; write != written.end() && write->chunk->number == read.number; ++write) {
      if (write->block != block && Meet(read.bits, write->chunk->bits)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

AllocationUndo::AllocationUndo(Allocation& allocation, const BatchMemory& owner,
                               AllocationUndo* outer)
    : allocation_(allocation),
      owner_(owner),
      outer_(outer),
      count_((allocation.bytes + kChunkBytes - 1) / kChunkBytes) {
  chunks_ = std::make_unique<Chunk[]>(count_);
}

void AllocationUndo::SaveChunk(std::uint64_t index) {
  const std::uint64_t begin = index * kChunkBytes;
  const std::uint64_t bytes = std::min(kChunkBytes, allocation_.bytes - begin);
  auto saved = std::make_shared<Saved>();
  bool untouched = false;
  if (allocation_.written != nullptr) {
    saved->written = allocation_.written->Copy(begin, bytes);
    untouched = std::all_of(saved->written.begin(), saved->written.end(),
                            [](std::uint64_t word) { return word == 0; });
  }
  if (!untouched) {
    saved->data.assign(allocation_.host + begin, allocation_.host + begin + bytes);
  }
  chunks_[index].saved = std::move(saved);
  if (outer_ != nullptr) {
    outer_->Keep(index, chunks_[index].saved);
  }
}

/// A chunk of the batch belongs to one thread while it is saved, and so does the outer one.
void AllocationUndo::Keep(std::uint64_t index, const std::shared_ptr<const Saved>& saved) {
  Chunk& chunk = chunks_[index];
  if (chunk.state.load() == 0) {
    chunk.saved = saved;
    chunk.state.store(2);
  }
}

const std::byte* AllocationUndo::Old(std::uint64_t offset) const {
  const Chunk& chunk = chunks_[offset / kChunkBytes];
  if (chunk.state.load() != 2) {
    return allocation_.host + offset;
  }
  const std::byte* old = chunk.saved->data.empty() ? kZeros.data() : chunk.saved->data.data();
  return old + offset % kChunkBytes;
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

void AllocationUndo::Restore(bool written) {
  for (std::uint64_t c = 0; c < count_; ++c) {
    if (chunks_[c].state.load() == 2) {
      const Saved& saved = *chunks_[c].saved;
      const std::uint64_t begin = c * kChunkBytes;
      const std::byte* old = saved.data.empty() ? kZeros.data() : saved.data.data();
      std::copy_n(old, std::min(kChunkBytes, allocation_.bytes - begin), allocation_.host + begin);
      if (written && allocation_.written != nullptr) {
        allocation_.written->Assign(begin, saved.written);
      }
    }
  }
}

BatchMemory::~BatchMemory() {
  for (const auto& undo : undo_) {
    undo->allocation().undo.store(undo->outer());
  }
}

AllocationUndo& BatchMemory::UndoOf(Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(undo_.begin(), undo_.end(), [&](const auto& undo) {
    return &undo->allocation() == &allocation;
  });
  if (known != undo_.end()) {
    return **known;
  }
  AllocationUndo* outer = outer_ == nullptr ? nullptr : &outer_->UndoOf(allocation);
  undo_.push_back(std::make_unique<AllocationUndo>(allocation, *this, outer));
  return *undo_.back();
}

void BatchMemory::Save(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes) {
  AllocationUndo* undo = allocation.undo.load(std::memory_order_acquire);
  if (undo == nullptr || &undo->owner() != this) {
    undo = &UndoOf(allocation);
    allocation.undo.store(undo, std::memory_order_release);
  }
  undo->Save(offset, bytes);
}

void BatchMemory::Rollback() {
  for (const auto& undo : undo_) {
    undo->Restore(true);
  }
}

void BatchMemory::RollbackContents() {
  for (const auto& undo : undo_) {
    undo->Restore(false);
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

void BlockLog::Add(Allocation& allocation, std::uintptr_t begin, std::uintptr_t end, bool write) {
  if (write) {
    memory_->Save(allocation, begin - reinterpret_cast<std::uintptr_t>(allocation.host),
                  end - begin);
    writes_.Add(begin, end);
  } else {
    reads_.Add(begin, end);
  }
}

/// Mostly all lanes hit the allocation of last time, close together: then the old contents are
/// saved once for all of them.
bool BlockLog::AddNear(Allocation& allocation, const ExecContext& context, std::uint64_t bytes,
                       bool write, const LanePointers& pointers) {
  const auto host = reinterpret_cast<std::uintptr_t>(allocation.host);
  std::uintptr_t lowest = ~std::uintptr_t{0};
  std::uintptr_t highest = 0;
  std::uintptr_t previous = 0;
  bool side_by_side = true;
  for (std::uint32_t bits = context.mask; bits != 0; bits &= bits - 1) {
    const auto at = reinterpret_cast<std::uintptr_t>(pointers.host[std::countr_zero(bits)]);
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
    side_by_side &= previous == 0 || at == previous + bytes;
    previous = at;
  }
  if (lowest < host || highest >= host + allocation.bytes || highest - lowest > kChunkBytes ||
      bytes > 16) {
    return false;
  }
  TouchedBytes& touched = write ? writes_ : reads_;
  if (write) {
    memory_->Save(allocation, lowest - host, highest + bytes - lowest);
  }
  if (side_by_side) {
    touched.Add(lowest, highest + bytes);
    return true;
  }
  // An aligned access of at most 16 bytes lies in one word of 64.
  std::uintptr_t word = lowest / 64;
  std::uint64_t added = 0;
  std::uint64_t again = 0;
  for (std::uint32_t bits = context.mask; bits != 0; bits &= bits - 1) {
    const auto at = reinterpret_cast<std::uintptr_t>(pointers.host[std::countr_zero(bits)]);
    if (at / 64 != word) {
      touched.AddWord(word, added, again);
      word = at / 64;
      added = 0;
      again = 0;
    }
    const std::uint64_t ones = ((std::uint64_t{1} << bytes) - 1) << at % 64;
    again |= added & ones;
    added |= ones;
  }
  touched.AddWord(word, added, again);
  return true;
}

void BlockLog::OnAccess(const ExecContext& context, Allocation* cached, const MemorySite& site,
                        const LanePointers& pointers) {
  const std::uint64_t bytes = std::uint64_t{site.bytes} * site.vector;
  if (cached != nullptr && context.mask != 0 &&
      AddNear(*cached, context, bytes, site.write, pointers)) {
    return;
  }
  Allocation* allocation = cached;
  std::uintptr_t begin = 0;  // of lanes whose bytes lie side by side
  std::uintptr_t end = 0;
  const auto flush = [&] {
    if (end != 0) {
      Add(*allocation, begin, end, site.write);
      end = 0;
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
    const auto at = reinterpret_cast<std::uintptr_t>(host);
    if (at != end) {
      flush();
      begin = at;
    }
    end = at + bytes;
  }
  flush();
}

void BlockLog::OnStrided(Allocation& allocation, const std::byte* host, std::uint64_t bytes,
                         std::uint64_t stride, bool write) {
  const auto begin = reinterpret_cast<std::uintptr_t>(host);
  if (stride == 0) {
    reads_.Add(begin, begin + bytes);
    return;
  }
  if (write) {
    memory_->Save(allocation, begin - reinterpret_cast<std::uintptr_t>(allocation.host),
                  stride * (kWarpSize - 1) + bytes);
  }
  (write ? writes_ : reads_).AddStrided(begin, bytes, stride, kWarpSize);
}

void BlockLog::NoteRead(Allocation* allocation) {
  if (std::find(read_allocations_.begin(), read_allocations_.end(), allocation) ==
      read_allocations_.end()) {
    read_allocations_.push_back(allocation);
  }
}

Overlap FindOverlap(const std::vector<const BlockLog*>& logs, const BatchMemory& memory) {
  bool mixed = false;
  for (const BlockLog* log : logs) {
    const std::vector<Allocation*>& read = log->read_allocations();
    for (const auto& undo : memory.written()) {
      mixed |= std::find(read.begin(), read.end(), &undo->allocation()) != read.end();
    }
  }
  if (mixed && !logs.front()->logs_reads()) {
    return Overlap::kUnknown;
  }
  const std::vector<OwnedChunk> written = WrittenChunks(logs);
  if (TwoBlocksWrote(written)) {
    return Overlap::kConflict;
  }
  for (std::size_t b = 0; mixed && b < logs.size(); ++b) {
    if (ReadsWhatOthersWrote(logs[b]->reads(), b, written)) {
      return Overlap::kConflict;
    }
  }
  return Overlap::kApart;
}

}  // namespace voltcheck::simulator
