// Executable graphs: instantiation in both releases' forms, launches, updates.
#include <cstring>

#include "kernels/runtime_shim/runtime/graph_parameters.h"

using namespace voltcheck::shim;

namespace {

void Instantiate(World& world, void** exec, void* graph, std::uint64_t flags) {
  Require(exec != nullptr);
  auto instance = std::make_unique<GraphExec>();
  instance->graph = world.ResolveGraph(graph).Clone(true);
  instance->graph->Order();  // refuses circles now
  instance->flags = flags;
  *exec = world.Keep(std::move(instance));
}

/// The node of an executable graph that stands for a node of the graph it was made from.
Node* InExec(World& world, void* exec, const Node* node) {
  Require(node != nullptr);
  Node* own = world.ResolveExec(exec).graph->FindId(node->id);
  Require(own != nullptr, kInvalidValue, "the graph was not made from this node's");
  return own;
}

struct UpdateInfo {  // cudaGraphExecUpdateResultInfo of CUDA 12
  int result;
  Node* node;
  Node* from;
};

}  // namespace

extern "C" {

#if VOLTCHECK_CUDART >= 12
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  return Call(__func__, [&](World& world) { Instantiate(world, exec, graph, flags); });
}

int cudaGraphExecUpdate(void* exec, void* graph, UpdateInfo* info) {
  return Call(__func__, [&](World& world) {
    const UpdateResult result = Update(world.ResolveExec(exec), world.ResolveGraph(graph));
    if (info != nullptr) {
      *info = {result.result, result.node, nullptr};
    }
    Require(result.result == 0, kGraphUpdateFailure);
  });
}
#else
int cudaGraphInstantiate(void** exec, void* graph, Node** error_node, char* log,
                         std::size_t log_bytes) {
  return Call(__func__, [&](World& world) {
    if (error_node != nullptr) {
      *error_node = nullptr;
    }
    if (log != nullptr && log_bytes != 0) {
      *log = 0;
    }
    Instantiate(world, exec, graph, 0);
  });
}

int cudaGraphExecUpdate(void* exec, void* graph, Node** error_node, int* result_out) {
  return Call(__func__, [&](World& world) {
    const UpdateResult result = Update(world.ResolveExec(exec), world.ResolveGraph(graph));
    if (error_node != nullptr) {
      *error_node = result.node;
    }
    if (result_out != nullptr) {
      *result_out = result.result;
    }
    Require(result.result == 0, kGraphUpdateFailure);
  });
}
#endif

int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return Call(__func__, [&](World& world) { Instantiate(world, exec, graph, flags); });
}

int cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return Call(__func__, [&](World& world) { *flags = world.ResolveExec(exec).flags; });
}

int cudaGraphExecDestroy(void* exec) {
  return CallAlways(__func__,
                    [&](World& world) { world.executables.erase(&world.ResolveExec(exec)); });
}

int cudaGraphExecKernelNodeSetParams(void* exec, Node* node, const KernelNode* parameters) {
  return Call(__func__, [&](World& world) {
    auto& work = WorkOf<KernelWork>(InExec(world, exec, node));
    const bool cooperative = work.cooperative;
    work = MakeKernelWork(world, *parameters);
    work.cooperative = cooperative;
  });
}

int cudaGraphExecMemcpyNodeSetParams(void* exec, Node* node, const Copy3D* copy) {
  return Call(__func__,
              [&](World& world) { WorkOf<CopyWork>(InExec(world, exec, node)) = MakeCopy(*copy); });
}

int cudaGraphExecMemcpyNodeSetParams1D(void* exec, Node* node, void* to, const void* from,
                                       std::size_t bytes, int kind) {
  return Call(__func__, [&](World& world) {
    WorkOf<CopyWork>(InExec(world, exec, node)) = MakePlainCopy(to, from, bytes, kind);
  });
}

int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, Node* node, const void* symbol,
                                             const void* from, std::size_t bytes,
                                             std::size_t offset, int kind) {
  return Call(__func__, [&](World& world) {
    WorkOf<CopyWork>(InExec(world, exec, node)) =
        MakePlainCopy(InVariable(world, symbol, bytes, offset), from, bytes, kind);
  });
}

int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, Node* node, void* to, const void* symbol,
                                               std::size_t bytes, std::size_t offset, int kind) {
  return Call(__func__, [&](World& world) {
    WorkOf<CopyWork>(InExec(world, exec, node)) =
        MakePlainCopy(to, InVariable(world, symbol, bytes, offset), bytes, kind);
  });
}

int cudaGraphExecMemsetNodeSetParams(void* exec, Node* node, const FillNode* fill) {
  return Call(__func__,
              [&](World& world) { WorkOf<FillWork>(InExec(world, exec, node)) = MakeFill(*fill); });
}

int cudaGraphExecHostNodeSetParams(void* exec, Node* node, const HostNode* host) {
  return Call(__func__, [&](World& world) {
    WorkOf<HostWork>(InExec(world, exec, node)) = {host->function, host->data};
  });
}

int cudaGraphExecChildGraphNodeSetParams(void* exec, Node* node, void* child) {
  return Call(__func__, [&](World& world) {
    WorkOf<ChildWork>(InExec(world, exec, node)).graph =
        std::shared_ptr<Graph>(world.ResolveGraph(child).Clone(true));
  });
}

int cudaGraphExecEventRecordNodeSetEvent(void* exec, Node* node, void* event) {
  return Call(__func__, [&](World& world) {
    WorkOf<RecordWork>(InExec(world, exec, node)).event = &world.streams.ResolveEvent(event);
  });
}

int cudaGraphExecEventWaitNodeSetEvent(void* exec, Node* node, void* event) {
  return Call(__func__, [&](World& world) {
    WorkOf<WaitWork>(InExec(world, exec, node)).event = &world.streams.ResolveEvent(event);
  });
}

int cudaGraphNodeSetEnabled(void* exec, Node* node, unsigned enabled) {
  return Call(__func__, [&](World& world) { InExec(world, exec, node)->enabled = enabled != 0; });
}

int cudaGraphNodeGetEnabled(void* exec, Node* node, unsigned* enabled) {
  return Call(__func__,
              [&](World& world) { *enabled = InExec(world, exec, node)->enabled ? 1 : 0; });
}

int cudaDeviceGraphMemTrim(int device) {
  return Call(__func__, [&](World&) { Require(device == 0, kInvalidDevice); });
}

}  // extern "C"

VOLTCHECK_BOTH(cudaGraphLaunch, _ptsz, (void* exec, void* stream), (exec, stream)) {
  return Call("cudaGraphLaunch", [&](World& world) {
    world.streams.Launch(world.ResolveExec(exec), world.streams.Resolve(stream, own));
  });
}

VOLTCHECK_BOTH(cudaGraphUpload, _ptsz, (void* exec, void* stream), (exec, stream)) {
  return Call("cudaGraphUpload", [&](World& world) {
    world.ResolveExec(exec);
    world.streams.Resolve(stream, own);
  });
}

#if VOLTCHECK_CUDART >= 12
struct InstantiateParameters {  // cudaGraphInstantiateParams
  unsigned long long flags;
  void* upload_stream;
  Node* error_node;
  int result;
};
VOLTCHECK_BOTH(cudaGraphInstantiateWithParams, _ptsz,
               (void** exec, void* graph, InstantiateParameters* parameters),
               (exec, graph, parameters)) {
  return Call("cudaGraphInstantiateWithParams", [&](World& world) {
    parameters->error_node = nullptr;
    parameters->result = 0;
    Instantiate(world, exec, graph, parameters->flags);
  });
}
#endif
