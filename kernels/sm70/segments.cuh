// Finding a CTA's rows in a list of segments whose lengths only the device knows.
#ifndef VOLTCHECK_KERNELS_SM70_SEGMENTS_CUH_
#define VOLTCHECK_KERNELS_SM70_SEGMENTS_CUH_

namespace voltcheck::sm70 {

// Rows [begin, end) of the permuted input that one CTA multiplies by the weights of one segment's
// expert.
struct RowTile {
  int segment;
  int begin;
  int end;
};

// Tile number `tile` of one launch over all segments.
//
// Segment s owns the tile numbers from first(s) = offsets[s] / tile_rows + s on. Its ceil(length /
// tile_rows) tiles fit below first(s + 1), because rounding up costs at most one tile a segment; so
// numbers never collide, and a CTA finds its segment by binary search in the offsets alone: no
// schedule has to be built, and one grid of rows / tile_rows + segments tiles serves every routing
// of as many rows. Numbers that no tile uses, and empty segments, give an empty range.
__device__ __forceinline__ RowTile FindRowTile(const int* __restrict__ offsets, int segments,
                                               int tile, int tile_rows) {
  int low = 0;
  int high = segments;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (offsets[middle] / tile_rows + middle <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const int begin = offsets[low];
  const int first = begin / tile_rows + low;
  return {low, begin + (tile - first) * tile_rows, offsets[low + 1]};
}

// Tile number `tile` of a launch for one segment alone.
__device__ __forceinline__ RowTile SegmentRowTile(const int* __restrict__ offsets, int segment,
                                                  int tile, int tile_rows) {
  return {segment, offsets[segment] + tile * tile_rows, offsets[segment + 1]};
}

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_SEGMENTS_CUH_
