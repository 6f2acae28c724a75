#ifndef VOLTCHECK_TOOLS_FOREIGN_REPORT_H_
#define VOLTCHECK_TOOLS_FOREIGN_REPORT_H_

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "verify/outputs_judge.h"

namespace voltcheck::tools {

/// One line for each GEMM: which tactics reproduce foreign outputs bit for bit, or that none does.
std::string TacticText(const char* gemm, const verify::TacticMatch& match);

/// {"w13": {"looked_for", "tactics"}, "w2": ..., "order": ..., "logits": ...}
nlohmann::ordered_json ToJson(const verify::ForeignVerdict& verdict);

/// What of foreign logits a person wants to see; nothing without any.
void PrintLogits(std::FILE* out, const verify::ForeignVerdict& verdict);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_FOREIGN_REPORT_H_
