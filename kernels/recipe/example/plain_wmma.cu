// A grouped AWQ GEMM in the plainest style there is, as a project that never heard of Voltcheck
// might have it: dequantise all weights to half once, then multiply with the WMMA API, one warp a
// block.
//
//   nvcc -ptx -arch=compute_70 -lineinfo -o plain_wmma.ptx plain_wmma.cu
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// One thread per packed word: eight columns of one row of one expert.
// gridDim = (ceil(N / 8 / 64), K, experts), blockDim = 64
extern "C" __global__ void dequantize_awq(__half* out, const unsigned* qweight,
                                          const unsigned* qzeros, const __half* scales, int K,
                                          int N, int group_size, int pair_columns) {
  const int order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= N / 8) return;
  size_t k = blockIdx.y, e = blockIdx.z;
  size_t g = e * (K / group_size) + k / group_size;
  unsigned q = qweight[(e * K + k) * (N / 8) + word];
  unsigned z = qzeros[g * (N / 8) + word];
  for (int i = 0; i < 8; i++) {
    int col = word * 8 + order[i];
    __half s = scales[g * N + col];
    __half bias = __hneg(__hmul(__int2half_rn((z >> 4 * i) & 15), s));
    // Gate and up columns side by side, if asked for.
    int to = !pair_columns ? col : col < N / 2 ? 2 * col : 2 * (col - N / 2) + 1;
    out[(e * K + k) * N + to] = __hfma(__int2half_rn((q >> 4 * i) & 15), s, bias);
  }
}

// C[rows of the group] = A * W[expert of the group], 16 columns per block.
// gridDim = (ceil(N / 16), groups), blockDim = 32
extern "C" __global__ void group_gemm_wmma(__half* C, const __half* A, const __half* W,
                                           const int* group_start, const int* group_expert,
                                           const int* expert_slot, int K, int N) {
  __shared__ __half a_tile[16 * 16];
  __shared__ __half b_tile[16 * 16];
  __shared__ float c_tile[16 * 16];
  int begin = group_start[blockIdx.y], end = group_start[blockIdx.y + 1];
  if (begin == end) return;
  const __half* w = W + (size_t)expert_slot[group_expert[blockIdx.y]] * K * N;
  int n0 = blockIdx.x * 16;

  for (int m0 = begin; m0 < end; m0 += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
      for (int i = threadIdx.x; i < 256; i += 32) {
        int r = i / 16, c = i % 16;
        a_tile[i] = m0 + r < end ? A[(size_t)(m0 + r) * K + k0 + c] : __float2half(0.0f);
        b_tile[i] = n0 + c < N ? w[(size_t)(k0 + r) * N + n0 + c] : __float2half(0.0f);
      }
      __syncwarp();
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
      wmma::load_matrix_sync(a, a_tile, 16);
      wmma::load_matrix_sync(b, b_tile, 16);
      wmma::mma_sync(acc, a, b, acc);
      __syncwarp();
    }
    wmma::store_matrix_sync(c_tile, acc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) {
      int r = i / 16, c = i % 16;
      if (m0 + r < end && n0 + c < N) C[(size_t)(m0 + r) * N + n0 + c] = __float2half(c_tile[i]);
    }
    __syncwarp();
  }
}
