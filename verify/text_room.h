#ifndef VOLTCHECK_VERIFY_TEXT_ROOM_H_
#define VOLTCHECK_VERIFY_TEXT_ROOM_H_

#include <cstddef>
#include <vector>

#include "verify/h5.h"

namespace voltcheck::verify::h5 {

/// Where the library puts texts while they are read: bounded, because a crafted file can name one
/// long text a million times. The texts live as long as the room.
class TextRoom {
 public:
  explicit TextRoom(std::size_t most_bytes) : most_(most_bytes) {}

  /// For H5Dread, which fails when the room is full.
  Handle Transfer() {
    Handle transfer(Check(H5Pcreate(H5P_DATASET_XFER)), H5Pclose);
    Check(H5Pset_vlen_mem_manager(transfer.get(), Allocate, this, Free, this));
    return transfer;
  }
  bool full() const { return full_; }

 private:
  static void* Allocate(std::size_t size, void* self) {
    auto& room = *static_cast<TextRoom*>(self);
    if (size > room.most_ || room.used_ > room.most_ - size) {
      room.full_ = true;
      return nullptr;
    }
    room.used_ += size;
    room.texts_.emplace_back(size);
    return room.texts_.back().data();
  }
  static void Free(void* /*text*/, void* /*self*/) {}

  std::size_t most_;
  std::vector<std::vector<char>> texts_;
  std::size_t used_ = 0;
  bool full_ = false;
};

}  // namespace voltcheck::verify::h5

#endif  // VOLTCHECK_VERIFY_TEXT_ROOM_H_
