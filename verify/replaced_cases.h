#ifndef VOLTCHECK_VERIFY_REPLACED_CASES_H_
#define VOLTCHECK_VERIFY_REPLACED_CASES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/device.h"

namespace voltcheck::verify {

/// The entries of `overrides` but for the names in `left_out`.
std::set<std::string> ReplacedEntries(const std::vector<kernels::ModuleImage>& overrides,
                                      const std::vector<std::string>& left_out);

/// An entry of the grouped GEMM.
struct ReplacedGemm {
  Tile tile;
  int group = 0;
  Metadata metadata = Metadata::k4Byte;
};

/// Those among `entries`.
std::vector<ReplacedGemm> ReplacedGemms(const std::set<std::string>& entries);

/// A suite meets every hazard with some tile, but not with each: a kernel that stands in for one
/// entry would be judged by the few cases that happen to name its tile. These are the hazards of
/// that entry, in both GEMMs: segments that end inside its tile, fill it exactly or need several;
/// splits that divide evenly and not; rounding ties, subnormals and the ends of binary16; fused
/// SiLU; every path; experts beyond one byte, 512 of them, the contract's sizes. Small cases that a
/// simulator runs in a fraction of a second. `seed` is added to each case's own.
std::vector<Case> HazardCases(const ReplacedGemm& gemm, std::uint64_t seed);

/// The same for the other kernels that `entries` names: sizes that are too dear for a suite which
/// runs whatever was changed.
std::vector<Case> HazardCases(const std::set<std::string>& entries, std::uint64_t seed);

/// Appends all hazard cases of `entries` that `cases` does not hold yet.
void AddHazardCases(const std::set<std::string>& entries, std::uint64_t seed,
                    std::vector<Case>& cases);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_REPLACED_CASES_H_
