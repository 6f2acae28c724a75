#include "kernels/runtime_shim/core/kernel_arguments.h"

namespace voltcheck::shim {

KernelWork MakeKernelWork(Function& function, const void* symbol, Dim grid, Dim block,
                          std::size_t shared, void** arguments, void** extra, bool cooperative) {
  KernelWork work;
  work.function = &function;
  work.symbol = symbol;
  work.grid = ToDim3(grid);
  work.block = ToDim3(block);
  Require(shared <= kSharedMost, kInvalidValue, "a block has at most 96 KB of shared memory");
  work.shared = static_cast<std::uint32_t>(shared);
  work.cooperative = cooperative;
  if (arguments == nullptr && extra != nullptr) {
    // {1, buffer, 2, &size, 0}: the parameters one behind the other, each at its alignment.
    Require(reinterpret_cast<std::uintptr_t>(extra[0]) == 1);
    const auto* buffer = static_cast<const std::byte*>(extra[1]);
    std::size_t at = 0;
    for (const kernels::KernelParameter& parameter : function.parameters) {
      at = (at + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
      work.arguments.emplace_back(buffer + at, buffer + at + parameter.bytes);
      at += parameter.bytes;
    }
    Require(reinterpret_cast<std::uintptr_t>(extra[2]) == 2 &&
                *static_cast<const std::size_t*>(extra[3]) == at,
            kInvalidValue, "the buffer of arguments has another size than the parameters");
    return work;
  }
  Require(function.parameters.empty() || arguments != nullptr, kInvalidValue, "no arguments");
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(arguments[i]);
    work.arguments.emplace_back(bytes, bytes + function.parameters[i].bytes);
  }
  return work;
}

}  // namespace voltcheck::shim
