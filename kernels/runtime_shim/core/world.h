#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_WORLD_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_WORLD_H_

#include <map>
#include <memory>
#include <string>

#include "kernels/runtime_shim/core/graph.h"
#include "kernels/runtime_shim/core/machine.h"
#include "kernels/runtime_shim/core/memory.h"
#include "kernels/runtime_shim/core/registry.h"
#include "kernels/runtime_shim/core/streams.h"

namespace voltcheck::shim {

/// Everything behind the two libraries: one process, one device, one context.
struct World {
  static World& Get();

  Machine& machine = Machine::Get();
  Memory memory{machine};
  Streams streams{machine, memory};
  Registry registry{machine};
  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<GraphExec*, std::unique_ptr<GraphExec>> executables;

  /// The live graph behind a handle. Throws Refusal (kInvalidValue).
  Graph& ResolveGraph(void* handle);
  GraphExec& ResolveExec(void* handle);
  Graph* Keep(std::unique_ptr<Graph> graph);
  GraphExec* Keep(std::unique_ptr<GraphExec> exec);
  void Reset();
};

/// How a call of the runtime treats errors.
enum class CallKind {
  kPlain,      ///< returns the device's fault if there is one
  kFaultless,  ///< works after a fault, too
};

/// The status of the calling thread's last failed call, which cudaGetLastError takes.
int TakeLastError();
int PeekLastError();

/// Ends a call: tells people why where VOLTCHECK_VERBOSE asks for it, and remembers the error.
int Finish(const char* function, int status, const std::string& why, bool remember);

/// Runs one call of the API under the machine's lock, and turns what it throws into a status.
/// `remember`: the runtime keeps the error for cudaGetLastError, the driver does not.
template <typename Body>
int CallWith(const char* function, CallKind kind, bool remember, const Body& body) {
  World& world = World::Get();
  const std::lock_guard lock(world.machine.mutex);
  if (kind == CallKind::kPlain && world.machine.fault() != kSuccess) {
    world.machine.FlushOutput();
    return Finish(function, world.machine.fault(), "", remember);
  }
  try {
    body(world);
    return kSuccess;
  } catch (const Refusal& refusal) {
    return Finish(function, refusal.status(), refusal.why(), remember);
  } catch (const std::bad_alloc&) {
    return Finish(function, kOutOfMemory, "", remember);
  } catch (const std::exception& error) {
    return Finish(function, kInvalidValue, error.what(), remember);
  }
}

/// Prints that the stand-in lacks a function and returns kNotSupported.
int Missing(const char* function);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_WORLD_H_
