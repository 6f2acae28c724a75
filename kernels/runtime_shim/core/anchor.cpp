// The shared library of the room, of which the linker takes the room whole; and how a process that
// has a device of its own lends it.
#include "kernels/runtime_shim/core/hosted.h"
#include "kernels/runtime_shim/core/world.h"

extern "C" void voltcheck_shim_host(const voltcheck::shim::Host* host);
extern "C" void voltcheck_shim_host(const voltcheck::shim::Host* host) {
  voltcheck::shim::Machine& machine = voltcheck::shim::World::Get().machine;
  const std::lock_guard lock(machine.mutex);
  machine.Borrow(host);
}
