#ifndef VOLTCHECK_TESTS_KERNELS_GOLDEN_STAGE_GOLDEN_H_
#define VOLTCHECK_TESTS_KERNELS_GOLDEN_STAGE_GOLDEN_H_

#include <array>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>

#include "kernels/stage_runner.h"

namespace voltcheck::kernels::testing {

/// The stages of a line, in order.
inline constexpr std::array<std::string_view, 4> kGoldenStages{"w13", "silu", "w2", "output"};

/// A hash of every stage's output bits, 16 hex digits (the first 64 bits of SHA-256 over the
/// little-endian halves), or "-" for a stage that a case does not store.
using StageHashes = std::array<std::string, kGoldenStages.size()>;
StageHashes HashStages(const ObservedStage& observed);

/// Under which a case stands in the file: 16 hex digits of its descriptor's SHA-256.
std::string CaseKey(std::string_view descriptor);

/// What a device gave for a suite, compactly: `# name value` lines that say where it comes from,
/// then one line a case: key and four hashes, separated by tabs.
struct StageGolden {
  std::map<std::string, std::string> origin;  ///< device, driver, numerics, kernels, suite, cases
  std::map<std::string, StageHashes> cases;   ///< by key
};
void Write(const StageGolden& golden, std::ostream& out);
/// Throws Error (status 2) that names `where` and the line for text that is no such file.
StageGolden Read(std::string_view where, std::istream& in);

}  // namespace voltcheck::kernels::testing

#endif  // VOLTCHECK_TESTS_KERNELS_GOLDEN_STAGE_GOLDEN_H_
