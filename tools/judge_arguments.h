#ifndef VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_
#define VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "tools/arguments.h"
#include "verify/judge_options.h"

namespace voltcheck::tools {

/// Adds --config, --policy, --order, --allow-skip, --allow-unused, --breakdown and the limits of
/// each stage, --STAGE.LIMIT. docs/judgement.md explains them.
void AddJudgeOptions(Arguments& arguments);

/// Reads them. Throws Error (status 2) that names the option, or file and line.
verify::JudgeOptions ReadJudgeOptions(const Arguments& arguments);
/// The filters of --allow-skip, checked.
std::vector<std::string> ReadAllowedSkips(const Arguments& arguments);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_
