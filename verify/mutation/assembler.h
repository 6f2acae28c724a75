#ifndef VOLTCHECK_VERIFY_MUTATION_ASSEMBLER_H_
#define VOLTCHECK_VERIFY_MUTATION_ASSEMBLER_H_

#include <cstddef>
#include <string>
#include <vector>

namespace voltcheck::mutation {

/// What the toolkit's assembler made of one kernel for SM70.
struct Assembled {
  bool accepted = false;
  std::string message;  ///< its first line of complaint when it refused
  /// Machine code, constants and shared-memory size of the kernel: equal for two texts exactly when
  /// the chip would run the same.
  std::vector<std::byte> code;
};

/// The assembler to use: `named` if it is not empty, else the environment's VOLTCHECK_PTXAS, else
/// the one that the build found. Throws Error: status 2 when a named one cannot be run, status 3
/// when the build's is not on this machine.
std::string FindAssembler(const std::string& named);

/// Runs `ptxas`, in a process of its own with a limit on its time. Thread safe. Throws Error
/// (status 3) when it cannot be started.
Assembled Assemble(const std::string& ptxas, const std::string& ptx, const std::string& entry);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_ASSEMBLER_H_
