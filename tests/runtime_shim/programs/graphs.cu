// Streams that wait for each other by events, stream capture, graphs launched with changed inputs,
// updated, and made by hand.
#include "check.h"

__device__ int counter;

__global__ void Scale(float* y, const float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = factor * x[i];
  }
}

__global__ void Add(float* y, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a[i] + b[i];
  }
}

__global__ void Count() { atomicAdd(&counter, 1); }

void HostStep(void* data) { *static_cast<int*>(data) += 1; }

int main() {
  constexpr int kCount = 1000;
  constexpr int kBlocks = (kCount + 127) / 128;
  float* host = nullptr;
  CHECK(cudaMallocHost(&host, kCount * sizeof(float)));
  float *x, *a, *b, *y;
  for (float** p : {&x, &a, &b, &y}) {
    CHECK(cudaMalloc(p, kCount * sizeof(float)));
  }
  cudaStream_t main_stream, side;
  CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, -1));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  int steps = 0;

  CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemcpyAsync(x, host, kCount * sizeof(float), cudaMemcpyHostToDevice, main_stream));
  CHECK(cudaEventRecord(fork, main_stream));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  Scale<<<kBlocks, 128, 0, main_stream>>>(a, x, 2.f, kCount);
  Scale<<<kBlocks, 128, 0, side>>>(b, x, 3.f, kCount);
  Count<<<1, 1, 0, side>>>();
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(main_stream, join, 0));
  Add<<<kBlocks, 128, 0, main_stream>>>(y, a, b, kCount);
  CHECK(cudaLaunchHostFunc(main_stream, HostStep, &steps));
  cudaStreamCaptureStatus capturing;
  CHECK(cudaStreamIsCapturing(side, &capturing));
  std::printf("side captures %d\n", capturing == cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(main_stream, &graph));
  std::size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  std::printf("nodes %zu edges %zu\n", nodes, edges);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  int zero = 0;
  CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof(zero)));

  for (int round = 0; round < 3; ++round) {
    std::vector<float> want(kCount), got(kCount);
    for (int i = 0; i < kCount; ++i) {
      host[i] = static_cast<float>(Mix(i + round) % 1000);
      want[i] = 5 * host[i];
    }
    CHECK(cudaGraphLaunch(exec, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    CHECK(cudaMemcpy(got.data(), y, kCount * sizeof(float), cudaMemcpyDeviceToHost));
    Compare("graph", got, want);
  }
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
  std::printf("counted %d, host steps %d\n", count, steps);

  // One kernel's factor, by its node.
  std::vector<cudaGraphNode_t> all(nodes);
  CHECK(cudaGraphGetNodes(graph, all.data(), &nodes));
  for (cudaGraphNode_t node : all) {
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) {
      continue;
    }
    cudaKernelNodeParams parameters;
    CHECK(cudaGraphKernelNodeGetParams(node, &parameters));
    if (parameters.func == reinterpret_cast<void*>(Scale) &&
        *static_cast<float*>(parameters.kernelParams[2]) == 2.f) {
      float factor = 7.f;
      parameters.kernelParams[2] = &factor;
      CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
    }
  }
  CHECK(cudaGraphLaunch(exec, main_stream));
  CHECK(cudaStreamSynchronize(main_stream));
  auto y_host = Download(y, kCount);
  std::vector<float> want(kCount);
  for (int i = 0; i < kCount; ++i) {
    want[i] = 10 * host[i];
  }
  Compare("node set", y_host, want);

  // A graph by hand: memset, kernel, copy, and a clone of it as a child.
  cudaGraph_t made, outer;
  CHECK(cudaGraphCreate(&made, 0));
  cudaGraphNode_t fill, run, copy, child;
  cudaMemsetParams set = {};
  set.dst = a;
  set.elementSize = 4;
  set.value = 0x3f800000;
  set.width = kCount;
  set.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, made, nullptr, 0, &set));
  float factor = 4.f;
  int n = kCount;
  void* arguments[] = {&b, &a, &factor, &n};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(Scale);
  kernel.gridDim = dim3(kBlocks);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&run, made, &fill, 1, &kernel));
  std::vector<float> out(kCount);
  CHECK(cudaGraphAddMemcpyNode1D(&copy, made, &run, 1, out.data(), b, kCount * sizeof(float),
                                 cudaMemcpyDeviceToHost));
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, made));
  cudaGraphExec_t made_exec;
  CHECK(cudaGraphInstantiateWithFlags(&made_exec, outer, 0));
  CHECK(cudaGraphLaunch(made_exec, side));
  CHECK(cudaStreamSynchronize(side));
  Compare("by hand", out, std::vector<float>(kCount, 4.f));

  // Capture again with another factor and update the executable graph.
  CHECK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
  Scale<<<kBlocks, 128, 0, side>>>(y, x, 11.f, kCount);
  cudaGraph_t first;
  CHECK(cudaStreamEndCapture(side, &first));
  cudaGraphExec_t first_exec;
  CHECK(cudaGraphInstantiateWithFlags(&first_exec, first, 0));
  CHECK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
  Scale<<<kBlocks, 128, 0, side>>>(y, x, 13.f, kCount);
  cudaGraph_t second;
  CHECK(cudaStreamEndCapture(side, &second));
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t blamed;
  CHECK(cudaGraphExecUpdate(first_exec, second, &blamed, &result));
  CHECK(cudaGraphLaunch(first_exec, side));
  CHECK(cudaStreamSynchronize(side));
  for (int i = 0; i < kCount; ++i) {
    want[i] = 13 * host[i];
  }
  Compare("updated", Download(y, kCount), want);
  std::printf("update of another shape: %s\n",
              cudaGetErrorName(cudaGraphExecUpdate(first_exec, graph, &blamed, &result)));
  cudaGetLastError();

  // What a capture forbids.
  CHECK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
  Count<<<1, 1, 0, side>>>();
  std::printf("synchronised in a capture: %s\n", cudaGetErrorName(cudaStreamSynchronize(side)));
  cudaGraph_t broken = nullptr;
  std::printf("its end: %s\n", cudaGetErrorName(cudaStreamEndCapture(side, &broken)));
  cudaGetLastError();
  for (cudaGraphExec_t e : {exec, made_exec, first_exec}) {
    CHECK(cudaGraphExecDestroy(e));
  }
  for (cudaGraph_t g : {graph, made, outer, first, second}) {
    CHECK(cudaGraphDestroy(g));
  }
  CHECK(cudaStreamDestroy(main_stream));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaDeviceSynchronize());
  return 0;
}
