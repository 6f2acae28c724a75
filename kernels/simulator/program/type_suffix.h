#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_TYPE_SUFFIX_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_TYPE_SUFFIX_H_

#include <string_view>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// A type at the end of a mnemonic. `bytes` is 0 for anything that is no type, and for `pred`.
struct TypeSuffix {
  std::uint8_t bytes = 0;
  NumberKind number = NumberKind::kUnsigned;
  char kind = 0;  ///< register kind: h (8- and 16-bit), w, x, p
  bool valid() const { return kind != 0; }
};

constexpr TypeSuffix FindTypeSuffix(std::string_view name) {
  if (name == "pred") {
    return {0, NumberKind::kUnsigned, 'p'};
  }
  if (name == "f16x2" || name == "bf16x2") {
    return {4, NumberKind::kFloatPair, 'w'};
  }
  if (name.size() < 2) {
    return {};
  }
  const NumberKind number = name[0] == 's'   ? NumberKind::kSigned
                            : name[0] == 'f' ? NumberKind::kFloat
                                             : NumberKind::kUnsigned;
  if (name[0] != 's' && name[0] != 'f' && name[0] != 'u' && name[0] != 'b') {
    return {};
  }
  const std::string_view bits = name.substr(1);
  if (bits == "8" && name[0] != 'f') {
    return {1, number, 'h'};
  }
  if (bits == "16") {
    return {2, number, 'h'};
  }
  if (bits == "32") {
    return {4, number, 'w'};
  }
  if (bits == "64") {
    return {8, number, 'x'};
  }
  return {};
}

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_TYPE_SUFFIX_H_
