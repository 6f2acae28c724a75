#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_GRAPH_PARAMETERS_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_GRAPH_PARAMETERS_H_

#include "kernels/runtime_shim/runtime/abi.h"

namespace voltcheck::shim {

struct AllocateNode {  // cudaMemAllocNodeParams
  char pool_properties[88];
  const void* access;
  std::size_t access_count;
  std::size_t bytes;
  void* pointer;
};

/// The node's work of one kind. Throws Refusal (kInvalidValue) for another.
template <typename Kind>
Kind& WorkOf(Node* node) {
  Require(node != nullptr);
  auto* work = std::get_if<Kind>(&node->work);
  Require(work != nullptr, kInvalidValue, "the node is of another kind");
  return *work;
}

inline KernelWork MakeKernelWork(World& world, const KernelNode& node) {
  KernelWork work =
      MakeKernelWork(world.registry.FindFunction(node.function), node.function, node.grid,
                     node.block, node.shared, node.parameters, node.extra, false);
  world.machine.Check(work);
  return work;
}

inline CopyWork MakePlainCopy(void* to, const void* from, std::size_t bytes, int kind) {
  CopyWork work;
  work.to = Address(to);
  work.from = Address(from);
  work.width = bytes;
  work.direction = ToDirection(kind);
  return work;
}

inline void* InVariable(World& world, const void* symbol, std::size_t bytes, std::size_t offset) {
  const simulator::ModuleVariable variable = world.registry.FindVariable(symbol);
  Require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return reinterpret_cast<void*>(variable.address + offset);
}

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_GRAPH_PARAMETERS_H_
