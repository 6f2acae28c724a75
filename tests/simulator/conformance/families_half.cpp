// binary16, alone and in pairs.
#include "instruction.h"

namespace voltcheck::conformance {

void AddHalf(std::vector<Instruction>& all) {
  using Words = std::vector<std::string>;
  for (const std::string& t : Words{"f16", "f16x2"}) {
    for (const std::string& ftz : Words{"", ".ftz"}) {
      for (const std::string& sat : Words{"", ".sat"}) {
        for (const char* op : {"add", "sub", "mul"}) {
          all.push_back(Plain(op + (".rn" + ftz + sat + "." + t), {t, t}, t));
        }
        all.push_back(Plain("fma.rn" + ftz + sat + "." + t, {t, t, t}, t));
      }
      all.push_back(Plain("neg" + ftz + "." + t, {t}, t));
      all.push_back(Plain("abs" + ftz + "." + t, {t}, t));
    }
  }
}

}  // namespace voltcheck::conformance
