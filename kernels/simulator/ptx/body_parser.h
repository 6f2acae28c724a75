#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_BODY_PARSER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_BODY_PARSER_H_

#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/module_context.h"

namespace voltcheck::simulator::ptx {

/// Parses a function's body, braces included, into `function`, whose header is complete. Variables
/// of the module that the body declares go into the context.
void ParseBody(Cursor& cursor, ModuleContext& context, Function& function);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_BODY_PARSER_H_
