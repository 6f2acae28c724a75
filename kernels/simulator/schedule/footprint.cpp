#include "kernels/simulator/schedule/footprint.h"

#include <algorithm>
#include <cstring>

#include "kernels/simulator/check/order_checker.h"

namespace voltcheck::simulator {
namespace {

/// `red` on integers gives no value back, and its order leaves no trace in memory.
std::uint32_t CommutingOperation(const ExecContext& context, const Instr& instr,
                                 const MemorySite& site) {
  const std::string& text = context.program->texts[context.program->info[context.PcOf(instr)].text];
  const bool integer = site.number == NumberKind::kUnsigned || site.number == NumberKind::kSigned;
  const bool commutes = site.operation != AtomicOp::kExch && site.operation != AtomicOp::kCas &&
                        site.operation != AtomicOp::kInc && site.operation != AtomicOp::kDec;
  if (!site.atomic || !integer || !commutes || !text.starts_with("red.")) {
    return 0;
  }
  return 1 + static_cast<std::uint32_t>(site.operation) * 4 +
         static_cast<std::uint32_t>(site.number);
}

}  // namespace

void Footprint::Add(const ExecContext& context, const Instr& instr, const MemorySite& site,
                    const LanePointers& pointers) {
  const bool cas = site.atomic && site.operation == AtomicOp::kCas;
  const std::uint32_t writing = cas          ? SwappingLanes(context, instr, site, pointers)
                                : site.write ? context.mask
                                             : 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) == 0) {
      continue;
    }
    Touch touch;
    touch.begin = reinterpret_cast<std::uintptr_t>(pointers.host[lane]);
    touch.bytes = std::uint32_t{site.bytes} * site.vector;
    touch.write = (writing >> lane & 1) != 0;
    touch.commuting = CommutingOperation(context, instr, site);
    std::memcpy(touch.old.data(), pointers.host[lane], touch.bytes);
    touches_.push_back(touch);
  }
}

void Footprint::AddBarrier(std::uint64_t block, std::uint32_t barrier) {
  Touch touch;
  touch.begin = block * 16 + barrier;
  touch.bytes = 1;
  touch.memory = false;
  touch.write = true;
  touches_.push_back(touch);
}

bool Footprint::Overlap(const Touch& a, const Touch& b) {
  return a.memory == b.memory && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

bool Footprint::Conflicts(const Footprint& other) const {
  return std::any_of(touches_.begin(), touches_.end(), [&](const Touch& a) {
    return std::any_of(other.touches_.begin(), other.touches_.end(), [&](const Touch& b) {
      const bool commute = a.commuting != kNothing && a.commuting == b.commuting &&
                           a.begin == b.begin && a.bytes == b.bytes;
      return (a.write || b.write) && !commute && Overlap(a, b);
    });
  });
}

void Footprint::Settle() {
  for (Touch& touch : touches_) {
    if (touch.memory && std::memcmp(reinterpret_cast<const std::byte*>(touch.begin),
                                    touch.old.data(), touch.bytes) == 0) {
      touch.write = false;
    }
  }
}

bool Footprint::Writes() const {
  return std::any_of(touches_.begin(), touches_.end(),
                     [](const Touch& touch) { return touch.memory && touch.write; });
}

std::vector<std::byte> Footprint::Contents() const {
  std::vector<std::byte> contents;
  for (const Touch& touch : touches_) {
    if (touch.memory) {
      const auto* host = reinterpret_cast<const std::byte*>(touch.begin);
      contents.insert(contents.end(), host, host + touch.bytes);
    }
  }
  return contents;
}

}  // namespace voltcheck::simulator
