#include "suite.h"

#include <array>
#include <cstdio>

#include "fixtures/case/error.h"

namespace voltcheck::conformance {
namespace {

/// Device memory that is given back when the instruction is done.
class Buffer {
 public:
  Buffer(kernels::Device& device, std::size_t bytes, const char* name)
      : device_(device), address_(device.Allocate(bytes, name)) {
    device_.Fill(address_, std::byte{0}, bytes);
  }
  ~Buffer() {
    if (!device_.faulted()) {
      device_.Free(address_);
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  kernels::DeviceAddress address() const { return address_; }

 private:
  kernels::Device& device_;
  kernels::DeviceAddress address_;
};

std::string Hex(const std::vector<std::byte>& column, std::size_t at, std::uint32_t bytes) {
  std::string text;
  for (std::uint32_t i = bytes; i-- > 0;) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(column[at + i]));
    text += digits.data();
  }
  return text;
}

}  // namespace

Outcome RunInstruction(kernels::Device& device, const Instruction& instruction,
                       const OperandValues& values) {
  Outcome outcome;
  std::size_t result_bytes = 0;
  for (const std::uint32_t bytes : instruction.results) {
    result_bytes += std::size_t{bytes} * values.lanes;
  }
  try {
    const std::uint32_t module = device.LoadModule(
        {KernelName(instruction) + ".ptx", ModuleText(instruction, values.lanes), {}});
    const Buffer inputs(device, values.columns.size(), "inputs");
    const Buffer results(device, result_bytes, "results");
    const Buffer scratch(device, std::size_t{values.lanes} * kScratchBytes, "scratch");
    device.CopyToDevice(inputs.address(), values.columns);
    device.Run(
        {device.FindKernel(module, KernelName(instruction)),
         {values.lanes / kBlock, 1, 1},
         {kBlock, 1, 1},
         0,
         {kernels::ArgumentBytes(inputs.address()), kernels::ArgumentBytes(results.address()),
          kernels::ArgumentBytes(scratch.address())}});
    device.Synchronize();
    outcome.results.resize(result_bytes);
    device.CopyFromDevice(outcome.results, results.address());
  } catch (const Error& error) {
    outcome.refusal = error.what();
  }
  for (const kernels::Finding& finding : device.TakeFindings()) {
    outcome.refusal = finding.checker + ": " + finding.message;
  }
  if (device.faulted()) {
    throw Error(ExitStatus::kUnavailable, instruction.name + ": the device faulted: " +
                                              outcome.refusal + "; start again without it");
  }
  return outcome;
}

std::string LaneText(const Instruction& instruction, const OperandValues& values,
                     const std::vector<std::byte>& results, std::uint32_t lane) {
  std::string text;
  std::size_t column = 0;
  for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
    const std::uint32_t bytes = instruction.inputs[i].bytes;
    text += "a" + std::to_string(i) + "=" +
            Hex(values.columns, column + std::size_t{lane} * bytes, bytes) + " ";
    column += std::size_t{values.lanes} * bytes;
  }
  text += "->";
  column = 0;
  for (std::size_t i = 0; i < instruction.results.size(); ++i) {
    const std::uint32_t bytes = instruction.results[i];
    text +=
        " x" + std::to_string(i) + "=" + Hex(results, column + std::size_t{lane} * bytes, bytes);
    column += std::size_t{values.lanes} * bytes;
  }
  return text;
}

}  // namespace voltcheck::conformance
