#include "kernels/simulator/ptx/launch_arguments.h"

#include "fixtures/case/error.h"

namespace voltcheck::simulator::ptx {

void CheckArguments(const std::string& file, const Function& entry,
                    std::span<const std::vector<std::byte>> arguments) {
  const std::string where = file + ": " + entry.name;
  if (arguments.size() != entry.parameters.size()) {
    throw BadInput(where,
                   std::to_string(arguments.size()) + " arguments for " +
                       std::to_string(entry.parameters.size()) + " parameters",
                   "give one argument for each");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Variable& parameter = entry.parameters[i];
    if (arguments[i].size() != parameter.bytes()) {
      throw BadInput(where,
                     "argument " + std::to_string(i) + " has " +
                         std::to_string(arguments[i].size()) + " bytes, parameter '" +
                         parameter.name + "' has " + std::to_string(parameter.bytes()),
                     "give a value of the parameter's size");
    }
  }
}

}  // namespace voltcheck::simulator::ptx
