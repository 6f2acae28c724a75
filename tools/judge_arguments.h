#ifndef VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_
#define VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "tools/arguments.h"
#include "verify/judge_options.h"

namespace voltcheck::tools {

/// Adds --config, --policy, --order, --allow-skip, --allow-unused, --breakdown and the limits of
/// each stage, --STAGE.LIMIT. docs/judgement.md explains them. `order_may_be_found`: --order also
/// takes `auto`, the default then, which leaves the order to the command (JudgeOptions says
/// declared).
void AddJudgeOptions(Arguments& arguments, bool order_may_be_found = false);

/// Reads them. Throws Error (status 2) that names the option, or file and line.
verify::JudgeOptions ReadJudgeOptions(const Arguments& arguments, bool order_may_be_found = false);
/// The filters of --allow-skip, checked.
std::vector<std::string> ReadAllowedSkips(const Arguments& arguments);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_JUDGE_ARGUMENTS_H_
