// Which slot goes to which row of the grouped GEMM, and where each expert's rows begin.
//
// A slot is one (token, route) pair, numbered token * top_k + route. Its bucket is its expert, or
// the tail when the expert is outside [0, experts) or not on this rank. Rows are ordered by bucket,
// and by slot number within a bucket (a stable sort).
#include <cstdint>

// One thread a bucket: it counts the slots of smaller buckets, which is where its rows begin, and
// then walks the slots again and places its own in order. No thread waits for another one's result,
// and there are no atomics, so the order cannot depend on timing.
//
// `expert_map`: null, or [experts], negative for an expert of another rank.
// `slot_order`: null, or [slots], the order in which slots are taken; then there are just two
// buckets, the computed slots and the tail, so that the order survives (unsorted ids). Written:
// source, inverse, row_expert, row_token: [slots]; first_row: [buckets], of which the last entry is
// the number of computed rows. Grid: x covers the buckets, experts + 1 or 2.
extern "C" __global__ void __launch_bounds__(128)
    moe_permute(int* source, int* inverse, int* row_expert, int* row_token, int* first_row,
                const int* topk_ids, const int* slot_order, const int* expert_map, int slots,
                int top_k, int experts) {
  constexpr int kChunk = 512;
  __shared__ int bucket_of[kChunk];
  __shared__ int slot_of[kChunk];
  const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
  const int tail = slot_order != nullptr ? 1 : experts;

  int row = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1 && bucket <= tail) first_row[bucket] = row;
    for (int begin = 0; begin < slots; begin += kChunk) {
      const int count = min(kChunk, slots - begin);
      __syncthreads();
      for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int slot = slot_order != nullptr ? slot_order[begin + i] : begin + i;
        const int expert = topk_ids[slot];
        const bool computed =
            expert >= 0 && expert < experts && (expert_map == nullptr || expert_map[expert] >= 0);
        bucket_of[i] = !computed ? tail : slot_order != nullptr ? 0 : expert;
        slot_of[i] = slot;
      }
      __syncthreads();
      if (pass == 0) {
        for (int i = 0; i < count; ++i) row += bucket_of[i] < bucket ? 1 : 0;
        continue;
      }
      for (int i = 0; i < count; ++i) {
        if (bucket_of[i] != bucket) continue;
        const int slot = slot_of[i];
        source[row] = slot;
        inverse[slot] = row;
        row_expert[row] = topk_ids[slot];
        row_token[row] = slot / top_k;
        ++row;
      }
    }
  }
}
