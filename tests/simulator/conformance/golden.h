#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_GOLDEN_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_GOLDEN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "instruction.h"
#include "kernels/device.h"
#include "operand_values.h"

namespace voltcheck::conformance {

/// What a device gave for one instruction, without the results themselves.
struct GoldenEntry {
  std::uint32_t lanes = 0;
  std::string module_hash;  ///< 8 hex digits of the SHA-256 of the PTX and the operand values
  std::string hash;         ///< 16 hex digits of the SHA-256 of the results
  /// 4 hex digits for each chunk of kChunkLanes lanes, so that a difference can be located.
  std::vector<std::string> chunks;
  bool operator==(const GoldenEntry&) const = default;
};

inline constexpr std::uint32_t kChunkLanes = 512;

GoldenEntry Summarise(const Instruction& instruction, const OperandValues& values,
                      const std::vector<std::byte>& results);

/// The lanes of a chunk, one result column behind the other.
std::vector<std::byte> ChunkOf(const Instruction& instruction, std::uint32_t lanes,
                               const std::vector<std::byte>& results, std::uint32_t chunk);

/// A golden file: tab-separated lines `name lanes module_hash hash chunks` below a head of `# key:
/// value` lines that says which machine they come from.
struct Golden {
  std::map<std::string, std::string> head;  ///< "gpu", "driver", "numerics", "toolkit"
  std::map<std::string, GoldenEntry> entries;
};

std::string FormatGolden(const Golden& golden);
/// Throws Error (status 2) for anything that FormatGolden does not write.
Golden ParseGolden(std::string_view file, std::string_view text);

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_GOLDEN_H_
