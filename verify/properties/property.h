#ifndef VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_H_
#define VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_H_

#include <span>
#include <string>
#include <string_view>

#include "fixtures/case/problem.h"
#include "verify/properties/bench.h"

namespace voltcheck::properties {

/// Something that a correct kernel does for every case, told from its own results alone: no
/// reference says what the values are, only how two runs must hang together.
struct Property {
  std::string_view name;       ///< as --property and the run file have it, "token-permutation"
  std::string_view statement;  ///< one line
  /// Which cases it speaks about. Any of them can be run; the others are left out.
  bool (*applies)(const Case& c);
  /// Returns when it holds. Throws Breach when it is broken, and NothingToCompare when the values
  /// leave no element that it speaks about.
  void (*check)(const Problem& problem, Bench& bench);
  bool many_runs = false;       ///< runs a case so often that only small ones are drawn for it
  bool simulator_only = false;  ///< needs schedules, or memory that a GPU would have to back
  bool built_in_only = false;   ///< changes arguments of the built-in kernels' launches
};

/// All properties, in the order in which they are listed and run.
std::span<const Property> Properties();

/// Throws Error (status 2) that lists the names.
const Property& FindProperty(std::string_view name);

/// How one property did on one case.
enum class Holding { kHeld, kBroken, kNotApplicable };
struct PropertyResult {
  Holding holding = Holding::kHeld;
  std::string reason;  ///< one line; empty when it held
  std::string tensor;  ///< where it broke; empty when that is no single element
  int row = -1;
  int col = -1;
  double got = 0;
  double want = 0;
};

/// Whether the property can be asked about this case at all: its own condition, and that the
/// kernels have a plan for the whole stage.
bool AppliesTo(const Property& property, const Case& c);

/// Asks one property about one case. Throws Error for what is neither the kernels' nor the
/// property's fault: a module that does not load, a device that is not there.
PropertyResult CheckProperty(const Property& property, const Problem& problem, Bench& bench);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_H_
