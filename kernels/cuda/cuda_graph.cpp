#include "kernels/cuda/cuda_graph.h"

#include <utility>

namespace voltcheck::cuda {

CudaGraph::CudaGraph(CudaContext& context, std::string kernels, const std::function<void()>& record)
    : context_(context), kernels_(std::move(kernels)) {
  const DriverApi& api = context_.api();
  context_.Enter();
  if (!context_.Survives(api.StreamBeginCapture(context_.stream(), kCaptureThreadLocal),
                         "begin of a capture", kernels_)) {
    return;
  }
  CuGraph graph = nullptr;
  try {
    record();
  } catch (...) {
    // The stream must leave capture mode before anyone else can use it.
    if (api.StreamEndCapture(context_.stream(), &graph) == kSuccess && graph != nullptr) {
      api.GraphDestroy(graph);
    }
    throw;
  }
  if (!context_.Survives(api.StreamEndCapture(context_.stream(), &graph), "end of a capture",
                         kernels_)) {
    return;
  }
  const CuResult instantiated = api.GraphInstantiate(&executable_, graph, 0);
  api.GraphDestroy(graph);
  context_.Survives(instantiated, "instantiation of a graph", kernels_);
}

CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) {
    context_.EnterQuietly();
    context_.api().GraphExecDestroy(executable_);
  }
}

void CudaGraph::Replay() {
  if (context_.faulted()) {
    return;
  }
  context_.Enter();
  const DriverApi& api = context_.api();
  if (context_.Survives(api.GraphLaunch(executable_, context_.stream()), "replay of a graph",
                        kernels_)) {
    context_.Survives(api.StreamSynchronize(context_.stream()), "replay of a graph", kernels_);
  }
}

}  // namespace voltcheck::cuda
