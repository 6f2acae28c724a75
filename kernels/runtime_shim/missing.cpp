#include "kernels/runtime_shim/core/world.h"

extern "C" int voltcheck_shim_missing(const char* name);
/// What stands for every function of CUDA that the stand-in lacks.
extern "C" int voltcheck_shim_missing(const char* name) { return voltcheck::shim::Missing(name); }
