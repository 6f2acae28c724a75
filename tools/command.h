#ifndef VOLTCHECK_TOOLS_COMMAND_H_
#define VOLTCHECK_TOOLS_COMMAND_H_

#include <string>
#include <vector>

#include "fixtures/case/error.h"

namespace voltcheck::tools {

/// What follows the subcommand's name on the command line.
using Words = std::vector<std::string>;

/// Each runs one subcommand and returns its exit status; an Error it throws becomes one line on
/// standard error. docs/commands/ has a page for each.
ExitStatus Gate(const Words& words);
ExitStatus Sweep(const Words& words);
ExitStatus Merge(const Words& words);
ExitStatus Replay(const Words& words);
ExitStatus Inspect(const Words& words);
ExitStatus List(const Words& words);
ExitStatus Exec(const Words& words);
ExitStatus RunProgram(const Words& words);
ExitStatus Logits(const Words& words);
ExitStatus Traces(const Words& words);
ExitStatus Explain(const Words& words);
ExitStatus Mutate(const Words& words);
ExitStatus Report(const Words& words);
ExitStatus Diff(const Words& words);
ExitStatus Import(const Words& words);
ExitStatus Judge(const Words& words);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_COMMAND_H_
