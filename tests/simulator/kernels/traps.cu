// Whole kernels around the instructions that simulators get wrong, as nvcc compiles them.
#include <cuda_fp16.h>
#include <mma.h>

#include <cassert>
#include <cstdio>

extern "C" {

// One result a thread; four warps a block.
__global__ void permute(const unsigned* a, const unsigned* b, unsigned* out) {
  const int i = threadIdx.x;
  unsigned replicated;
  asm("prmt.b32 %0, %1, %2, 0xba98;" : "=r"(replicated) : "r"(a[i]), "r"(b[i]));
  out[i] = __byte_perm(a[i], b[i], b[i] & 0x7777) ^ replicated;
}

__global__ void shuffle(const unsigned* a, unsigned* out) {
  const int i = threadIdx.x;
  const unsigned up = __shfl_up_sync(0xffffffffu, a[i], 3, 16);
  const unsigned down = __shfl_down_sync(0xffffffffu, a[i], 5);
  const unsigned across = __shfl_xor_sync(0xffffffffu, a[i], 9);
  const unsigned from = __shfl_sync(0xffffffffu, a[i], static_cast<int>(a[i] % 40), 8);
  unsigned outside;
  asm volatile(
      "{ .reg .pred p; .reg .b32 r; shfl.sync.down.b32 r|p, %1, 7, 31, -1; selp.u32 %0, 1, 0, p; }"
      : "=r"(outside)
      : "r"(a[i]));
  out[i] = up + 3 * down + 5 * across + 7 * from + 11 * outside;
}

__global__ void half_pairs(const __half2* a, const __half2* b, __half2* out) {
  const int i = threadIdx.x;
  out[i] = __hadd2(a[i], b[i]);
  out[128 + i] = __hsub2(a[i], b[i]);
  out[256 + i] = __hmul2(a[i], b[i]);
  out[384 + i] = __hfma2(a[i], b[i], a[i]);
  out[512 + i] = __hneg2(a[i]);
  out[640 + i] = __habs2(b[i]);
  out[768 + i] = __hge2(a[i], b[i]);
  out[896 + i] = __lowhigh2highlow(a[i]);
}

__global__ void fused(const float* a, const float* b, float* out) {
  const int i = threadIdx.x;
  out[i] = a[i] * b[i] - 1.0f;                             // nvcc fuses this
  out[128 + i] = __fadd_rn(__fmul_rn(a[i], b[i]), -1.0f);  // and may not fuse this
}

__global__ void logic(const unsigned* a, const unsigned* b, unsigned* out) {
  const int i = threadIdx.x;
  unsigned table;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(table) : "r"(a[i]), "r"(b[i]), "r"(0xff00ff00u));
  unsigned apart;  // newer toolkits emit this for byte-wise comparisons
  asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(apart) : "r"(a[i]), "r"(b[i]), "r"(0));
  unsigned sum;
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a[i]), "r"(b[i]), "r"(7));
  out[128 + i] = apart;
  out[256 + i] = sum;
  out[i] = table + __funnelshift_l(a[i], b[i], a[i] & 63) + __funnelshift_rc(a[i], b[i], b[i] & 63);
}

__global__ void atomics(__half2* pairs, double* wide, float* narrow, unsigned* out) {
  __shared__ double shared_wide;
  __shared__ __half2 shared_pair;
  __shared__ unsigned order;
  const int i = threadIdx.x;
  if (i == 0) {
    shared_wide = 0;
    shared_pair = __floats2half2_rn(0, 0);
    order = 0;
  }
  __syncthreads();
  atomicAdd(&shared_wide, 0.5);
  atomicAdd(&shared_pair, __floats2half2_rn(1, 2));
  out[i] = atomicAdd(&order, 1);
  atomicAdd(pairs, __floats2half2_rn(2, 1));  // red
  atomicAdd(wide, 0.25);
  atomicAdd(narrow, 1.5f);
  __syncthreads();
  if (i == 0) {
    atomicAdd(wide + 1, shared_wide);
    atomicAdd(pairs + 1, shared_pair);
  }
}

// Two halves of the block meet at barriers of their own.
__global__ void named_barriers(const unsigned* a, unsigned* out) {
  const int i = threadIdx.x;
  const int half = i / 64;
  unsigned count;
  unsigned any;
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %2, 100; bar.red.popc.u32 %0, %3, 64, p;"
      "  bar.red.or.pred q, %3, 64, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(count), "=r"(any)
      : "r"(a[i]), "r"(half + 1)
      : "memory");
  out[i] = 2 * count + any;
}

__global__ void carries(const unsigned long long* a, const unsigned long long* b,
                        unsigned long long* out) {
  const int i = threadIdx.x;
  const unsigned __int128 x = static_cast<unsigned __int128>(a[i]) << 64 | b[i];
  const unsigned __int128 y = static_cast<unsigned __int128>(b[i]) << 64 | a[i];
  const unsigned __int128 r = x * y + (x - y);
  out[2 * i] = static_cast<unsigned long long>(r);
  out[2 * i + 1] = static_cast<unsigned long long>(r >> 64);
}

struct Pair {
  int number;
  double weight;
};
__attribute__((noinline)) __device__ Pair combine(Pair a, Pair b, int depth) {
  if (depth == 0) {
    return {a.number + b.number, a.weight * b.weight};
  }
  return combine({a.number * 2, a.weight + 1}, b, depth - 1);
}
__global__ void calls(double* out) {
  const int i = threadIdx.x;
  const Pair r = combine({i, 0.5}, {7, 2.0}, i % 5);
  out[i] = r.number + r.weight;
}

__global__ void lanes(unsigned* out) {
  unsigned lt, le, eq, ge, gt;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  const long long before = clock64();
  const unsigned sum = (lt ^ le ^ eq) + (ge & gt) + (lt & gt);
  out[threadIdx.x] = sum + (clock64() > before ? 0 : 1);
}

// Every warp multiplies tiles of its own, which lie in shared memory.
__global__ void tiles(const __half* a, const __half* b, float* out) {
  using namespace nvcuda;
  __shared__ __half sa[4][256];
  __shared__ __half sb[4][256];
  __shared__ float sc[4][256];
  const int warp = threadIdx.x / 32;
  for (int k = threadIdx.x % 32; k < 256; k += 32) {
    sa[warp][k] = a[warp * 256 + k];
    sb[warp][k] = b[warp * 256 + k];
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, sa[warp], 16);
  wmma::load_matrix_sync(fb, sb[warp], 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(sc[warp], fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int k = threadIdx.x % 32; k < 256; k += 32) {
    out[warp * 256 + k] = sc[warp][k];
  }
}

__global__ void asserts(int* out, int limit) {
  const int i = threadIdx.x;
  printf("thread %d of %s\n", i, "block");
  assert(i < limit);
  int* mine = static_cast<int*>(malloc(8));
  mine[0] = i;
  mine[1] = printf("%d %d %%\n", i, i);
  out[i] = mine[0] * 10 + mine[1];
  free(mine);
}

}  // extern "C"
