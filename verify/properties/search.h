#ifndef VOLTCHECK_VERIFY_PROPERTIES_SEARCH_H_
#define VOLTCHECK_VERIFY_PROPERTIES_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verify/device_options.h"
#include "verify/properties/hazards.h"
#include "verify/properties/property.h"
#include "verify/properties/regressions.h"
#include "verify/property_record.h"

namespace voltcheck::properties {

/// The seed of the draws unless another one is asked for.
inline constexpr std::uint64_t kDefaultSeed = 20240229;

/// How a run of properties is made.
struct SearchOptions {
  std::uint64_t seed = kDefaultSeed;
  int draws = 3;  ///< cases for each property
  int jobs = 0;   ///< properties in flight; 0: all cores. Never changes a result.
  std::vector<Regression> regressions;  ///< asked before anything is drawn
  std::vector<Regression> questions;    ///< asked behind them as they stand; counted as draws
  std::vector<const Property*> chosen;  ///< empty: all of them
  /// Makes the bench of one property; called on the thread that works on it.
  std::function<std::unique_ptr<Bench>()> make_bench;
  /// What the reproduction line needs beside property and case, " --device simulator".
  std::string reproduction_suffix;
};

/// What a run of properties found.
struct SearchResult {
  std::vector<verify::PropertyRecord> records;  ///< regressions first, then by property and draw
  HazardCounts hazards;                         ///< over the cases drawn
  std::uint64_t held = 0, broken = 0, skipped = 0;
  /// Whether every hazard class must have been met: all properties, four draws each or more.
  bool classes_due = false;
  bool complete = true;  ///< false: stopped from outside

  /// Counterexamples among the records, for the file of regressions.
  std::vector<Regression> Counterexamples() const;
};

/// Asks every property about its regressions, its questions and then about `draws` cases. A
/// property that breaks is given up, after its case was made as small as possible. Draws depend on
/// seed, property and number of the draw alone, and aim at the hazard classes in turn. `stop` is
/// polled before each case. Throws what CheckProperty throws.
SearchResult RunProperties(const SearchOptions& options, const std::function<bool()>& stop);

/// The cases that RunProperties draws first for each property and draw, without asking anything.
std::vector<Case> DrawnCases(const SearchOptions& options);

/// One property about one case, as RunProperties records it, without making it smaller.
verify::PropertyRecord AskOnce(const Property& property, const Problem& problem, Bench& bench,
                               const std::string& reproduction_suffix);

/// Options for real devices.
SearchOptions MakeSearchOptions(const verify::DeviceOptions& device);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_SEARCH_H_
