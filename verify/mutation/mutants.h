#ifndef VOLTCHECK_VERIFY_MUTATION_MUTANTS_H_
#define VOLTCHECK_VERIFY_MUTATION_MUTANTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/plan.h"
#include "verify/mutation/kernel_text.h"

namespace voltcheck::mutation {

/// One planted fault: in a kernel's PTX, or in a plan.
struct Mutant {
  /// "drop-barrier@moe_segments#2": the operator's second place in that kernel. The same for as
  /// long as the kernel's code is the same.
  std::string id;
  std::string op;
  std::string kernel;      ///< entry; empty for faults in plans and data
  std::uint32_t line = 0;  ///< of the PTX file; 0 for faults in plans and data
  std::string what;        ///< one line
  std::vector<Edit> edits;
  std::function<bool(kernels::Plan&)> plant;  ///< empty for faults in kernels

  bool in_kernel() const { return !plant; }
};

/// What to plant faults into.
struct MutantSelection {
  std::vector<kernels::ModuleImage> overrides;  ///< from --kernels: only their entries are mutated
  std::string kernel;                           ///< one entry; empty: all
  std::vector<std::string> operators;           ///< empty: all
};

/// Every mutant that there is, kernels in order of name, and the texts of the kernels.
struct MutantSet {
  std::map<std::string, std::shared_ptr<const KernelText>> kernels;
  std::vector<Mutant> mutants;
};

/// Throws Error (status 2) for an unknown kernel or operator, listing what there is. With overrides
/// or a kernel named, faults in plans and data are left out unless their operators are named.
MutantSet FindMutants(const MutantSelection& selection);

/// At most `most` indices of `mutants`, drawn evenly over operators and, within these, kernels: any
/// prefix is a sample. The order depends on ids and seed alone.
std::vector<std::size_t> SampleOrder(const std::vector<Mutant>& mutants, std::uint64_t seed,
                                     std::size_t most);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_MUTANTS_H_
