// A plugin around a library that knows nothing of Voltcheck: its own CUDA runtime calls, its own
// template dispatch and <<<>>> launches, one thread for each output. All four parts of the stage
// are the library's. On the simulator the runtime's stand-in runs it (README.md has the build
// line).
//
// With -DPLANT_BUG the reduction over routes rounds to half at every step, which the gate must
// find.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "voltcheck_kernel.h"

namespace mylib {

struct GemmParams {
  const __half* input;  // [rows, K]
  __half* output;       // [rows, N]
  const unsigned* qweight;
  const unsigned* qzeros;
  const __half* scales;
  const int* row_expert;
  const int* expert_slot;
  const int* rows;
  int K, N;
  bool pair_columns;
};

// The column of the checkpoint that column n of the output comes from.
__device__ int SourceColumn(const GemmParams& p, int n) {
  return !p.pair_columns ? n : n % 2 == 0 ? n / 2 : p.N / 2 + n / 2;
}

template <int GROUP>
__global__ void Gemm(GemmParams p) {
  extern __shared__ float input[];
  const int row = blockIdx.y;
  if (row >= *p.rows) return;
  for (int k = threadIdx.x; k < p.K; k += blockDim.x) {
    input[k] = __half2float(p.input[static_cast<size_t>(row) * p.K + k]);
  }
  __syncthreads();
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= p.N) return;
  const int column = SourceColumn(p, n);
  const int c = column % 8;
  const int shift = 4 * (c % 2 == 0 ? c / 2 : c / 2 + 4);
  const size_t expert = p.expert_slot[p.row_expert[row]];
  const size_t words = p.N / 8;
  const unsigned* q = p.qweight + expert * p.K * words + column / 8;
  const unsigned* z = p.qzeros + expert * (p.K / GROUP) * words + column / 8;
  const __half* s = p.scales + expert * (p.K / GROUP) * p.N + column;
  float sum = 0;
  for (int g = 0; g < p.K / GROUP; ++g) {
    const __half scale = s[static_cast<size_t>(g) * p.N];
    const __half zero = __int2half_rn(z[g * words] >> shift & 15);
    const __half bias = __hneg(__hmul(zero, scale));
    for (int k = g * GROUP; k < (g + 1) * GROUP; ++k) {
      const __half w = __hfma(__int2half_rn(q[k * words] >> shift & 15), scale, bias);
      sum = fmaf(input[k], __half2float(w), sum);
    }
  }
  p.output[static_cast<size_t>(row) * p.N + n] = __float2half(sum);
}

__global__ void SiluMul(__half* out, const __half* in, const int* rows, int width, bool pairs) {
  const int row = blockIdx.y;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= *rows || i >= width) return;
  const __half* line = in + static_cast<size_t>(row) * 2 * width;
  const float gate = __half2float(line[pairs ? 2 * i : i]);
  const __half s = __float2half(gate / (1.0f + expf(-gate)));
  out[static_cast<size_t>(row) * width + i] = __hmul(s, line[pairs ? 2 * i + 1 : width + i]);
}

__global__ void Reduce(__half* out, const __half* rows_in, const float* weights, const int* inverse,
                       const int* rows, int top_k, int width) {
  const int token = blockIdx.y;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width) return;
#ifdef PLANT_BUG
  __half sum = __float2half(0);
#else
  float sum = 0;
#endif
  for (int j = 0; j < top_k; ++j) {
    const int row = inverse[token * top_k + j];
    if (row >= *rows) continue;
    const float y = __half2float(rows_in[static_cast<size_t>(row) * width + i]);
#ifdef PLANT_BUG
    sum = __hadd(sum, __float2half(weights[token * top_k + j] * y));
#else
    sum = fmaf(weights[token * top_k + j], y, sum);
#endif
  }
#ifdef PLANT_BUG
  out[static_cast<size_t>(token) * width + i] = sum;
#else
  out[static_cast<size_t>(token) * width + i] = __float2half(sum);
#endif
}

template <typename T>
T* At(voltcheck_address address) {
  return reinterpret_cast<T*>(address);
}

template <int GROUP>
cudaError_t LaunchGemm(const GemmParams& p, int rows, cudaStream_t stream) {
  constexpr int kThreads = 64;
  const size_t shared = sizeof(float) * p.K;
  if (shared > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        Gemm<GROUP>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    if (error != cudaSuccess) return error;
  }
  Gemm<GROUP><<<dim3((p.N + kThreads - 1) / kThreads, rows), kThreads, shared, stream>>>(p);
  return cudaGetLastError();
}

cudaError_t DispatchGemm(const GemmParams& p, int group, int rows, cudaStream_t stream) {
  switch (group) {
    case 32:
      return LaunchGemm<32>(p, rows, stream);
    case 64:
      return LaunchGemm<64>(p, rows, stream);
    case 128:
      return LaunchGemm<128>(p, rows, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

GemmParams Params(const voltcheck_stage& stage, const voltcheck_weights& weights,
                  voltcheck_address input, voltcheck_address output) {
  GemmParams p{};
  p.input = At<const __half>(input);
  p.output = At<__half>(output);
  p.qweight = At<const unsigned>(weights.qweight);
  p.qzeros = At<const unsigned>(weights.qzeros);
  p.scales = At<const __half>(weights.scales);
  p.row_expert = At<const int>(stage.row_expert);
  p.expert_slot = At<const int>(stage.expert_slot);
  p.rows = At<const int>(stage.rows);
  return p;
}

cudaError_t RunStage(const voltcheck_stage& stage, cudaStream_t stream) {
  const voltcheck_case& c = *stage.shape;
  const unsigned slots = c.slots;
  const auto blocks = [](int n) { return static_cast<unsigned>((n + 127) / 128); };
  GemmParams w13 = Params(stage, stage.w13_weights, stage.permuted, stage.w13);
  w13.K = c.hidden;
  w13.N = 2 * c.intermediate;
  w13.pair_columns = c.interleaved != 0;
  cudaError_t error = DispatchGemm(w13, c.group, c.slots, stream);
  if (error != cudaSuccess) return error;
  SiluMul<<<dim3(blocks(c.intermediate), slots), 128, 0, stream>>>(
      At<__half>(stage.silu), At<const __half>(stage.w13), w13.rows, c.intermediate,
      c.interleaved != 0);
  GemmParams w2 = Params(stage, stage.w2_weights, stage.silu, stage.w2);
  w2.K = c.intermediate;
  w2.N = c.hidden;
  error = DispatchGemm(w2, c.group, c.slots, stream);
  if (error != cudaSuccess) return error;
  Reduce<<<dim3(blocks(c.hidden), static_cast<unsigned>(c.tokens)), 128, 0, stream>>>(
      At<__half>(stage.output), At<const __half>(stage.w2), At<const float>(stage.topk_weights),
      At<const int>(stage.inverse), w2.rows, c.top_k, c.hidden);
  error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaStreamSynchronize(stream);
}

}  // namespace mylib

namespace {

const voltcheck_device* device = nullptr;  // for error reports alone

int Prepare(const voltcheck_device* d, const voltcheck_stage*, void** state) {
  device = d;
  *state = nullptr;
  return 0;
}

int Run(void*, const voltcheck_stage* stage) {
  const cudaError_t error = mylib::RunStage(*stage, nullptr);
  if (error == cudaSuccess) return 0;
  device->report(device->self, cudaGetErrorString(error));
  return 1;
}

void DeclareOrder(const voltcheck_case*, uint32_t, voltcheck_order* order) {
  order->order = VOLTCHECK_ORDER_FMA;
}

constexpr uint32_t kWhole = VOLTCHECK_W13 | VOLTCHECK_SILU | VOLTCHECK_W2 | VOLTCHECK_OUTPUT;
constexpr voltcheck_step kSteps[] = {{kWhole, kWhole, Run}};
constexpr voltcheck_plugin kPlugin = {sizeof(voltcheck_plugin),
                                      VOLTCHECK_KERNEL_ABI,
                                      "mylib, one thread an output",
                                      "0.9",
                                      0,
                                      1,
                                      kSteps,
                                      nullptr,
                                      DeclareOrder,
                                      Prepare,
                                      nullptr};

}  // namespace

extern "C" const voltcheck_plugin* voltcheck_plugin_v1(void) { return &kPlugin; }
