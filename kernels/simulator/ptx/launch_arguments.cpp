#include "kernels/simulator/ptx/launch_arguments.h"

#include "fixtures/case/error.h"

namespace voltcheck::simulator::ptx {

void CheckArguments(const std::string& where, std::span<const ParameterSize> parameters,
                    std::span<const std::vector<std::byte>> arguments) {
  if (arguments.size() != parameters.size()) {
    throw BadInput(where,
                   std::to_string(arguments.size()) + " arguments for " +
                       std::to_string(parameters.size()) + " parameters",
                   "give one argument for each");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParameterSize& parameter = parameters[i];
    if (arguments[i].size() != parameter.bytes) {
      throw BadInput(where,
                     "argument " + std::to_string(i) + " has " +
                         std::to_string(arguments[i].size()) + " bytes, parameter '" +
                         parameter.name + "' has " + std::to_string(parameter.bytes),
                     "give a value of the parameter's size");
    }
  }
}

void CheckArguments(const std::string& file, const Function& entry,
                    std::span<const std::vector<std::byte>> arguments) {
  std::vector<ParameterSize> parameters;
  for (const Variable& parameter : entry.parameters) {
    parameters.push_back({parameter.name, parameter.bytes()});
  }
  CheckArguments(file + ": " + entry.name, parameters, arguments);
}

}  // namespace voltcheck::simulator::ptx
