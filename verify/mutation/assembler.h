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

/// Runs the ptxas that the build found, in a process of its own with a limit on its time. Thread
/// safe. Throws Error (status 3) when it is not there or cannot be started.
Assembled Assemble(const std::string& ptx, const std::string& entry);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_ASSEMBLER_H_
