#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_LAUNCH_ARGUMENTS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_LAUNCH_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

/// What a kernel's parameter takes.
struct ParameterSize {
  std::string name;
  std::uint64_t bytes = 0;
};

/// Throws Error (status 2) unless `arguments` holds, for each parameter, a block of as many bytes.
/// `where` begins the line.
void CheckArguments(const std::string& where, std::span<const ParameterSize> parameters,
                    std::span<const std::vector<std::byte>> arguments);

/// Throws Error (status 2) unless `arguments` holds, for each parameter of the entry, a block of as
/// many bytes as the parameter has. `file` begins the line.
void CheckArguments(const std::string& file, const Function& entry,
                    std::span<const std::vector<std::byte>> arguments);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_LAUNCH_ARGUMENTS_H_
