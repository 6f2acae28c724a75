#ifndef VOLTCHECK_TOOLS_JSON_RECORD_H_
#define VOLTCHECK_TOOLS_JSON_RECORD_H_

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "verify/record.h"
#include "verify/sweep.h"

namespace voltcheck::tools {

/// One entry of "cases". Figures that are not finite are null.
nlohmann::ordered_json ToJson(const verify::CaseRecord& record);
/// A checker's finding, and the counters of what ran.
nlohmann::ordered_json ToJson(const kernels::Finding& finding);
nlohmann::ordered_json ToJson(const kernels::Counters& counters);
nlohmann::ordered_json ToJson(const verify::LogitFigures& figures);
/// "summary": the number of cases by verdict.
nlohmann::ordered_json ToJson(const verify::Summary& summary);

/// Writes {"schema": ..., "cases": [...], "summary": {...}} as the cases come, so that memory does
/// not grow with them.
class JsonStream {
 public:
  JsonStream(std::FILE* out, std::string_view schema);
  void Append(const verify::CaseRecord& record);
  void Finish(nlohmann::ordered_json summary);

 private:
  std::FILE* out_;
  bool first_ = true;
};

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_JSON_RECORD_H_
