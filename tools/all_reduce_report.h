#ifndef VOLTCHECK_TOOLS_ALL_REDUCE_REPORT_H_
#define VOLTCHECK_TOOLS_ALL_REDUCE_REPORT_H_

#include "tools/arguments.h"

namespace voltcheck::tools {

/// `voltcheck logits --all-reduce`: what the order of a tensor-parallel sum alone changes, of
/// captured outputs of the ranks or of a case that is split over them.
void AddAllReduceOptions(Arguments& arguments);
ExitStatus ReportAllReduce(const Arguments& arguments);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_ALL_REDUCE_REPORT_H_
