#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_DIRECTIVES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_DIRECTIVES_H_

#include <cstdint>

#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

// Directives that stand both in a module and in a function. Each parser begins behind the
// directive's word.

/// `.file 1 "path"[, time, size]`
void ParseFile(Cursor& cursor, Module& module);

struct SourcePosition {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};
/// `.loc 1 12 3[, function_name label[+4], inlined_at 1 10 5]`: the position, without the inlining.
SourcePosition ParseLoc(Cursor& cursor);

/// `.pragma "nounroll";`, which changes no result.
void SkipPragma(Cursor& cursor);

/// `.section .debug_str { ... }`
void SkipSection(Cursor& cursor);

/// `.noreturn`, `.abi_preserve 8`: what may stand behind the parameters of a function. True when
/// taken.
bool SkipFunctionProperty(Cursor& cursor);

/// The tuning directives of an entry (`.maxntid 128, 1, 1`, `.reqntid`, `.minnctapersm`, ...), as
/// many as there are; they fill the function's thread counts.
void ParseTuning(Cursor& cursor, Function& function);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_DIRECTIVES_H_
