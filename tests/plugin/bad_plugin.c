/* One plugin for each way of going wrong; the definition says which. */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "voltcheck_kernel.h"

static const voltcheck_device* device;

static const char* supports(const voltcheck_case* c) {
#ifdef DIES_WHEN_ASKED
  *(volatile int*)(size_t)c->tokens = 1;
#endif
#ifdef DECLINES
  return c->tokens > 1 ? "it takes one token" : NULL;
#else
  (void)c;
  return NULL;
#endif
}

static int prepare(const voltcheck_device* d, const voltcheck_stage* stage, void** state) {
  (void)stage;
  (void)state;
  device = d;
#ifdef FAILS
  d->report(d->self, "no workspace today");
  return 7;
#else
  return 0;
#endif
}

/* Fills the tensor with +0: wrong, but within its bounds. */
static int run(void* state, const voltcheck_stage* stage) {
  size_t bytes = 2 * (size_t)stage->shape->slots * (size_t)(2 * stage->shape->intermediate);
  (void)state;
#ifdef CRASHES
  abort();
#endif
#ifdef FAULTS
  *(volatile int*)(size_t)bytes = 1; /* no address of this process */
#endif
#ifdef NEVER_RETURNS
  for (;;) {
    pause();
  }
#endif
#ifdef OVERRUNS
  bytes += 2;
#endif
#ifdef UNWRITTEN
  bytes -= 2;
#endif
  return device->fill(device->self, stage->w13, 0, bytes);
}

static void declare_order(const voltcheck_case* c, uint32_t part, voltcheck_order* order) {
  (void)c;
  (void)part;
#ifdef BAD_ORDER
  order->order = VOLTCHECK_ORDER_MMA;
  order->splits = 3;
#else
  (void)order;
#endif
}

static const voltcheck_step steps[] = {
#ifdef GAP
    {VOLTCHECK_W13 | VOLTCHECK_W2, VOLTCHECK_W2, run},
#elif defined(WRITES_OTHER)
    {VOLTCHECK_W13, VOLTCHECK_W13 | VOLTCHECK_SILU, run},
#elif defined(NO_FUNCTION)
    {VOLTCHECK_W13, VOLTCHECK_W13, NULL},
#else
    {VOLTCHECK_W13, VOLTCHECK_W13, run},
#endif
};

static const voltcheck_plugin plugin = {
    sizeof(voltcheck_plugin),
#ifdef OLD_ABI
    VOLTCHECK_KERNEL_ABI + 1,
#else
    VOLTCHECK_KERNEL_ABI,
#endif
    "bad",
    NULL,
    0,
#ifdef NO_STEP
    0,
#else
    1,
#endif
    steps,
    supports,
    declare_order,
    prepare,
    NULL,
};

#ifdef DIES_AT_LOAD
__attribute__((constructor)) static void die(void) { _exit(5); }
#endif

#ifndef NO_SYMBOL
const voltcheck_plugin* voltcheck_plugin_v1(void) {
#ifdef NULL_TABLE
  return plugin.name == NULL ? &plugin : NULL;
#else
  return &plugin;
#endif
}
#else
VOLTCHECK_EXPORT const voltcheck_plugin* another_name(void);
const voltcheck_plugin* another_name(void) { return &plugin; }
#endif
