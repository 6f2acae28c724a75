#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_MACHINE_CODE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_MACHINE_CODE_H_

#include <string>
#include <vector>

#include "kernels/simulator/ptx/contraction.h"

namespace voltcheck::simulator::ptx {

/// What the SM70 machine code does with a pair.
enum class Fusion { kFused, kSeparate, kBoth, kUnknown };
std::string NameOf(Fusion fusion);

struct MachineCode {
  std::vector<Fusion> fusions;  ///< one per pair
  std::string assembler;        ///< "ptxas 11.8.89", or empty: it could not be had
  std::string reason;           ///< why not
};

/// Assembles a copy of the PTX, whose .loc directives number its own lines, with the CUDA toolkit's
/// ptxas for sm_70, and looks at the instructions that nvdisasm lists for the lines of each pair.
/// The programs are $VOLTCHECK_CUDA_BIN/ptxas and nvdisasm, or else the first on PATH and in
/// /usr/bin, /usr/local/cuda/bin whose ptxas still knows sm_70.
MachineCode LookUpFusions(const std::string& text, const Module& module,
                          const std::vector<ContractionPair>& pairs);

/// The copy that is assembled: each instruction's line is announced by `.loc 1 LINE 1`.
std::string NumberLines(const std::string& text, const Module& module);

/// Reads nvdisasm's listing: for each pair, whether its lines hold a product of their own.
std::vector<Fusion> ReadListing(const std::string& listing,
                                const std::vector<ContractionPair>& pairs);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_MACHINE_CODE_H_
