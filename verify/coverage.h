#ifndef VOLTCHECK_VERIFY_COVERAGE_H_
#define VOLTCHECK_VERIFY_COVERAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// A dimension of the contract and the values that a complete suite holds: tokens 1, 2, 8, 9, 127,
/// 128; every path; every routing class; both slot orders; groups; metadata forms; column layouts;
/// and for each GEMM every tactic (tile, splits) that exists for any group.
struct Dimension {
  std::string name;
  std::vector<std::string> values;
};

/// How far the cases cover every pair of values of two dimensions. W13's tactic beside W2's counts
/// by tile alone: the two GEMMs are separate launches, and their split counts meet nowhere.
struct PairCoverage {
  std::size_t first = 0;  ///< index into Coverage::dimensions
  std::size_t second = 0;
  std::size_t covered = 0;
  std::vector<std::string> missing;     ///< "tokens 2, path dense"
  std::vector<std::string> infeasible;  ///< "tokens 2, path m1: " and the rule that forbids it
  std::size_t feasible() const { return covered + missing.size(); }
};

/// Tactics that ran at the contract's shape (H 2560, I 160, E 512, k 10, g 32), for T = 2 and 8.
struct ContractCoverage {
  int tokens = 0;
  std::size_t w13 = 0, w13_feasible = 0;
  std::size_t w2 = 0, w2_feasible = 0;
};

struct Coverage {
  std::size_t cases = 0;
  std::vector<Dimension> dimensions;
  std::vector<PairCoverage> pairs;  ///< of each two dimensions, first < second
  std::vector<ContractCoverage> contract;
  /// Nothing feasible is missing.
  bool complete() const;
};

/// What a list of cases covers. A pair is infeasible when ValidateCase refuses every case that has
/// both values and is otherwise as permissive as a case can be.
Coverage Cover(const std::vector<Case>& cases);

/// The table as text: covered / feasible pairs of each two dimensions, the rules behind infeasible
/// pairs, what is missing, and the tactics at the contract's shape.
std::string ToText(const Coverage& coverage);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_COVERAGE_H_
