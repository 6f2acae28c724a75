// How lane groups of a warp split, wait for each other and meet again.
#include <algorithm>

#include "kernels/simulator/schedule/warp.h"

namespace voltcheck::simulator {
namespace {

/// Parked lanes are let go when the others have exchanged this many messages since the first one
/// parked: they spin, and may well be waiting for the parked ones.
constexpr std::uint64_t kSpinMessages = 256;
/// The same for loops that do not look at memory at all.
constexpr std::uint64_t kSpinWork = std::uint64_t{1} << 24;

}  // namespace

std::uint32_t Warp::NewRecord(std::uint32_t pc, std::uint32_t depth, std::uint32_t expected,
                              std::uint32_t parent) {
  const auto free = std::find_if(records_.begin(), records_.end(),
                                 [](const Record& record) { return !record.used; });
  const auto index = static_cast<std::uint32_t>(free - records_.begin());
  if (free == records_.end()) {
    records_.emplace_back();
  }
  Record& record = records_[index];
  record = Record{};
  record.pc = pc;
  record.depth = depth;
  record.expected = expected;
  record.parent = parent;
  record.used = true;
  return index;
}

void Warp::SetRecord(LaneGroup& group, std::uint32_t record) {
  group.record = record;
  group.reconvergence = record == kNone ? kNone : records_[record].pc;
}

void Warp::Diverge(std::size_t index, const std::vector<Part>& parts, std::uint32_t reconvergence) {
  if (parts.size() == 1) {
    groups_[index].pc = parts[0].pc;
    return;
  }
  const std::uint32_t record = groups_[index].record;
  const std::uint32_t depth = groups_[index].depth();
  // A loop whose lanes leave one by one needs one record, not one per trip.
  const bool same =
      record != kNone && records_[record].pc == reconvergence && records_[record].depth == depth;
  if (reconvergence != kNone && !same) {
    const std::uint32_t added = NewRecord(reconvergence, depth, groups_[index].mask, record);
    SetRecord(groups_[index], added);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    LaneGroup other = groups_[index];
    other.mask = parts[i].mask;
    other.pc = parts[i].pc;
    groups_.push_back(std::move(other));
  }
  groups_[index].mask = parts[0].mask;
  groups_[index].pc = parts[0].pc;
}

void Warp::Park(std::size_t index) {
  const std::uint32_t number = groups_[index].record;
  Record& record = records_[number];
  if (record.parked.mask == 0) {
    record.parked = std::move(groups_[index]);
    record.parked_messages = context_.messages;
    record.parked_work = work_;
  } else {
    record.parked.mask |= groups_[index].mask;
  }
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
  if (record.parked.mask == record.expected) {
    Complete(number);
  }
}

/// All expected lanes have arrived: they go on as one group.
void Warp::Complete(std::uint32_t number) {
  Record& record = records_[number];
  LaneGroup group = std::move(record.parked);
  group.state = LaneGroup::State::kReady;
  const std::uint32_t parent = record.parent;
  record.used = false;
  record.parked = LaneGroup{};
  SetRecord(group, parent);
  groups_.push_back(std::move(group));
}

void Warp::Release(std::uint32_t number) {
  Record& record = records_[number];
  LaneGroup group = std::move(record.parked);
  record.parked = LaneGroup{};
  record.expected &= ~group.mask;
  SetRecord(group, record.parent);
  groups_.push_back(std::move(group));
}

std::uint32_t Warp::parked_at() const {
  for (const Record& record : records_) {
    if (record.used && record.parked.mask != 0) {
      return record.pc;
    }
  }
  return kNone;
}

bool Warp::ReleaseAllParked() {
  bool released = false;
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    if (records_[r].used && records_[r].parked.mask != 0) {
      Release(r);
      released = true;
    }
  }
  return released;
}

bool Warp::ReleaseSpunOut() {
  bool released = false;
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    const Record& record = records_[r];
    if (record.used && record.parked.mask != 0 &&
        (context_.messages - record.parked_messages > kSpinMessages ||
         work_ - record.parked_work > kSpinWork)) {
      Release(r);
      released = true;
    }
  }
  return released;
}

/// Nobody can run: lanes that somebody at a .sync instruction waits for must not stay parked.
bool Warp::ReleaseForSync() {
  std::uint32_t wanted = 0;
  for (const LaneGroup& group : groups_) {
    if (group.state == LaneGroup::State::kSync) {
      wanted |= group.wait_mask;
    }
  }
  bool released = false;
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    if (records_[r].used && (records_[r].parked.mask & wanted) != 0) {
      Release(r);
      released = true;
    }
  }
  return released;
}

void Warp::Exit(std::size_t index, std::uint32_t lanes) {
  alive_ &= ~lanes;
  groups_[index].mask &= ~lanes;
  if (groups_[index].mask == 0) {
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    Record& record = records_[r];
    if (!record.used) {
      continue;
    }
    record.expected &= ~lanes;
    if (record.expected == 0) {
      record.used = false;
    } else if (record.parked.mask == record.expected) {
      Complete(r);
    }
  }
  RetryMeets();
}

}  // namespace voltcheck::simulator
