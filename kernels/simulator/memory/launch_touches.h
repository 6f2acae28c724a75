#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_LAUNCH_TOUCHES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_LAUNCH_TOUCHES_H_

#include <cstdint>
#include <unordered_map>

#include "kernels/simulator/memory/touched_bytes.h"

namespace voltcheck::simulator {

class BlockLog;

/// Bytes of global memory that two threads of a launch may have touched, at least one of them
/// writing; as addresses on the host.
class ContestedBytes {
 public:
  static ContestedBytes Everything() {
    ContestedBytes bytes;
    bytes.everything_ = true;
    return bytes;
  }
  bool empty() const { return chunks_.empty() && !everything_; }
  void Add(std::uintptr_t chunk, const TouchedBytes::Bits& bits);
  bool Meets(std::uintptr_t begin, std::uint64_t bytes) const;

 private:
  std::unordered_map<std::uintptr_t, TouchedBytes::Bits> chunks_;
  bool everything_ = false;
};

/// What all blocks of a launch read and wrote, block by block. The outcome does not depend on the
/// order in which blocks are added.
class LaunchTouches {
 public:
  /// `log` is all that one block did.
  void Add(const BlockLog& log);
  ContestedBytes TakeContested() { return std::move(contested_); }

 private:
  struct Entry {
    TouchedBytes::Bits reads{};
    TouchedBytes::Bits writes{};
  };
  std::unordered_map<std::uintptr_t, Entry> chunks_;
  ContestedBytes contested_;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_LAUNCH_TOUCHES_H_
