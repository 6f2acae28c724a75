// Graphs made by hand: their nodes, what the nodes do, how they depend.
#include <algorithm>
#include <cstring>

#include "kernels/runtime_shim/runtime/graph_parameters.h"

using namespace voltcheck::shim;

namespace {

std::vector<Node*> Before(Node** nodes, std::size_t count) {
  Require(count == 0 || nodes != nullptr);
  return {nodes, nodes + count};
}

template <typename Make>
int AddNode(const char* name, Node** node, void* graph, Node** before, std::size_t count,
            const Make& make) {
  return Call(name, [&](World& world) {
    Require(node != nullptr);
    Graph& g = world.ResolveGraph(graph);
    const std::vector<Node*> after = Before(before, count);
    for (const Node* other : after) {
      Require(g.Holds(other), kInvalidValue, "a node of another graph");
    }
    *node = g.Add(make(world), after);
  });
}

/// Copies handles out as CUDA does: all of them, or as many as fit where the caller gave room.
void GiveNodes(const std::vector<Node*>& nodes, Node** out, std::size_t* count) {
  Require(count != nullptr);
  if (out != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      out[i] = i < nodes.size() ? nodes[i] : nullptr;
    }
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
}

}  // namespace

extern "C" {

int cudaGraphCreate(void** graph, unsigned flags) {
  return Call(__func__, [&](World& world) {
    Require(graph != nullptr && flags == 0);
    *graph = world.Keep(std::make_unique<Graph>());
  });
}

int cudaGraphDestroy(void* graph) {
  return CallAlways(__func__,
                    [&](World& world) { world.graphs.erase(&world.ResolveGraph(graph)); });
}

int cudaGraphClone(void** clone, void* graph) {
  return Call(__func__,
              [&](World& world) { *clone = world.Keep(world.ResolveGraph(graph).Clone(false)); });
}

int cudaGraphNodeFindInClone(Node** node, const Node* original, void* clone) {
  return Call(__func__, [&](World& world) {
    *node = world.ResolveGraph(clone).FindOrigin(original->id);
    Require(*node != nullptr);
  });
}

int cudaGraphAddKernelNode(Node** node, void* graph, Node** before, std::size_t count,
                           const KernelNode* parameters) {
  return AddNode(__func__, node, graph, before, count,
                 [&](World& world) { return MakeKernelWork(world, *parameters); });
}

int cudaGraphAddMemcpyNode(Node** node, void* graph, Node** before, std::size_t count,
                           const Copy3D* copy) {
  return AddNode(__func__, node, graph, before, count, [&](World&) { return MakeCopy(*copy); });
}

int cudaGraphAddMemcpyNode1D(Node** node, void* graph, Node** before, std::size_t count, void* to,
                             const void* from, std::size_t bytes, int kind) {
  return AddNode(__func__, node, graph, before, count,
                 [&](World&) { return MakePlainCopy(to, from, bytes, kind); });
}

int cudaGraphAddMemcpyNodeToSymbol(Node** node, void* graph, Node** before, std::size_t count,
                                   const void* symbol, const void* from, std::size_t bytes,
                                   std::size_t offset, int kind) {
  return AddNode(__func__, node, graph, before, count, [&](World& world) {
    return MakePlainCopy(InVariable(world, symbol, bytes, offset), from, bytes, kind);
  });
}

int cudaGraphAddMemcpyNodeFromSymbol(Node** node, void* graph, Node** before, std::size_t count,
                                     void* to, const void* symbol, std::size_t bytes,
                                     std::size_t offset, int kind) {
  return AddNode(__func__, node, graph, before, count, [&](World& world) {
    return MakePlainCopy(to, InVariable(world, symbol, bytes, offset), bytes, kind);
  });
}

int cudaGraphAddMemsetNode(Node** node, void* graph, Node** before, std::size_t count,
                           const FillNode* fill) {
  return AddNode(__func__, node, graph, before, count, [&](World&) { return MakeFill(*fill); });
}

int cudaGraphAddHostNode(Node** node, void* graph, Node** before, std::size_t count,
                         const HostNode* host) {
  return AddNode(__func__, node, graph, before, count, [&](World&) {
    return HostWork{host->function, host->data};
  });
}

int cudaGraphAddChildGraphNode(Node** node, void* graph, Node** before, std::size_t count,
                               void* child) {
  return AddNode(__func__, node, graph, before, count, [&](World& world) {
    return ChildWork{std::shared_ptr<Graph>(world.ResolveGraph(child).Clone(false))};
  });
}

int cudaGraphAddEmptyNode(Node** node, void* graph, Node** before, std::size_t count) {
  return AddNode(__func__, node, graph, before, count, [&](World&) { return EmptyWork{}; });
}

int cudaGraphAddEventRecordNode(Node** node, void* graph, Node** before, std::size_t count,
                                void* event) {
  return AddNode(__func__, node, graph, before, count,
                 [&](World& world) { return RecordWork{&world.streams.ResolveEvent(event)}; });
}

int cudaGraphAddEventWaitNode(Node** node, void* graph, Node** before, std::size_t count,
                              void* event) {
  return AddNode(__func__, node, graph, before, count,
                 [&](World& world) { return WaitWork{&world.streams.ResolveEvent(event)}; });
}

int cudaGraphAddMemAllocNode(Node** node, void* graph, Node** before, std::size_t count,
                             AllocateNode* parameters) {
  return AddNode(__func__, node, graph, before, count, [&](World& world) {
    const std::uint64_t address = world.memory.Allocate(parameters->bytes, MemoryKind::kDevice);
    parameters->pointer = reinterpret_cast<void*>(address);
    return AllocateWork{address, parameters->bytes};
  });
}

int cudaGraphAddMemFreeNode(Node** node, void* graph, Node** before, std::size_t count,
                            void* pointer) {
  return AddNode(__func__, node, graph, before, count,
                 [&](World&) { return FreeWork{Address(pointer)}; });
}

int cudaGraphDestroyNode(Node* node) {
  return Call(__func__, [&](World&) { node->graph->Remove(node); });
}

int cudaGraphAddDependencies(void* graph, Node** from, Node** to, std::size_t count) {
  return Call(__func__, [&](World& world) {
    const Graph& g = world.ResolveGraph(graph);
    for (std::size_t i = 0; i < count; ++i) {
      Require(g.Holds(from[i]) && g.Holds(to[i]));
      to[i]->after.push_back(from[i]);
    }
  });
}

int cudaGraphRemoveDependencies(void* graph, Node** from, Node** to, std::size_t count) {
  return Call(__func__, [&](World& world) {
    const Graph& g = world.ResolveGraph(graph);
    for (std::size_t i = 0; i < count; ++i) {
      Require(g.Holds(from[i]) && g.Holds(to[i]));
      Require(std::erase(to[i]->after, from[i]) != 0);
    }
  });
}

int cudaGraphGetNodes(void* graph, Node** nodes, std::size_t* count) {
  return Call(__func__, [&](World& world) {
    std::vector<Node*> all;
    for (const auto& node : world.ResolveGraph(graph).nodes) {
      all.push_back(node.get());
    }
    GiveNodes(all, nodes, count);
  });
}

int cudaGraphGetRootNodes(void* graph, Node** nodes, std::size_t* count) {
  return Call(__func__, [&](World& world) {
    std::vector<Node*> roots;
    for (const auto& node : world.ResolveGraph(graph).nodes) {
      if (node->after.empty()) {
        roots.push_back(node.get());
      }
    }
    GiveNodes(roots, nodes, count);
  });
}

int cudaGraphGetEdges(void* graph, Node** from, Node** to, std::size_t* count) {
  return Call(__func__, [&](World& world) {
    std::vector<Node*> tails;
    std::vector<Node*> heads;
    for (const auto& node : world.ResolveGraph(graph).nodes) {
      for (Node* before : node->after) {
        tails.push_back(before);
        heads.push_back(node.get());
      }
    }
    std::size_t same = *count;
    GiveNodes(tails, from, count);
    GiveNodes(heads, to, &same);
  });
}

int cudaGraphNodeGetDependencies(Node* node, Node** nodes, std::size_t* count) {
  return Call(__func__, [&](World&) { GiveNodes(node->after, nodes, count); });
}

int cudaGraphNodeGetDependentNodes(Node* node, Node** nodes, std::size_t* count) {
  return Call(__func__, [&](World&) {
    std::vector<Node*> dependent;
    for (const auto& other : node->graph->nodes) {
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) {
        dependent.push_back(other.get());
      }
    }
    GiveNodes(dependent, nodes, count);
  });
}

int cudaGraphNodeGetType(Node* node, int* type) {
  return Call(__func__, [&](World&) { *type = TypeOf(node->work); });
}

int cudaGraphKernelNodeGetParams(Node* node, KernelNode* parameters) {
  return Call(__func__, [&](World&) {
    auto& work = WorkOf<KernelWork>(node);
    node->pointers.clear();
    for (auto& argument : work.arguments) {
      node->pointers.push_back(argument.data());
    }
    const auto dim = [](const voltcheck::kernels::Dim3& d) { return Dim{d.x, d.y, d.z}; };
    *parameters = {work.symbol, dim(work.grid),        dim(work.block),
                   work.shared, node->pointers.data(), nullptr};
  });
}

int cudaGraphKernelNodeSetParams(Node* node, const KernelNode* parameters) {
  return Call(__func__,
              [&](World& world) { WorkOf<KernelWork>(node) = MakeKernelWork(world, *parameters); });
}

int cudaGraphMemcpyNodeGetParams(Node* node, Copy3D* copy) {
  return Call(__func__, [&](World&) {
    const auto& work = WorkOf<CopyWork>(node);
    const auto pitched = [&work](std::uint64_t address, std::uint64_t pitch, std::uint64_t slice) {
      return Pitched{reinterpret_cast<void*>(address), pitch, work.width,
                     pitch == 0 ? work.height : slice / pitch};
    };
    *copy = {};
    copy->from = pitched(work.from, work.from_pitch, work.from_slice);
    copy->to = pitched(work.to, work.to_pitch, work.to_slice);
    copy->extent = {work.width, work.height, work.depth};
    copy->kind = static_cast<int>(work.direction);
  });
}

int cudaGraphMemcpyNodeSetParams(Node* node, const Copy3D* copy) {
  return Call(__func__, [&](World&) { WorkOf<CopyWork>(node) = MakeCopy(*copy); });
}

int cudaGraphMemcpyNodeSetParams1D(Node* node, void* to, const void* from, std::size_t bytes,
                                   int kind) {
  return Call(__func__,
              [&](World&) { WorkOf<CopyWork>(node) = MakePlainCopy(to, from, bytes, kind); });
}

int cudaGraphMemsetNodeGetParams(Node* node, FillNode* fill) {
  return Call(__func__, [&](World&) {
    const auto& work = WorkOf<FillWork>(node);
    *fill = {reinterpret_cast<void*>(work.to),
             work.pitch,
             work.value,
             work.element,
             work.width,
             work.height};
  });
}

int cudaGraphMemsetNodeSetParams(Node* node, const FillNode* fill) {
  return Call(__func__, [&](World&) { WorkOf<FillWork>(node) = MakeFill(*fill); });
}

int cudaGraphHostNodeGetParams(Node* node, HostNode* host) {
  return Call(__func__, [&](World&) {
    const auto& work = WorkOf<HostWork>(node);
    *host = {work.function, work.data};
  });
}

int cudaGraphHostNodeSetParams(Node* node, const HostNode* host) {
  return Call(__func__, [&](World&) { WorkOf<HostWork>(node) = {host->function, host->data}; });
}

int cudaGraphChildGraphNodeGetGraph(Node* node, void** graph) {
  return Call(__func__, [&](World&) { *graph = WorkOf<ChildWork>(node).graph.get(); });
}

int cudaGraphEventRecordNodeGetEvent(Node* node, void** event) {
  return Call(__func__, [&](World&) { *event = WorkOf<RecordWork>(node).event; });
}
int cudaGraphEventRecordNodeSetEvent(Node* node, void* event) {
  return Call(__func__, [&](World& world) {
    WorkOf<RecordWork>(node).event = &world.streams.ResolveEvent(event);
  });
}
int cudaGraphEventWaitNodeGetEvent(Node* node, void** event) {
  return Call(__func__, [&](World&) { *event = WorkOf<WaitWork>(node).event; });
}
int cudaGraphEventWaitNodeSetEvent(Node* node, void* event) {
  return Call(__func__, [&](World& world) {
    WorkOf<WaitWork>(node).event = &world.streams.ResolveEvent(event);
  });
}

/// Hints: accepted, and without effect.
int cudaGraphKernelNodeSetAttribute(Node* node, int, const void*) {
  return Call(__func__, [&](World&) { WorkOf<KernelWork>(node); });
}
int cudaGraphKernelNodeGetAttribute(Node* node, int, void* value) {
  return Call(__func__, [&](World&) {
    WorkOf<KernelWork>(node);
    std::memset(value, 0, 64);
  });
}
int cudaGraphKernelNodeCopyAttributes(Node* from, Node* to) {
  return Call(__func__, [&](World&) {
    WorkOf<KernelWork>(from);
    WorkOf<KernelWork>(to);
  });
}

}  // extern "C"
