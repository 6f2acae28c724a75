#include "kernels/simulator/check/global_races.h"

#include <algorithm>

namespace voltcheck::simulator {

GlobalRaces::Cell& GlobalRaces::At(std::uintptr_t host) {
  std::vector<Cell>& cells = chunks_[host / kChunkBytes];
  if (cells.empty()) {
    cells.resize(kChunkBytes / granule_);
  }
  return cells[host % kChunkBytes / granule_];
}

void GlobalRaces::Note(std::vector<Stamp>& stamps, const Stamp& stamp) {
  const auto at =
      std::lower_bound(stamps.begin(), stamps.end(), stamp.thread,
                       [](const Stamp& known, GridThread thread) { return known.thread < thread; });
  if (at != stamps.end() && at->thread == stamp.thread) {
    *at = stamp;
  } else {
    stamps.insert(at, stamp);
  }
}

bool GlobalRaces::Races(const Access& access, const Stamp& earlier) {
  if (earlier.thread == access.thread) {
    return false;
  }
  const bool reach = BlockOf(earlier.thread) == BlockOf(access.thread) ||
                     (!earlier.block_scope && !access.order.block_scope);
  return !(earlier.strong && access.order.strong && reach) &&
         !order_.IsBefore(earlier.thread, earlier.tick, access.thread);
}

bool GlobalRaces::IsObserved(const Access& access, const Stamp& write, const Cell& cell) {
  const auto observed = [&](const Stamp& read) {
    const bool reach =
        BlockOf(read.thread) == BlockOf(write.thread) || (!read.block_scope && !write.block_scope);
    return read.observes && reach && read.number > write.number &&
           read.sequence == write.sequence &&
           order_.IsBefore(read.thread, read.tick, access.thread);
  };
  return std::any_of(cell.strong.begin(), cell.strong.end(), observed) ||
         std::any_of(cell.reads.begin(), cell.reads.end(), observed);
}

std::optional<GlobalRaces::Race> GlobalRaces::Against(const Access& access, const Cell& cell) {
  if (cell.plain.tick != 0 && Races(access, cell.plain)) {
    return Race{cell.plain.thread, cell.plain.pc, true};
  }
  for (const Stamp& write : cell.strong) {
    if (Races(access, write) && !IsObserved(access, write, cell)) {
      return Race{write.thread, write.pc, true};
    }
  }
  if (access.write) {
    for (const Stamp& read : cell.reads) {
      if (Races(access, read)) {
        return Race{read.thread, read.pc, false};
      }
    }
  }
  return std::nullopt;
}

std::optional<GlobalRaces::Race> GlobalRaces::ToldTwice(const Access& access, const Cell& cell) {
  if (!access.write || !access.order.strong || cell.strong.size() < 2) {
    return std::nullopt;
  }
  // Which stores of other blocks lie before the access; the stamps are sorted by thread.
  std::vector<const Stamp*> before;
  std::vector<const Stamp*> open;
  for (const Stamp& write : cell.strong) {
    if (write.stored && write.stored != access.stored &&
        BlockOf(write.thread) != BlockOf(access.thread)) {
      const bool ordered = order_.IsBefore(write.thread, write.tick, access.thread) ||
                           IsObserved(access, write, cell);
      (ordered ? before : open).push_back(&write);
    }
  }
  for (const Stamp* twin : before) {
    const auto late = std::find_if(open.begin(), open.end(), [&](const Stamp* write) {
      return BlockOf(write->thread) == BlockOf(twin->thread) && write->stored == twin->stored;
    });
    if (late != open.end()) {
      return Race{(*late)->thread, (*late)->pc, true, twin->thread};
    }
  }
  return std::nullopt;
}

std::optional<GlobalRaces::Race> GlobalRaces::Touch(const Access& access, Cell& cell) {
  std::optional<Race> race = Against(access, cell);
  if (!race) {
    race = ToldTwice(access, cell);
  }
  Stamp stamp{access.thread, order_.Now(access.thread), access.pc, access.order.strong,
              access.order.block_scope};
  if (access.order.strong) {
    cell.sequences += access.read ? 0 : 1;
    stamp.observes = access.read;
    stamp.number = ++cell.numbers;
    stamp.sequence = cell.sequences;
    stamp.stored = access.stored;
  }
  if (!access.write) {
    Note(cell.reads, stamp);
    return race;
  }
  cell.last = {access.thread, access.pc};
  cell.written = true;
  if (access.order.strong) {
    Note(cell.strong, stamp);
    return race;
  }
  // What comes later and is ordered behind this write is ordered behind what this write follows.
  cell.plain = stamp;
  cell.strong.clear();
  cell.reads.clear();
  return race;
}

std::optional<GlobalRaces::Race> GlobalRaces::OnAccess(const Access& access, std::uintptr_t begin,
                                                       std::uint64_t bytes) {
  std::optional<Race> race;
  for (std::uintptr_t at = begin; at < begin + bytes; at += granule_) {
    const std::optional<Race> found = Touch(access, At(at));
    race = race ? race : found;
  }
  std::unique_ptr<Message>& message = At(begin).message;
  if (!access.order.strong) {
    if (access.write) {
      for (std::uintptr_t at = begin; at < begin + bytes; at += granule_) {
        At(at).message = nullptr;
      }
    }
    return race;
  }
  if (access.read && message != nullptr) {
    order_.Read(access.thread, *message, access.order);
  }
  if (access.write) {
    if (message == nullptr) {
      message = std::make_unique<Message>();
    }
    order_.Write(access.thread, access.order, access.read, *message);
  }
  return race;
}

std::optional<GlobalRaces::Writer> GlobalRaces::LastWriter(std::uintptr_t at) const {
  const auto chunk = chunks_.find(at / kChunkBytes);
  if (chunk == chunks_.end()) {
    return std::nullopt;
  }
  const Cell& cell = chunk->second[at % kChunkBytes / granule_];
  return cell.written ? std::optional<Writer>(cell.last) : std::nullopt;
}

}  // namespace voltcheck::simulator
