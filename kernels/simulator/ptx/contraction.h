#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_CONTRACTION_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_CONTRACTION_H_

#include <string>
#include <vector>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

/// A multiplication and the addition or subtraction that takes its result, neither with a rounding
/// modifier: an assembler may make one fused multiply-add of them.
struct ContractionPair {
  std::string function;
  Location multiply;
  Location add;
  std::string type;  ///< "f32", "f64", "f16" or "f16x2"
  friend bool operator==(const ContractionPair& a, const ContractionPair& b) {
    return a.function == b.function && a.multiply.line == b.multiply.line &&
           a.multiply.column == b.multiply.column && a.add.line == b.add.line &&
           a.add.column == b.add.column;
  }
};

/// Every pair that ptxas may fuse, as it was seen to: both in one straight piece of code, under the
/// same guard, with equal `.ftz`, no `.sat` on the product, and no other use of the product. A sum
/// of two such products belongs to the pair with its first operand.
std::vector<ContractionPair> FindContractionPairs(const Module& module);

/// The text with these pairs fused: the multiplication goes, `fma.rn` takes the place of the
/// addition. Every other instruction keeps its line. `text` is what the module was parsed from.
std::string FusePairs(const std::string& text, const std::vector<ContractionPair>& pairs);

/// The text with all its pairs fused. Throws Error (status 2) as ParseModule does.
std::string FuseAllPairs(const std::string& file, const std::string& text);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_CONTRACTION_H_
