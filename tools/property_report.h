#ifndef VOLTCHECK_TOOLS_PROPERTY_REPORT_H_
#define VOLTCHECK_TOOLS_PROPERTY_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/device_options.h"
#include "verify/properties/search.h"

namespace voltcheck::tools {

/// Which properties a command asks, and about what.
struct PropertyOptions {
  int draws = 0;           ///< cases drawn for each property
  std::uint64_t seed = 0;  ///< added to the draws' own seed
  int jobs = 0;
  std::string regressions;  ///< file of counterexamples: asked first, added to; empty: none
  std::vector<properties::Regression> questions;  ///< asked as they stand
};

/// Asks them on the device, and adds what was found to the file of regressions. Throws what
/// RunProperties and ReadRegressions throw.
properties::SearchResult AskProperties(const PropertyOptions& options,
                                       const verify::DeviceOptions& device);

/// Which properties need not have held anywhere, beside those that need the simulator, elsewhere.
struct PropertyAllowance {
  bool foreign = false;   ///< those that speak about the built-in kernels alone
  bool declined = false;  ///< those of which the kernels declined every case
};

/// Whether the properties let a gate pass: none broken, every hazard class met, and every property
/// that was asked held at least once, or need not.
bool Passed(const properties::SearchResult& result, const PropertyAllowance& allowance);

/// One line for the table, and for each broken property what, where, how to repeat it and how it
/// was drawn. `suffix` is added to reproduction lines.
void PrintProperties(std::FILE* out, const properties::SearchResult& result,
                     const PropertyAllowance& allowance, bool colour, const std::string& suffix);

/// {"held": ..., "broken": ..., "skipped": ..., "hazards": {...}, "checks": [...]}.
nlohmann::ordered_json ToJson(const properties::SearchResult& result);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_PROPERTY_REPORT_H_
