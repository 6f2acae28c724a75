#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_GRAPH_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/runtime_shim/core/machine.h"
#include "kernels/runtime_shim/core/memory.h"

namespace voltcheck::shim {

struct Event;
struct Graph;

struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct EmptyWork {};
struct WaitWork {
  Event* event = nullptr;
};
struct RecordWork {
  Event* event = nullptr;
};
struct AllocateWork {
  std::uint64_t address = 0;  ///< reserved when the node is made, as CUDA fixes it then
  std::uint64_t bytes = 0;
};
struct FreeWork {
  std::uint64_t address = 0;
};

/// What a stream or a graph's node does, in the order of TypeOf's numbers.
using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, ChildWork, EmptyWork, WaitWork,
                          RecordWork, AllocateWork, FreeWork>;
/// The number of cudaGraphNodeType.
int TypeOf(const Work& work);

struct Node {
  Work work;
  std::vector<Node*> after;  ///< what must be done before
  Graph* graph = nullptr;
  std::uint64_t id = 0;      ///< kept by instantiation, new in a clone
  std::uint64_t origin = 0;  ///< in a clone: the id it was cloned from
  bool enabled = true;
  std::vector<void*> pointers;  ///< to a kernel's arguments, for those who ask for them
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;  ///< in the order they were made

  Node* Add(Work work, const std::vector<Node*>& after);
  /// A copy; with `instance` its nodes keep their ids, so that the original's handles find them.
  std::unique_ptr<Graph> Clone(bool instance) const;
  Node* FindId(std::uint64_t id) const;
  Node* FindOrigin(std::uint64_t id) const;
  bool Holds(const Node* node) const;
  void Remove(const Node* node);
  /// Every node behind those it waits for, otherwise in the order they were made. Throws Refusal
  /// (kInvalidValue) for a circle.
  std::vector<Node*> Order() const;
};

struct GraphExec {
  std::unique_ptr<Graph> graph;
  std::uint64_t flags = 0;
};

/// What cudaGraphExecUpdate says about a graph: numbers of cudaGraphExecUpdateResult.
struct UpdateResult {
  int result = 0;
  Node* node = nullptr;  ///< of the new graph, where one is to blame
};
/// Takes the parameters of `graph` where it has the same shape as `exec`.
UpdateResult Update(GraphExec& exec, const Graph& graph);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_GRAPH_H_
