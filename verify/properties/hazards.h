#ifndef VOLTCHECK_VERIFY_PROPERTIES_HAZARDS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_HAZARDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::properties {

/// A class of cases that has broken kernels of this family. Draws aim at each of them in turn, and
/// a run counts which ones it met.
struct Hazard {
  std::string_view name;
  /// `ids`: the experts that the case's routes name, [T, k].
  bool (*has)(const Case& c, const std::vector<std::int32_t>& ids);
};
std::span<const Hazard> Hazards();

/// How many cases of each class a run has met, in the order of Hazards().
class HazardCounts {
 public:
  HazardCounts() : counts_(Hazards().size()) {}
  void Add(const Case& c);
  void Add(const HazardCounts& other);
  std::uint64_t operator[](std::size_t hazard) const { return counts_[hazard]; }
  /// Names of the classes that were not met.
  std::vector<std::string> Missed() const;

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_HAZARDS_H_
