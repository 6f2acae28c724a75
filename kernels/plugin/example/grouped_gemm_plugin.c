/* A plugin in plain C around Voltcheck's own grouped GEMM, tile 16x128x32: W13 and W2 are the
 * plugin's, SiLU and the reduction Voltcheck's. It reaches the device through the functions that it
 * is handed, so it runs on the simulator and on a GPU. README.md says how to build it alone.
 *
 * With -DPLANT_BUG it is the same plugin with a mistake, which the gate must find: W2 leaves out
 * the last quantisation group of K.
 */
#include <stdlib.h>
#include <string.h>

#include "voltcheck_kernel.h"

/* PTX_FOLDER holds grouped_gemm_16x128x32_g{32,64,128}.ptx; the assembler takes them in. */
#define EMBED(group)                                                              \
  __asm__(                                                                        \
      ".section .rodata\n"                                                        \
      "ptx_g" #group ": .incbin \"" PTX_FOLDER "/grouped_gemm_16x128x32_g" #group \
      ".ptx\"\n"                                                                  \
      "ptx_g" #group                                                              \
      "_end: .byte 0\n"                                                           \
      ".previous\n");                                                             \
  extern const char ptx_g##group[] __asm__("ptx_g" #group);                       \
  extern const char ptx_g##group##_end[] __asm__("ptx_g" #group "_end")
EMBED(32);
EMBED(64);
EMBED(128);

enum { TILE_M = 16, TILE_N = 128, TILE_K = 32, THREADS = 128 };

struct gemm {
  int32_t k, n, splits;
  voltcheck_address partials, locks; /* of split-K */
};

struct state {
  const voltcheck_device* device;
  voltcheck_kernel kernel;
  struct gemm w13, w2;
};

/* Split-K deals out whole chunks: there must be one for every split. */
static int32_t splits_for(int32_t k, int32_t group, int32_t wanted) {
  int32_t chunks = k / (group > TILE_K ? group : TILE_K);
  return wanted < chunks ? wanted : chunks;
}

static uint32_t row_tiles(const voltcheck_case* c) {
  return (uint32_t)(c->slots / TILE_M +
                    c->slots); /* room for every way of cutting rows into runs */
}

/* Partial sums and locks of split-K; locks start at zero and are left at zero. */
static int make_workspace(const voltcheck_device* d, const voltcheck_case* c, struct gemm* g) {
  size_t tiles = (size_t)row_tiles(c) * (size_t)((g->n + TILE_N - 1) / TILE_N);
  if (g->splits == 1) return 0;
  if (d->allocate(d->self, sizeof(float) * (size_t)c->slots * (size_t)g->n, "partials",
                  &g->partials))
    return 1;
  if (d->allocate(d->self, sizeof(int32_t) * tiles, "locks", &g->locks)) return 1;
  return d->fill(d->self, g->locks, 0, sizeof(int32_t) * tiles);
}

static void release(const voltcheck_device* d, void* state) {
  struct state* s = state;
  struct gemm* gemms[2];
  int i;
  if (s == NULL) return;
  gemms[0] = &s->w13;
  gemms[1] = &s->w2;
  for (i = 0; i < 2; i++) {
    if (gemms[i]->partials) d->deallocate(d->self, gemms[i]->partials);
    if (gemms[i]->locks) d->deallocate(d->self, gemms[i]->locks);
  }
  free(s);
}

static int prepare(const voltcheck_device* d, const voltcheck_stage* stage, void** state) {
  const voltcheck_case* c = stage->shape;
  const char* ptx = c->group == 32 ? ptx_g32 : c->group == 64 ? ptx_g64 : ptx_g128;
  const char* end = c->group == 32 ? ptx_g32_end : c->group == 64 ? ptx_g64_end : ptx_g128_end;
  const char* entry = c->group == 32   ? "grouped_gemm_16x128x32_g32_4b"
                      : c->group == 64 ? "grouped_gemm_16x128x32_g64_4b"
                                       : "grouped_gemm_16x128x32_g128_4b";
  uint32_t module;
  struct state* s = calloc(1, sizeof(*s));
  if (s == NULL) return 1;
  *state = s;
  s->device = d;
  s->w13.k = c->hidden;
  s->w13.n = 2 * c->intermediate;
  s->w13.splits = splits_for(s->w13.k, c->group, c->w13_splits);
  s->w2.k = c->intermediate;
  s->w2.n = c->hidden;
  s->w2.splits = splits_for(s->w2.k, c->group, c->w2_splits);
  if (d->load_module(d->self, "grouped_gemm.ptx", ptx, (size_t)(end - ptx), NULL, 0, &module))
    return 1;
  if (d->find_kernel(d->self, module, entry, &s->kernel)) return 1;
  return make_workspace(d, c, &s->w13) || make_workspace(d, c, &s->w2);
}

static int run_gemm(const struct state* s, const voltcheck_stage* stage, const struct gemm* g,
                    int32_t k, voltcheck_address out, voltcheck_address in,
                    const voltcheck_weights* weights) {
  const int32_t all_segments = -1, no = 0;
  const voltcheck_address null = 0;
  const void* arguments[16];
  voltcheck_launch launch;
  memset(&launch, 0, sizeof(launch));
  arguments[0] = &out;
  arguments[1] = &g->n; /* stride of a row */
  arguments[2] = &in;
  arguments[3] = &null; /* no gathered rows */
  arguments[4] = &stage->offsets;
  arguments[5] = &stage->segment_expert;
  arguments[6] = &weights->packed_table;
  arguments[7] = &weights->metadata_table;
  arguments[8] = &g->partials;
  arguments[9] = &g->locks;
  arguments[10] = &stage->shape->slots; /* segments */
  arguments[11] = &all_segments;
  arguments[12] = &k;
  arguments[13] = &g->n;
  arguments[14] = &g->splits;
  arguments[15] = &no; /* no fused SiLU */
  launch.kernel = s->kernel;
  launch.grid[0] = row_tiles(stage->shape);
  launch.grid[1] = (uint32_t)((g->n + TILE_N - 1) / TILE_N);
  launch.grid[2] = (uint32_t)g->splits;
  launch.block[0] = THREADS;
  launch.block[1] = launch.block[2] = 1;
  launch.argument_count = 16;
  launch.arguments = arguments;
  return s->device->launch(s->device->self, &launch);
}

static int run_w13(void* state, const voltcheck_stage* stage) {
  const struct state* s = state;
  return run_gemm(s, stage, &s->w13, s->w13.k, stage->w13, stage->permuted, &stage->w13_weights);
}

static int run_w2(void* state, const voltcheck_stage* stage) {
  const struct state* s = state;
  int32_t k = s->w2.k;
#ifdef PLANT_BUG
  k -= k > stage->shape->group ? stage->shape->group : 0;
#endif
  return run_gemm(s, stage, &s->w2, k, stage->w2, stage->silu, &stage->w2_weights);
}

static const char* supports(const voltcheck_case* c) {
  return c->metadata_bytes == 4 ? NULL : "it reads metadata of 4 bytes";
}

static void declare_order(const voltcheck_case* c, uint32_t part, voltcheck_order* order) {
  int32_t k = part == VOLTCHECK_W13 ? c->hidden : c->intermediate;
  order->order = VOLTCHECK_ORDER_MMA;
  order->chunk = c->group > TILE_K ? c->group : TILE_K;
  order->splits = splits_for(k, c->group, part == VOLTCHECK_W13 ? c->w13_splits : c->w2_splits);
}

static const voltcheck_step steps[] = {
    {VOLTCHECK_W13, VOLTCHECK_W13, run_w13},
    {VOLTCHECK_W2, VOLTCHECK_W2, run_w2},
};

static const voltcheck_plugin plugin = {
    sizeof(voltcheck_plugin),
    VOLTCHECK_KERNEL_ABI,
    "grouped GEMM 16x128x32",
    "1",
    VOLTCHECK_CAPTURABLE,
    sizeof(steps) / sizeof(steps[0]),
    steps,
    supports,
    declare_order,
    prepare,
    release,
};

const voltcheck_plugin* voltcheck_plugin_v1(void) { return &plugin; }
