#include "kernels/simulator/check/shared_races.h"

#include <algorithm>
#include <bit>

namespace voltcheck::simulator {

void SharedRaces::Start(std::uint64_t bytes, std::uint32_t granule, std::uint32_t warps) {
  constexpr std::uint32_t kLastPhase = 1u << 31;
  if (granule != granule_ || phase_ > kLastPhase) {
    granule_ = granule;
    phase_ = 0;
    chunks_.clear();
    cells_.clear();
  }
  first_phase_ = ++phase_;
  warps_ = warps;
  const auto chunks = static_cast<std::size_t>((bytes + kChunkBytes - 1) / kChunkBytes);
  if (chunks > chunks_.size()) {
    chunks_.resize(chunks);
  }
  split_.assign(chunks, 0);
  clocks_.assign(warps, 1);
  syncs_.assign(warps, 1);
  known_.assign(std::size_t{warps} * warps, 0);
  arrived_.clear();
  partial_ = false;
  fenced_.assign(warps, {});
  pending_.assign(warps, {});
  messages_.clear();
}

SharedRaces::Clocks SharedRaces::Publish(std::uint32_t warp) {
  std::uint32_t* known = known_.data() + std::size_t{warp} * warps_;
  known[warp] = clocks_[warp]++;
  return {known, known + warps_};
}

void SharedRaces::Learn(std::uint32_t warp, const Clocks& past) {
  std::uint32_t* known = known_.data() + std::size_t{warp} * warps_;
  for (std::uint32_t other = 0; other < past.size(); ++other) {
    known[other] = std::max(known[other], past[other]);
  }
  partial_ = partial_ || !past.empty();
}

void SharedRaces::OnFence(std::uint32_t warp) {
  Learn(warp, pending_[warp]);
  pending_[warp].clear();
  fenced_[warp] = Publish(warp);
}

void SharedRaces::PassMessages(const Access& access, std::uint64_t offset) {
  const auto join = [this](const Clocks& from, Clocks& into) {
    into.resize(warps_, 0);
    for (std::uint32_t other = 0; other < from.size(); ++other) {
      into[other] = std::max(into[other], from[other]);
    }
  };
  const auto found = messages_.find(offset);
  if (access.read && found != messages_.end()) {
    if (access.acquire) {
      Learn(access.warp, found->second);
    } else {
      join(found->second, pending_[access.warp]);
    }
  }
  if (access.write) {
    if (access.release) {
      fenced_[access.warp] = Publish(access.warp);
    }
    if (!access.read) {  // an atomic passes on what lay there
      messages_.erase(offset);
    }
    if (!fenced_[access.warp].empty()) {
      join(fenced_[access.warp], messages_[offset]);
    }
  }
}

bool SharedRaces::AgainstWriter(const Access& access, const Write& write, Race& race) const {
  if (write.phase != phase_ || write.thread == access.warp * kWarpSize + access.lane) {
    return false;
  }
  const std::uint32_t warp = write.thread / kWarpSize;
  const bool same_warp = warp == access.warp;
  const bool ordered =
      same_warp ? write.syncs < syncs_[warp] : Ordered(access.warp, warp, write.clock);
  if (ordered) {
    return false;
  }
  race = {write.thread, write.pc, true, same_warp};
  return true;
}

bool SharedRaces::AgainstReaders(const Access& access, const Cell& cell, Race& race) const {
  if (cell.read_lanes == 0 || cell.phase < first_phase_ ||
      (access.strong && cell.read_strong != 0)) {
    return false;
  }
  const auto found = [&](std::uint32_t warp, std::uint32_t lane) {
    race = {warp * kWarpSize + lane, cell.read_pc, false, warp == access.warp};
    return true;
  };
  if (cell.read_warp == access.warp) {
    const std::uint32_t others = cell.read_lanes & ~(1u << access.lane);
    if (others != 0 && cell.read_syncs == syncs_[access.warp]) {
      return found(access.warp, static_cast<std::uint32_t>(std::countr_zero(others)));
    }
  } else if (!Ordered(access.warp, cell.read_warp, cell.read_clock)) {
    return found(cell.read_warp, static_cast<std::uint32_t>(std::countr_zero(cell.read_lanes)));
  }
  // Earlier readers: only which warps is known, which is enough while all barriers are whole.
  const std::uint32_t others = cell.read_warps & ~(1u << access.warp) & ~(1u << cell.read_warp);
  if (others != 0 && cell.phase == phase_ && !partial_) {
    return found(static_cast<std::uint32_t>(std::countr_zero(others)), 0);
  }
  return false;
}

inline void SharedRaces::NoteRead(const Access& access, Cell& cell) {
  const std::uint32_t syncs = syncs_[access.warp];
  const bool is_known = cell.phase >= first_phase_;
  if (is_known && cell.read_warp == access.warp && cell.read_syncs == syncs) {
    cell.read_lanes |= 1u << access.lane;
  } else {
    cell.read_warp = static_cast<std::uint8_t>(access.warp);
    cell.read_syncs = syncs;
    cell.read_lanes = 1u << access.lane;
  }
  cell.read_clock = clocks_[access.warp];
  if (cell.phase != phase_) {
    cell.phase = phase_;
    cell.read_warps = 0;
  }
  cell.read_warps |= 1u << access.warp;
  cell.read_pc = access.pc;
  cell.read_strong = access.strong ? 1 : 0;
}

inline bool SharedRaces::Touch(const Access& access, Cell& cell, Race& race) {
  bool races = false;
  if (cell.plain.phase == phase_ || cell.strong.phase == phase_) {
    races = AgainstWriter(access, cell.plain, race) ||
            (!access.strong && AgainstWriter(access, cell.strong, race));
  }
  if (!access.write) {
    NoteRead(access, cell);
    return races;
  }
  races = races || (cell.read_lanes != 0 && AgainstReaders(access, cell, race));
  (access.strong ? cell.strong : cell.plain) = {clocks_[access.warp], syncs_[access.warp],
                                                access.pc, access.warp * kWarpSize + access.lane,
                                                phase_};
  cell.read_lanes = 0;
  cell.read_warps = 0;
  return races;
}

bool SharedRaces::OnAccess(const Access& access, std::uint64_t offset, std::uint64_t bytes,
                           Race& race) {
  if (access.strong) {
    PassMessages(access, offset);
  }
  const std::uint64_t chunk = offset / kChunkBytes;
  if (bytes == kChunkBytes && split_[chunk] == 0) {
    return Touch(access, chunks_[chunk], race);
  }
  const std::uint64_t per_chunk = kChunkBytes / granule_;
  if (cells_.size() < chunks_.size() * per_chunk) {
    cells_.resize(chunks_.size() * per_chunk);
  }
  Cell* fine = cells_.data() + chunk * per_chunk;
  if (split_[chunk] == 0) {
    std::fill(fine, fine + per_chunk, chunks_[chunk]);
    split_[chunk] = 1;
  }
  bool races = false;
  const std::uint64_t first = offset % kChunkBytes / granule_;
  for (std::uint64_t c = first; c < first + bytes / granule_; ++c) {
    Race later;
    if (Touch(access, fine[c], later) && !races) {
      race = later;
      races = true;
    }
  }
  if (bytes == kChunkBytes && access.write && !access.strong) {
    chunks_[chunk] =
        fine[0];  // all cells hold the same now, but for strong writes, which this one ordered
    split_[chunk] = 0;
  }
  return races;
}

void SharedRaces::OnArrive(std::uint32_t barrier, std::uint32_t warp, bool waits) {
  if (arrived_.size() <= barrier) {
    arrived_.resize(barrier + 1);
  }
  std::vector<std::uint32_t>& joined = arrived_[barrier];
  joined.resize(warps_, 0);
  std::uint32_t* known = known_.data() + std::size_t{warp} * warps_;
  known[warp] = clocks_[warp];
  for (std::uint32_t other = 0; other < warps_; ++other) {
    joined[other] = std::max(joined[other], known[other]);
  }
  if (!waits) {
    ++clocks_[warp];  // what it does from here on lies before nobody's barrier
    ++syncs_[warp];
  }
}

void SharedRaces::OnRelease(std::uint32_t barrier, const std::vector<std::uint32_t>& waiting,
                            bool whole) {
  const std::vector<std::uint32_t>& joined = arrived_[barrier];
  for (const std::uint32_t w : waiting) {
    std::uint32_t* known = known_.data() + std::size_t{w} * warps_;
    for (std::uint32_t other = 0; other < warps_; ++other) {
      known[other] = std::max(known[other], joined[other]);
    }
    ++clocks_[w];
    ++syncs_[w];
  }
  arrived_[barrier].clear();
  if (whole) {
    ++phase_;
    partial_ = false;
  } else {
    partial_ = true;
  }
}

}  // namespace voltcheck::simulator
