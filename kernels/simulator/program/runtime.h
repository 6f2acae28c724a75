#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_RUNTIME_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_RUNTIME_H_

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator {

/// Gives bodies to the functions of the CUDA device runtime that the module declares and does not
/// define, with the variables that they need:
/// - vprintf: its text is dropped; it gives the number of conversions in the format;
/// - __assertfail: a fault "assert" with the condition, file, line and function;
/// - malloc, free: a heap of 8 MiB per module, as the runtime's default, from which nothing is ever
///   given back; 0 when it is used up.
void LinkRuntime(ptx::Module& module);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_RUNTIME_H_
