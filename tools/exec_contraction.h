#ifndef VOLTCHECK_TOOLS_EXEC_CONTRACTION_H_
#define VOLTCHECK_TOOLS_EXEC_CONTRACTION_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/simulator/ptx/contraction.h"
#include "kernels/simulator/ptx/machine_code.h"

namespace voltcheck::tools {

/// What one launch gave: the contents of each argument's buffer after it, and what was found.
struct ExecRun {
  std::vector<std::vector<std::byte>> contents;  ///< of buffers; empty for other arguments
  std::vector<kernels::Finding> findings;
  kernels::Counters counters;
  std::string printed;  ///< by the kernel's printf
  bool faulted = false;
};
/// Launches the kernel of this PTX text once, on fresh buffers.
using Launcher = std::function<ExecRun(const std::string& ptx)>;

/// A pair, whether fusing it alone changes an output, and what the machine code does with it.
struct PairReport {
  simulator::ptx::ContractionPair pair;
  std::optional<bool> changes;  ///< not tried when there are many
  simulator::ptx::Fusion machine_code = simulator::ptx::Fusion::kUnknown;
};

struct ContractionReport {
  std::string mode;  ///< "off", "on" or "both"
  std::vector<PairReport> pairs;
  std::vector<std::size_t> different_arguments;  ///< both: whose contents differ
  std::string assembler;                         ///< whose machine code was read
  std::string reason;                            ///< why none was
  std::string used;                              ///< "off", "on" or "machine code"
};

struct ContractionOutcome {
  ExecRun run;  ///< the one to report and to save
  ContractionReport report;
};

/// Runs the kernel with no pair fused, with every one, or with both. When both differ, the SM70
/// machine code says which pairs are fused, and a run with these is the outcome; without machine
/// code it is the one with none.
///
/// Throws Error (status 2) for another mode and for PTX that cannot be parsed.
ContractionOutcome RunContractions(const std::string& mode, const std::string& file,
                                   const std::string& ptx, const std::string& kernel,
                                   const Launcher& launch);

/// One line for each fact, or nothing when there is none to tell.
std::string ContractionText(const std::string& file, const ContractionReport& report);
nlohmann::ordered_json ContractionJson(const ContractionReport& report);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_EXEC_CONTRACTION_H_
