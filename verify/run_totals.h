#ifndef VOLTCHECK_VERIFY_RUN_TOTALS_H_
#define VOLTCHECK_VERIFY_RUN_TOTALS_H_

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <map>

#include "verify/record.h"

namespace voltcheck::verify {

/// Stage profiles added up over the cases of a run: the group `/totals` of the run file, whose size
/// does not grow with the number of cases.
class RunTotals {
 public:
  void Add(const CaseRecord& record);
  /// Throws h5::Failure.
  void Write(hid_t file) const;

 private:
  struct StageTotals {
    std::array<std::uint64_t, kMagnitudeBins * kMagnitudeBins> density{};
    std::map<int, PartMaximum> experts;
    std::map<int, PartMaximum> tiles;
  };
  std::array<StageTotals, kStages.size()> stages_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RUN_TOTALS_H_
