#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_PROVER_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_PROVER_H_

#include <memory>
#include <string>
#include <vector>

#include "verify/mutation/kernel_text.h"

namespace voltcheck::mutation::proof {

/// Finds proofs that a mutant of one kernel computes what the kernel computes, in every launch that
/// keeps the premises (premises.h). docs/mutation.md says what kinds of proof there are and why
/// they hold. Finds none for most mutants that are equivalent for a reason beyond one instruction.
class Prover {
 public:
  explicit Prover(std::shared_ptr<const KernelText> kernel);
  ~Prover();

  /// The proof in one line; empty when none was found. Thread-safe, and the same for the same
  /// mutant whatever was asked before.
  std::string Prove(const std::vector<Edit>& edits);

 private:
  struct Parts;
  struct Kernel;
  std::unique_ptr<const Kernel> kernel_;
};

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_PROVER_H_
