/* voltcheck_kernel.h: how a shared library hands its MoE kernels to `voltcheck gate --plugin
 * LIB.so`.
 *
 * Version 1. Plain C, no other file needed. docs/plugin.md walks through an example.
 *
 * A plugin exports one function, voltcheck_plugin_v1, which returns a table: what its kernels
 * compute, a function for each step, and, if it wants its bits judged, the order in which it adds.
 * Voltcheck makes the inputs, calls the steps, and judges every tensor that they write.
 *
 * The stage of one MoE layer on one rank, with T tokens, k routes each, S = T * k slots, E experts,
 * hidden size H, local intermediate size I, quantisation group g:
 *
 *   permute   rows are the slots, ordered by expert; permuted[row] = hidden[row_token[row]]
 *   W13       w13 [S, 2I]   = permuted [S, H] x W13[expert of the row]
 *   SILU      silu [S, I]   = RN16(gate / (1 + exp(-gate))) * up, the product in half
 *   W2        w2 [S, H]     = silu [S, I] x W2[expert of the row]
 *   OUTPUT    output [T, H] = sum over routes j = 0..k-1 of topk_weights[t, j] * w2[row of (t, j)],
 *             in fp32 by fused multiply-adds from +0, one rounding to half
 *
 * Permuting is always Voltcheck's; each of the other four is Voltcheck's unless a step computes it.
 * A weight is w = RN16(q * s + RN16(-z * s)): one half multiply-add, q and z being 4-bit numbers.
 *
 * Two ways of reaching the device:
 *  - through the functions of voltcheck_device below: the same plugin then runs on the simulator
 *    and on a GPU;
 *  - through the CUDA runtime, with the plugin's own <<<>>> launches: on the simulator the
 * runtime's stand-in runs them on the same device (link with --cudart shared, keep PTX for
 * compute_70). Device addresses mean the same both ways. Work must be submitted to the default
 * stream, or be finished when a step returns.
 */
#ifndef VOLTCHECK_KERNEL_H_
#define VOLTCHECK_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The header is C, with the names of C. */
/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using) */

#define VOLTCHECK_KERNEL_ABI 1

/* An address in the device's memory; 0 is none. */
typedef uint64_t voltcheck_address;

/* What a step computes: neighbouring bits, e.g. VOLTCHECK_W13 | VOLTCHECK_SILU for a GEMM with a
 * fused epilogue, all four for a whole stage. */
#define VOLTCHECK_W13 1u
#define VOLTCHECK_SILU 2u
#define VOLTCHECK_W2 4u
#define VOLTCHECK_OUTPUT 8u

/* ---- What Voltcheck hands over ------------------------------------------------------------- */

/* What is known before anything runs. The launches of a plugin that can be captured depend on
 * nothing else. */
typedef struct voltcheck_case {
  uint32_t struct_size;   /* of the caller's struct: a later version may append fields */
  int32_t tokens;         /* T */
  int32_t top_k;          /* k */
  int32_t slots;          /* S = T * k */
  int32_t experts;        /* E */
  int32_t hidden;         /* H, a multiple of 8 and of g */
  int32_t intermediate;   /* I, a multiple of g */
  int32_t group;          /* g: 32, 64 or 128 */
  int32_t interleaved;    /* columns of the tensor w13: 1: g0,u0,g1,u1,...; 0: [gate | up] */
  int32_t sorted;         /* 1: rows ascend by expert; 0: an expert may own several runs of rows */
  int32_t metadata_bytes; /* of the packed form below: 4 or 3 */
  int32_t w13_splits;     /* split-K counts that the case asks for: a hint */
  int32_t w2_splits;
} voltcheck_case;

/* The weights of one GEMM [K, N] for every expert that is held, in two forms. W13's columns are
 * [gate | up] in the first form, and as `interleaved` says in the second. */
typedef struct voltcheck_weights {
  /* As a checkpoint has them. Nibble i of a word holds column {0,2,4,6,1,3,5,7}[i] of its eight. */
  voltcheck_address qweight; /* uint32 [held, K, N/8] */
  voltcheck_address qzeros;  /* uint32 [held, K/g, N/8] */
  voltcheck_address scales;  /* half [held, K/g, N] */
  /* Packed for SM70: tables of 16 bytes an expert { uint64 pointer, int32 stride, int32 0 }, for
   * all E experts; those that are not held point at NaN. docs/kernels.md describes what they point
   * to. */
  voltcheck_address packed_table;
  voltcheck_address metadata_table;
} voltcheck_weights;

/* The tensors of one case. Addresses stay the same from `prepare` on. */
typedef struct voltcheck_stage {
  uint32_t struct_size;
  const voltcheck_case* shape;
  int32_t held; /* experts whose weights are on this rank and needed; 0: no weights below */

  /* Inputs, never to be written. */
  voltcheck_address hidden;       /* half [T, H] */
  voltcheck_address topk_ids;     /* int32 [T, k] */
  voltcheck_address topk_weights; /* float [T, k] */
  voltcheck_address expert_slot;  /* int32 [E]: place of an expert in qweight..., or -1 */
  voltcheck_weights w13_weights;  /* K = H, N = 2I */
  voltcheck_weights w2_weights;   /* K = I, N = H */

  /* Made by the permute step. Rows from *rows on belong to slots that are not computed (experts of
   * another rank): they must not be written. */
  voltcheck_address rows;           /* int32: number of rows that are computed */
  voltcheck_address permuted;       /* half [S, H] */
  voltcheck_address source;         /* int32 [S]: slot (token * k + route) of each row */
  voltcheck_address inverse;        /* int32 [S]: row of each slot */
  voltcheck_address row_expert;     /* int32 [S] */
  voltcheck_address row_token;      /* int32 [S] */
  voltcheck_address offsets;        /* int32 [S + 1]: first row of each run of rows of one expert,
                                       runs that do not exist are empty */
  voltcheck_address segment_expert; /* int32 [S]: expert of each run */

  /* Outputs. 0 for a tensor that a step computes and does not write. */
  voltcheck_address w13;    /* half [S, 2I] */
  voltcheck_address silu;   /* half [S, I] */
  voltcheck_address w2;     /* half [S, H] */
  voltcheck_address output; /* half [T, H] */
} voltcheck_stage;

/* ---- The device ---------------------------------------------------------------------------- */

typedef struct voltcheck_kernel {
  uint32_t module;
  uint32_t kernel;
} voltcheck_kernel;

typedef struct voltcheck_launch {
  voltcheck_kernel kernel;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared_bytes;
  uint32_t argument_count;      /* must be the kernel's parameter count */
  const void* const* arguments; /* arguments[i] points at the value of parameter i */
} voltcheck_launch;

/* Each function returns 0, or another number when it failed; last_error then says why. After a
 * failure a step should return a number other than 0. Call them only inside prepare, a step or
 * release, from the thread that called. */
typedef struct voltcheck_device {
  uint32_t struct_size;
  void* self; /* the first argument of every function */

  /* Memory of exactly `bytes` bytes, aligned to 256, never written: reading it before writing it
   * is a finding, and so is any access beyond it. `name` appears in findings. */
  int (*allocate)(void* self, size_t bytes, const char* name, voltcheck_address* address);
  int (*deallocate)(void* self, voltcheck_address address);
  int (*copy_to_device)(void* self, voltcheck_address to, const void* from, size_t bytes);
  int (*copy_from_device)(void* self, void* to, voltcheck_address from, size_t bytes);
  int (*fill)(void* self, voltcheck_address to, uint8_t value, size_t bytes);

  /* PTX text of `ptx_bytes` bytes; a cubin for SM70 may go with it (else null, 0). `name` is what
   * findings call the file. A module lives as long as the device. */
  int (*load_module)(void* self, const char* name, const char* ptx, size_t ptx_bytes,
                     const void* cubin, size_t cubin_bytes, uint32_t* module);
  int (*find_kernel)(void* self, uint32_t module, const char* entry, voltcheck_kernel* kernel);
  int (*launch)(void* self, const voltcheck_launch* launch);
  int (*synchronize)(void* self);

  /* Launches between begin and end are recorded instead of run; replay runs them again at the same
   * addresses (a CUDA graph on a GPU). Nothing but launches may be called in between. */
  int (*capture_begin)(void* self);
  int (*capture_end)(void* self, uint64_t* sequence);
  int (*replay)(void* self, uint64_t sequence);
  int (*drop_sequence)(void* self, uint64_t sequence);

  /* Why the last function that failed did; never null. */
  const char* (*last_error)(void* self);
  /* Says in the record why the step that runs is about to fail. */
  void (*report)(void* self, const char* text);
} voltcheck_device;

/* ---- What the plugin says ------------------------------------------------------------------ */

/* One step. It finds its inputs in device memory, submits work that writes the tensors of `writes`,
 * and returns 0. */
typedef struct voltcheck_step {
  uint32_t computes; /* VOLTCHECK_W13 | ..., neighbouring bits */
  uint32_t writes;   /* which of these it leaves in memory; always the last one */
  int (*run)(void* state, const voltcheck_stage* stage);
} voltcheck_step;

/* How products are added. */
#define VOLTCHECK_ORDER_UNDECLARED 0u /* a budget for any order judges, no bits */
/* k ascends in steps of four through mma.sync.m8n8k4 with fp32 accumulators. */
#define VOLTCHECK_ORDER_MMA 1u
/* k ascends one by one through fp32 fused multiply-adds. */
#define VOLTCHECK_ORDER_FMA 2u
/* k ascends through wmma with fp32 accumulators. On SM70 and SM75 its bits are those of
 * VOLTCHECK_ORDER_MMA; newer chips add more products at once, and budgets alone judge there. */
#define VOLTCHECK_ORDER_WMMA 3u

/* The order of the sum over K of a GEMM: K is dealt out in whole chunks of `chunk` to `splits`
 * neighbouring ranges, left-over chunks to the last ones. Inside a range the accumulators 0 ..
 * k_interleave-1 take turns, `interleave_width` of k each; they start at +0. The accumulators of a
 * range are added in fp32 in ascending order, then the ranges, and one rounding to half follows.
 * For SILU and OUTPUT `order` other than UNDECLARED means the formulas at the top of this file,
 * with exp as nvcc compiles expf. */
typedef struct voltcheck_order {
  uint32_t struct_size;
  uint32_t order;           /* VOLTCHECK_ORDER_... */
  int32_t splits;           /* 1..16 */
  int32_t chunk;            /* divides K; a multiple of 4 for MMA, WMMA */
  int32_t k_interleave;     /* 1: one accumulator a range; at most 16 in all ranges */
  int32_t interleave_width; /* likewise; ignored when k_interleave is 1 */
} voltcheck_order;

/* The steps launch the same kernels with the same arguments whenever the voltcheck_case and the
 * addresses are the same, through voltcheck_device alone, and call nothing but launch: Voltcheck
 * may then record them once and replay them for other routings. */
#define VOLTCHECK_CAPTURABLE 1u

typedef struct voltcheck_plugin {
  uint32_t struct_size;
  uint32_t abi; /* VOLTCHECK_KERNEL_ABI */
  const char* name;
  const char* version;
  uint32_t flags; /* VOLTCHECK_CAPTURABLE or 0 */
  uint32_t step_count;
  const voltcheck_step* steps; /* ascending, no part twice */

  /* May be null: every case is supported. Returns null for a case that is, else why it is not, as a
   * phrase. Must depend on its argument alone; may be called from any thread, one at a time. */
  const char* (*supports)(const voltcheck_case* shape);
  /* May be null: undeclared. Fills in `order` (handed over as VOLTCHECK_ORDER_UNDECLARED, splits 1,
   * chunk K, k_interleave 1) for the part, one of VOLTCHECK_W13 ... that the plugin computes. Like
   * `supports`. */
  void (*declare_order)(const voltcheck_case* shape, uint32_t part, voltcheck_order* order);
  /* May be null. Called before the steps, in the process that owns the device, once the weights are
   * on it: loads modules, allocates workspaces, repacks weights. `*state` is handed to the steps.
   * It may be called again; release is called for the earlier state first. */
  int (*prepare)(const voltcheck_device* device, const voltcheck_stage* stage, void** state);
  /* May be null. Frees what prepare made. */
  void (*release)(const voltcheck_device* device, void* state);
} voltcheck_plugin;

/* The one symbol that a plugin exports. */
#if defined(__GNUC__)
#define VOLTCHECK_EXPORT __attribute__((visibility("default")))
#else
#define VOLTCHECK_EXPORT
#endif
VOLTCHECK_EXPORT const voltcheck_plugin* voltcheck_plugin_v1(void);
#define VOLTCHECK_PLUGIN_SYMBOL "voltcheck_plugin_v1"
/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* VOLTCHECK_KERNEL_H_ */
