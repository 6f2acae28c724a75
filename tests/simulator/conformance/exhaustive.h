#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_EXHAUSTIVE_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_EXHAUSTIVE_H_

#include <string>

#include "kernels/device.h"

namespace voltcheck::conformance {

/// Runs every table unit whose name contains `only` on the device, for each of the 2^32 inputs
/// (fp64: each high word, with a low word made from it), and compares the results with the models
/// of reference/arith. Prints a line for each unit. Returns how many differ.
int RunExhaustive(kernels::Device& device, const std::string& only);

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_EXHAUSTIVE_H_
