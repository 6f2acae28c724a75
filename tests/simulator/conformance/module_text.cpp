#include <string>

#include "instruction.h"

namespace voltcheck::conformance {
namespace {

std::string Bits(std::uint32_t bytes) { return std::to_string(8 * bytes); }

/// Puts the address of this lane's value in a column into %column.
std::string ColumnAddress(const std::string& base, std::uint64_t offset, std::uint32_t bytes) {
  return "  mad.wide.u32 %column, %index, " + std::to_string(bytes) + ", " + base + ";\n" +
         "  add.u64 %column, %column, " + std::to_string(offset) + ";\n";
}

}  // namespace

std::string KernelName(const Instruction& instruction) {
  std::string name = "k_";
  for (const char c : instruction.name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return name;
}

std::string ModuleText(const Instruction& instruction, std::uint32_t lanes) {
  std::string text =
      ".version 6.5\n.target sm_70\n.address_size 64\n"
      ".visible .entry " +
      KernelName(instruction) +
      "(.param .u64 inputs, .param .u64 results, .param .u64 scratch)\n{\n"
      "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %t<8>;\n  .reg .b64 %u<4>;\n"
      "  .reg .b32 %index, %thread, %lane, %shared;\n"
      "  .reg .b64 %inputs, %results, %column, %global, %warp;\n"
      "  .shared .align 16 .b8 memory[" +
      std::to_string(kBlock * 16) + "];\n";
  for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
    text += "  .reg .b" + Bits(instruction.inputs[i].bytes) + " %a" + std::to_string(i) + ";\n";
  }
  for (std::size_t i = 0; i < instruction.results.size(); ++i) {
    text += "  .reg .b" + Bits(instruction.results[i]) + " %x" + std::to_string(i) + ";\n";
  }
  text +=
      "  ld.param.u64 %inputs, [inputs];\n  ld.param.u64 %results, [results];\n"
      "  ld.param.u64 %global, [scratch];\n"
      "  mov.u32 %index, %ctaid.x;\n  mov.u32 %thread, %tid.x;\n"
      "  mad.lo.u32 %index, %index, " +
      std::to_string(kBlock) +
      ", %thread;\n"
      "  and.b32 %lane, %thread, 31;\n"
      "  sub.u32 %t0, %index, %lane;\n"
      "  mad.wide.u32 %warp, %t0, " +
      std::to_string(kScratchBytes) +
      ", %global;\n"
      "  mad.wide.u32 %global, %index, " +
      std::to_string(kScratchBytes) +
      ", %global;\n"
      "  mov.u32 %shared, memory;\n  mad.lo.u32 %shared, %thread, 16, %shared;\n";
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
    const std::uint32_t bytes = instruction.inputs[i].bytes;
    text += ColumnAddress("%inputs", offset, bytes) + "  ld.global.b" + Bits(bytes) + " %a" +
            std::to_string(i) + ", [%column];\n";
    offset += std::uint64_t{lanes} * bytes;
  }
  text += "  " + instruction.body + "\n";
  offset = 0;
  for (std::size_t i = 0; i < instruction.results.size(); ++i) {
    const std::uint32_t bytes = instruction.results[i];
    text += ColumnAddress("%results", offset, bytes) + "  st.global.b" + Bits(bytes) +
            " [%column], %x" + std::to_string(i) + ";\n";
    offset += std::uint64_t{lanes} * bytes;
  }
  return text + "  ret;\n}\n";
}

}  // namespace voltcheck::conformance
