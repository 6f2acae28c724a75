// A plugin whose step throws a C++ exception through the C interface.
#include <stdexcept>

#include "voltcheck_kernel.h"

namespace {

int Run(void* /*state*/, const voltcheck_stage* /*stage*/) {
  throw std::runtime_error("no such tile");
}

constexpr voltcheck_step kSteps[] = {{VOLTCHECK_W13, VOLTCHECK_W13, Run}};
constexpr voltcheck_plugin kPlugin = {sizeof(voltcheck_plugin),
                                      VOLTCHECK_KERNEL_ABI,
                                      "throws",
                                      nullptr,
                                      0,
                                      1,
                                      kSteps,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr};

}  // namespace

extern "C" const voltcheck_plugin* voltcheck_plugin_v1(void) { return &kPlugin; }
