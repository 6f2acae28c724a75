// Atomics on global and shared memory (each lane on an address of its own), and accesses of every
// width.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

struct Atomic {
  const char* operation;
  Words types;
};
const std::vector<Atomic> kAtomics = {{"add", {"u32", "s32", "u64", "f32", "f64"}},
                                      {"add.noftz", {"f16", "f16x2"}},
                                      {"min", {"u32", "s32", "u64", "s64"}},
                                      {"max", {"u32", "s32", "u64", "s64"}},
                                      {"inc", {"u32"}},
                                      {"dec", {"u32"}},
                                      {"and", {"b32", "b64"}},
                                      {"or", {"b32", "b64"}},
                                      {"xor", {"b32", "b64"}},
                                      {"exch", {"b32", "b64"}}};

/// Stores the first operand, runs `operation` on it, gives the old value and what memory then
/// holds.
Instruction OnMemory(const std::string& name, const std::string& space, const std::string& type,
                     std::size_t operands, const std::string& operation) {
  Instruction instruction;
  instruction.name = name;
  instruction.inputs.assign(operands, OperandOf(type));
  const std::uint32_t bytes = OperandOf(type).bytes;
  instruction.results = {bytes, bytes};
  const std::string width = ".b" + std::to_string(8 * bytes);
  instruction.body = "st." + space + width + " [%" + space + "], %a0; " + operation + " ld." +
                     space + width + " %x1, [%" + space + "];";
  return instruction;
}

void AddAtomics(std::vector<Instruction>& all, const std::string& space) {
  const std::string address = "[%" + space + "]";
  for (const Atomic& atomic : kAtomics) {
    for (const std::string& t : atomic.types) {
      const std::string suffix = "." + space + "." + atomic.operation + "." + t;
      all.push_back(
          OnMemory("atom" + suffix, space, t, 2, "atom" + suffix + " %x0, " + address + ", %a1;"));
      if (std::string(atomic.operation) != "exch") {
        const std::string width = ".b" + std::to_string(8 * OperandOf(t).bytes);
        all.push_back(
            OnMemory("red" + suffix, space, t, 2,
                     "mov" + width + " %x0, %a0; red" + suffix + " " + address + ", %a1;"));
      }
    }
  }
  for (const std::string& t : Words{"b16", "b32", "b64"}) {
    const std::string name = "atom." + space + ".cas." + t;
    all.push_back(
        OnMemory(name + " (other)", space, t, 3, name + " %x0, " + address + ", %a1, %a2;"));
    all.push_back(
        OnMemory(name + " (equal)", space, t, 2, name + " %x0, " + address + ", %a0, %a1;"));
  }
}

/// A narrow load of what was stored: how it extends into the register.
void AddNarrowLoads(std::vector<Instruction>& all) {
  for (const std::string& t : Words{"u8", "s8", "u16", "s16", "b8", "b16"}) {
    for (const std::string& space : Words{"global", "shared"}) {
      Instruction load = Plain("ld." + space + "." + t + " -> b32", {"b32"}, "b32");
      load.body = "st." + space + ".b32 [%" + space + "], %a0; ld." + space + "." + t + " %x0, [%" +
                  space + "];";
      all.push_back(load);
      Instruction store = Plain("st." + space + "." + t + " <- b32", {"b32", "b32"}, "b32");
      store.body = "st." + space + ".b32 [%" + space + "], %a0; st." + space + "." + t + " [%" +
                   space + "+2], %a1; ld." + space + ".b32 %x0, [%" + space + "];";
      all.push_back(store);
    }
  }
  for (const std::string& t : Words{"u8", "s8", "u16", "s16", "u32", "s32"}) {
    Instruction load = Plain("ld.global." + t + " -> b64", {"b64"}, "b64");
    load.body = "st.global.b64 [%global], %a0; ld.global." + t + " %x0, [%global];";
    all.push_back(load);
  }
}

}  // namespace

void AddMemory(std::vector<Instruction>& all) {
  AddAtomics(all, "global");
  AddAtomics(all, "shared");
  AddNarrowLoads(all);
}

}  // namespace voltcheck::conformance
