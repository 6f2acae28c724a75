#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_NARROW_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_NARROW_H_

#include <cstdint>
#include <string>

#include "verify/mutation/kernel_text.h"
#include "verify/mutation/proof/formulas.h"

namespace voltcheck::mutation::proof {

/// Looks for a place near `node` where all that the instruction there computes has come down to one
/// register which is a function of few bits: of one half, or of a nibble between constant bits.
/// Then both programs are run in the simulator on every value that these bits can have.
///
/// `instead`: the mutant's statements in place of the one at `node`. Returns what was seen, "equal
/// for all 65536 values of %rs4", if they always agree; else an empty text.
std::string EqualOnAllInputs(const KernelText& kernel, const Flow& flow, Formulas& formulas,
                             std::uint32_t node, const std::string& instead);

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_NARROW_H_
