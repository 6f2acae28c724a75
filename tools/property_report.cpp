#include "tools/property_report.h"

#include <set>

#include "tools/interrupt.h"
#include "tools/terminal.h"
#include "verify/filter.h"
#include "verify/report/text.h"

namespace voltcheck::tools {
namespace {

using properties::SearchResult;
using verify::PropertyRecord;
using verify::Verdict;

/// Whether it does not matter that this question was not answered.
bool MayBeSkipped(const PropertyRecord& record, const PropertyAllowance& allowance) {
  const properties::Property& property = properties::FindProperty(record.property);
  return record.verdict == Verdict::kSkipped &&
         (property.simulator_only || (allowance.foreign && property.built_in_only) ||
          (allowance.declined && record.reason.starts_with(verify::kDeclinedPrefix)));
}

/// Properties that held nowhere although they should have, and what stood in the way.
std::vector<std::pair<std::string, std::string>> NeverHeld(const SearchResult& result,
                                                           const PropertyAllowance& allowance) {
  std::set<std::string> settled;
  for (const PropertyRecord& record : result.records) {
    if (record.verdict == Verdict::kPassed || MayBeSkipped(record, allowance)) {
      settled.insert(record.property);
    }
  }
  std::vector<std::pair<std::string, std::string>> never;
  for (const PropertyRecord& record : result.records) {
    if (record.verdict != Verdict::kFailed && settled.insert(record.property).second) {
      never.emplace_back(record.property, record.reason);
    }
  }
  return never;
}

}  // namespace

SearchResult AskProperties(const PropertyOptions& options, const verify::DeviceOptions& device) {
  properties::SearchOptions search = properties::MakeSearchOptions(device);
  search.draws = options.draws;
  search.seed += options.seed;
  search.questions = options.questions;
  if (options.jobs > 0 && search.jobs == 0) {
    search.jobs = options.jobs;
  }
  if (!options.regressions.empty()) {
    search.regressions = properties::ReadRegressions(options.regressions);
  }
  SearchResult result = properties::RunProperties(search, InterruptGuard::Requested);
  if (!options.regressions.empty()) {
    properties::AddRegressions(options.regressions, result.Counterexamples());
  }
  return result;
}

bool Passed(const SearchResult& result, const PropertyAllowance& allowance) {
  return result.broken == 0 && (result.held > 0 || result.records.empty()) &&
         NeverHeld(result, allowance).empty() &&
         (!result.classes_due || result.hazards.Missed().empty());
}

void PrintProperties(std::FILE* out, const SearchResult& result, const PropertyAllowance& allowance,
                     bool colour, const std::string& suffix) {
  const std::size_t classes = properties::Hazards().size();
  const std::vector<std::string> missed = result.hazards.Missed();
  std::fprintf(out,
               "\nproperties  %zu asked: %llu held, %llu broken, %llu skipped; hazards %zu/%zu\n",
               result.records.size(), static_cast<unsigned long long>(result.held),
               static_cast<unsigned long long>(result.broken),
               static_cast<unsigned long long>(result.skipped), classes - missed.size(), classes);
  for (const std::string& hazard : result.classes_due ? missed : std::vector<std::string>()) {
    std::fprintf(out, "  untested  no case was drawn with %s\n", hazard.c_str());
  }
  for (const auto& [property, reason] : NeverHeld(result, allowance)) {
    constexpr std::size_t kUntested = 12;  // columns that "  untested  " takes
    const std::string what = report::Wrap(report::Clean(property + ": " + reason), kUntested, 4);
    std::fprintf(out, "  untested  %s\n", what.c_str());
  }
  for (const PropertyRecord& record : result.records) {
    if (record.verdict == Verdict::kFailed) {
      constexpr std::size_t kBroken = 10;  // columns that "  broken  " takes
      const std::string what =
          report::Wrap(report::Clean(record.property + ": " + record.reason), kBroken, 4);
      std::fprintf(out, "  %s  %s\n", Paint("broken", Colour::kRed, colour).c_str(), what.c_str());
      std::fprintf(out, "  %s%s\n", record.reproduction.c_str(), suffix.c_str());
      if (!record.drawn.empty()) {
        std::fprintf(out, "  seed %llu, draw %llu, made smaller %llu times from '%s'\n",
                     static_cast<unsigned long long>(record.seed),
                     static_cast<unsigned long long>(record.draw),
                     static_cast<unsigned long long>(record.shrinks), record.drawn.c_str());
      }
    }
  }
}

nlohmann::ordered_json ToJson(const SearchResult& result) {
  nlohmann::ordered_json json;
  json["held"] = result.held;
  json["broken"] = result.broken;
  json["skipped"] = result.skipped;
  for (std::size_t h = 0; h < properties::Hazards().size(); ++h) {
    json["hazards"][std::string(properties::Hazards()[h].name)] = result.hazards[h];
  }
  json["checks"] = nlohmann::ordered_json::array();
  for (const PropertyRecord& record : result.records) {
    json["checks"].push_back({{"property", record.property},
                              {"descriptor", record.descriptor},
                              {"seed", record.seed},
                              {"draw", record.draw},
                              {"regression", record.regression},
                              {"verdict", std::string(verify::ToString(record.verdict))},
                              {"reason", record.reason},
                              {"reproduction", record.reproduction},
                              {"drawn", record.drawn},
                              {"shrinks", record.shrinks}});
  }
  return json;
}

}  // namespace voltcheck::tools
