#ifndef VOLTCHECK_VERIFY_MUTATION_KILLERS_H_
#define VOLTCHECK_VERIFY_MUTATION_KILLERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::mutation {

/// A case with the schedule that runs it.
struct Killer {
  Case c;
  std::uint64_t schedule = 0;
};

/// The cases that a mutant of the kernel `entry` is shown, cheapest and most likely first: just
/// cases that launch it. For an entry that is no GEMM, and for the empty name (plans and data),
/// along small tactics. verify/mutation/killers.txt has them as grids.
std::vector<Killer> QuickKillers(const std::string& entry);

/// For what survived those: other seeds, schedules and shapes, at least ten times as many.
std::vector<Killer> DeepKillers(const std::string& entry);

/// Case number `index` of the endless list of honest cases: every path, layout, form, data, tactic
/// of the smallest tiles, split and numerics, on tiny shapes. verify/mutation/honest.txt has them
/// as grids; each round through them has other seeds and schedules.
Killer HonestCase(std::uint64_t index, std::uint64_t seed);

/// Lines of a text of ours without comments and empty ones.
std::vector<std::string> DataLines(std::string_view text);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_KILLERS_H_
