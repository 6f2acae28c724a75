// From the runtime's parameter structures to work.
#include "kernels/runtime_shim/runtime/abi.h"

namespace voltcheck::shim {

Direction ToDirection(int kind) {
  Require(kind >= 0 && kind <= 4, kInvalidCopyDirection);
  return static_cast<Direction>(kind);
}

CopyWork MakeCopy(const Copy3D& c) {
  Require(c.from_array == nullptr && c.to_array == nullptr, kNotSupported,
          "there are no textures, so there are no arrays");
  CopyWork work;
  work.from_pitch = c.from.pitch;
  work.to_pitch = c.to.pitch;
  work.from_slice = c.from.pitch * c.from.height;
  work.to_slice = c.to.pitch * c.to.height;
  work.from = Address(c.from.pointer) + c.from_position.x + c.from_position.y * c.from.pitch +
              c.from_position.z * work.from_slice;
  work.to = Address(c.to.pointer) + c.to_position.x + c.to_position.y * c.to.pitch +
            c.to_position.z * work.to_slice;
  work.width = c.extent.width;
  work.height = c.extent.height;
  work.depth = c.extent.depth;
  work.direction = ToDirection(c.kind);
  return work;
}

FillWork MakeFill(const FillNode& f) {
  FillWork work;
  work.to = Address(f.to);
  work.pitch = f.pitch;
  work.value = f.value;
  work.element = f.element;
  work.width = f.width;
  work.height = f.height;
  return work;
}

}  // namespace voltcheck::shim
