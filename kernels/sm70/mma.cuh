// The tensor-core instruction of SM70 and the way its operands lie in a warp.
#ifndef VOLTCHECK_KERNELS_SM70_MMA_CUH_
#define VOLTCHECK_KERNELS_SM70_MMA_CUH_

#include <cstdint>

namespace voltcheck::sm70 {

// One `mma.sync.m8n8k4` is four independent 8x8x4 products. Product q belongs to a quad pair: lanes
// 4q..4q+3 and 16+4q..16+4q+3. Within a pair, lane t (0..3) of half h (0: the lower lanes, 1: the
// upper)
//
//   holds of A (row-major)    row t + 4h, k = 0..3, two registers of two halves, low half first;
//   holds of B (column-major) column t + 4h, k = 0..3, likewise;
//   holds of C and D (fp32)   element i = 0..7 at row (t & 1) + (i & 2) + 4h,
//                             column (i & 4) + (t & 2) + (i & 1).
//
// All tiles here give the four pairs the same eight rows of A and 32 neighbouring columns of B,
// eight each. So lane (q, t, h) always owns A row t + 4h and tile column 8q + t + 4h.
struct LaneMap {
  int quad;  // q
  int row;   // t + 4h: the row of A, and the column of B within the quad pair's eight
  __device__ explicit LaneMap(int lane)
      : quad((lane >> 2) & 3), row((lane & 3) + ((lane >> 4) << 2)) {}
  __device__ int column() const { return 8 * quad + row; }
};

// d = a * b + d, fp32 accumulators. Four halves of K: a[0] and b[0] hold k = 0, 1.
__device__ __forceinline__ void Mma884(float (&d)[8], std::uint32_t a0, std::uint32_t a1,
                                       std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
      "{%0, %1, %2, %3, %4, %5, %6, %7};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
}

// Turns a lane's accumulators, which lie scattered over two rows, into eight neighbouring columns
// of one row: afterwards v[j] is row t + 4h, column 8q + j, so that a lane can store 16 bytes at
// once. Lanes t and t ^ 2 share two rows; each keeps its half of one row and sends its half of the
// other.
__device__ __forceinline__ void AccumulatorRow(const float (&d)[8], int lane, float (&v)[8]) {
  const bool second = (lane & 2) != 0;
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float row0 = d[4 * pair + i];
      const float row1 = d[4 * pair + 2 + i];
      const float kept = second ? row1 : row0;
      const float received = __shfl_xor_sync(0xffffffffu, second ? row0 : row1, 2);
      v[4 * pair + i] = second ? received : kept;
      v[4 * pair + 2 + i] = second ? kept : received;
    }
  }
}

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_MMA_CUH_
