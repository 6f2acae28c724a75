// What the functions of the CUDA device runtime need beyond PTX.
#include <algorithm>
#include <bit>
#include <string>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/exec/registry.h"
#include "kernels/simulator/memory/address_space.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kMostCharacters = 512;

std::string TextAt(const ExecContext& context, std::uint64_t address) {
  const Allocation* allocation = context.global->Find(address);
  std::string text;
  if (allocation == nullptr) {
    return "?";
  }
  const std::uint64_t end =
      std::min(allocation->base + allocation->bytes, address + kMostCharacters);
  for (; address < end; ++address) {
    const char c = static_cast<char>(allocation->host[address - allocation->base]);
    if (c == 0) {
      break;
    }
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

/// op[]: condition, file, line, function; the strings are in global memory.
void AssertFail(ExecContext& context, const Instr& instr) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(context.mask));
  const auto text = [&](std::size_t i) {
    return TextAt(context, context.Row<const std::uint64_t>(instr.op[i])[lane]);
  };
  throw Fault{"assert",
              "assertion `" + text(0) + "` failed in " + text(3) + ", " + text(1) + ":" +
                  std::to_string(context.Row<const std::uint32_t>(instr.op[2])[lane]),
              lane, 0};
}

}  // namespace

void AppendRuntimeOps(OpList& list) { list.push_back({"@assertfail", "", AssertFail, AssertFail}); }

}  // namespace voltcheck::simulator
