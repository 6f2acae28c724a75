#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_FINDINGS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_FINDINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::simulator {

struct LaunchState;

/// What one block found: the first case of each (checker, instruction), and how many there were.
class FindingList {
 public:
  struct Entry {
    kernels::Finding finding;
    std::uint32_t pc = 0;
    std::uint64_t count = 1;
  };
  /// `pc` may be kNone: the finding belongs to no instruction.
  void Add(const LaunchState& launch, std::uint64_t block, std::uint32_t thread,
           const std::string& checker, const std::string& message, std::uint32_t pc,
           std::uint64_t address);
  /// Counts a finding of which (checker, instruction) is known already; false when it is not. Grave
  /// faults have millions: ask before putting a message together.
  bool Repeat(std::string_view checker, std::uint32_t pc);
  /// Adds another block's findings behind the own ones.
  void Append(const FindingList& other);
  /// Adds what another run of the same launch found, as far as it is new.
  void AppendNew(const FindingList& other);
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  void Clear();
  /// The findings, with "(n more like this)" where an instruction had several.
  std::vector<kernels::Finding> Summary() const;

 private:
  std::vector<Entry> entries_;
  std::size_t repeated_ = 0;  ///< the entry that was repeated last
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> known_;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_FINDINGS_H_
