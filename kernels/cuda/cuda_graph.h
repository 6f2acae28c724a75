#ifndef VOLTCHECK_KERNELS_CUDA_CUDA_GRAPH_H_
#define VOLTCHECK_KERNELS_CUDA_CUDA_GRAPH_H_

#include <functional>
#include <string>

#include "kernels/cuda/cuda_context.h"
#include "kernels/device.h"

namespace voltcheck::cuda {

/// A CUDA graph, captured from the context's stream as production code captures its own.
class CudaGraph : public kernels::LaunchSequence {
 public:
  /// `record` issues the launches on the context's stream. `kernels` names them for findings.
  CudaGraph(CudaContext& context, std::string kernels, const std::function<void()>& record);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void Replay() override;

 private:
  CudaContext& context_;
  std::string kernels_;
  CuGraphExec executable_ = nullptr;
};

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_CUDA_GRAPH_H_
