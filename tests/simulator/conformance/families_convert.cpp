// cvt between every pair of types with every rounding, .ftz and .sat that PTX allows on SM70.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

const Words kIntegers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
const Words kFloats = {"f16", "f32", "f64"};
const Words kRoundings = {".rn", ".rz", ".rm", ".rp"};
const Words kWhole = {".rni", ".rzi", ".rmi", ".rpi"};

int Size(const std::string& type) { return std::stoi(type.substr(1)); }

/// Whether every value of the integer type `from` is one of `to`; then PTX has no .sat.
bool Fits(const std::string& from, const std::string& to) {
  return from[0] == to[0] ? Size(from) <= Size(to) : to[0] == 's' && Size(from) < Size(to);
}

void Add(std::vector<Instruction>& all, const std::string& modifiers, const std::string& to,
         const std::string& from) {
  all.push_back(Plain("cvt" + modifiers + "." + to + "." + from, {from}, to));
}

/// .ftz exists where one side is binary32.
Words Flush(const std::string& to, const std::string& from) {
  return to == "f32" || from == "f32" ? Words{"", ".ftz"} : Words{""};
}

void AddBetweenFloats(std::vector<Instruction>& all) {
  for (const std::string& to : kFloats) {
    for (const std::string& from : kFloats) {
      // Narrowing rounds, widening does not, and between equal types only whole numbers round.
      const bool narrows = Size(to) < Size(from);
      const Words roundings = narrows ? kRoundings : Words{""};
      for (const std::string& ftz : Flush(to, from)) {
        for (const std::string& sat : Words{"", ".sat"}) {
          for (const std::string& rounding : roundings) {
            Add(all, rounding + ftz + sat, to, from);
          }
          if (to == from) {
            for (const std::string& rounding : kWhole) {
              Add(all, rounding + ftz + sat, to, from);
            }
          }
        }
      }
    }
  }
}

}  // namespace

void AddConvert(std::vector<Instruction>& all) {
  for (const std::string& to : kIntegers) {
    for (const std::string& from : kIntegers) {
      Add(all, "", to, from);
      if (!Fits(from, to)) {
        Add(all, ".sat", to, from);
      }
    }
    for (const std::string& from : kFloats) {
      for (const std::string& ftz : Flush(to, from)) {
        for (const std::string& rounding : kWhole) {
          Add(all, rounding + ftz, to, from);
        }
      }
    }
  }
  for (const std::string& to : kFloats) {
    for (const std::string& from : kIntegers) {
      for (const std::string& rounding : kRoundings) {
        Add(all, rounding, to, from);
        Add(all, rounding + ".sat", to, from);
      }
    }
  }
  AddBetweenFloats(all);
}

}  // namespace voltcheck::conformance
