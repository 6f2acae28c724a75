// The math library, 64-bit integers, cooperative groups and C++ objects, as nvcc compiles them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

namespace {

struct Shape {
  int a;
  __device__ explicit Shape(int x) : a(x) {}
  __device__ virtual int Area(int x) const { return a + x; }
};
struct Square : Shape {
  __device__ explicit Square(int x) : Shape(2 * x) {}
  __device__ int Area(int x) const override { return a * x; }
};

template <int kFactor>
__attribute__((noinline)) __device__ float Times(float x) {
  return x * kFactor;
}

}  // namespace

__device__ int numbers[4] = {1, 2, 3, 4};
__device__ int* pointer = &numbers[2];
__constant__ float constants[8] = {1, 2, 3, 4, 5, 6, 7, 8};

extern "C" {

__global__ void singles(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float v = x[i];
  const float m = fabsf(v);
  y[i] = expf(v);
  y[n + i] = sinf(v * 1e5f);  // past the fast range reduction
  y[2 * n + i] = cosf(v);
  y[3 * n + i] = logf(m);
  y[4 * n + i] = powf(m, 1.7f);
  y[5 * n + i] = tanhf(v);
  y[6 * n + i] = erff(v);
  y[7 * n + i] = rsqrtf(m);
  y[8 * n + i] = sqrtf(m) / v;
  y[9 * n + i] = cbrtf(v);
  y[10 * n + i] = atan2f(v, 1.5f);
  y[11 * n + i] = log1pf(m);
  y[12 * n + i] = fmodf(v, 0.375f);
  y[13 * n + i] = rintf(v) + floorf(v) * truncf(v);
}

__global__ void fast(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float v = x[i];
  y[i] = __expf(v);
  y[n + i] = __sinf(v);
  y[2 * n + i] = __cosf(v);
  y[3 * n + i] = __log2f(fabsf(v));
  y[4 * n + i] = __fdividef(1.0f, v);
  y[5 * n + i] = __frsqrt_rn(fabsf(v));
  y[6 * n + i] = __powf(fabsf(v), 0.5f);
}

__global__ void doubles(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const double v = x[i];
  const double m = fabs(v);
  y[i] = exp(v);
  y[n + i] = sin(v * 1e9);
  y[2 * n + i] = log(m);
  y[3 * n + i] = pow(m, 1.7);
  y[4 * n + i] = rsqrt(m);
  y[5 * n + i] = tanh(v);
  y[6 * n + i] = cbrt(v);
  y[7 * n + i] = 1.0 / v;
  y[8 * n + i] = sqrt(m) / 3.7;
  y[9 * n + i] = fmod(v, 0.3);
}

__global__ void integers(const long long* a, const long long* b, long long* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const long long p = a[i];
  const long long q = b[i];
  const unsigned long long up = p;
  const unsigned long long uq = q;
  y[i] = p / q;
  y[n + i] = p % q;
  y[2 * n + i] = up / uq;
  y[3 * n + i] = up % uq;
  y[4 * n + i] = __mul64hi(p, q);
  y[5 * n + i] = __popcll(p) + 100 * __clzll(p) + 10000 * __ffsll(q);
  y[6 * n + i] = __brevll(p);
  y[7 * n + i] = static_cast<int>(p) / (static_cast<int>(q) | 1);
  y[8 * n + i] = static_cast<unsigned>(p) % (static_cast<unsigned>(q) | 1);
  y[9 * n + i] = __vadd4(static_cast<unsigned>(p), static_cast<unsigned>(q));
  y[10 * n + i] = __dp4a(static_cast<int>(p), static_cast<int>(q), 5);
  y[11 * n + i] = static_cast<long long>(static_cast<__int128>(p) * q / ((q >> 40) | 1));
}

__global__ void groups(int* y) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto four = cg::tiled_partition<4>(warp);
  const int rank = block.thread_rank();
  const int sum = cg::reduce(warp, rank, cg::plus<int>());
  const int next = four.shfl_down(rank, 1);
  block.sync();
  y[rank] = sum + 1000 * next;
  if (rank % 3 == 0) {
    const auto active = cg::coalesced_threads();
    y[rank] += 1000000 * active.thread_rank() + (active.size() << 28);
  }
}

__global__ void objects(int* y, const float* scale) {
  extern __shared__ int dynamic[];
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int count = blockDim.x * blockDim.y * blockDim.z;
  dynamic[t] = t;
  const int odd = __syncthreads_count(t & 1);
  Shape shape(t);
  Square square(t);
  const Shape* which = (t & 1) != 0 ? &shape : &square;
  using Function = float (*)(float);
  const Function functions[3] = {Times<1>, Times<2>, Times<3>};
  int table[33];
  for (int i = 0; i < 33; ++i) {
    table[i] = i * t;
  }
  volatile int* out = y;
  out[block * count + t] =
      odd + which->Area(3) + table[(t * 5) % 33] + static_cast<int>(constants[t & 7]) +
      pointer[t & 1] + dynamic[(t + 1) % count] + static_cast<int>(functions[t % 3](__ldg(scale)));
}

__global__ void clocks(unsigned long long* y) {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  y[threadIdx.x] = time;
  __nanosleep(100);
  unsigned low;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(low));
  y[32 + threadIdx.x] = low + (clock() < 0 ? 1 : 0);
}

}  // extern "C"
