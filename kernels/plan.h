#ifndef VOLTCHECK_KERNELS_PLAN_H_
#define VOLTCHECK_KERNELS_PLAN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/device.h"

namespace voltcheck::kernels {

/// A device buffer that a plan needs. Plans speak of buffers by name, so a plan is plain data which can be
/// printed, compared, captured and mutated.
struct BufferSpec {
  enum class Role {
    kInput,      ///< uploaded before the launches, must not change
    kIndex,      ///< uploaded or made by a launch; the two declared index buffers may change
    kWorkspace,  ///< contents before the launches must not matter
    kLock,       ///< zero before the launches and zero again after them
    kOutput,     ///< written
  };
  std::string name;
  std::size_t bytes = 0;
  Role role = Role::kInput;
  std::vector<std::byte> contents;  ///< kInput, kIndex: what is uploaded; empty: nothing
};

/// The address of a named buffer plus a byte offset.
struct BufferArgument {
  std::string buffer;
  std::uint64_t offset = 0;
  bool operator==(const BufferArgument&) const = default;
};
using PlanArgument = std::variant<BufferArgument, std::int32_t, std::uint32_t, std::int64_t, float>;

/// A place inside a buffer's contents that must hold the address of another buffer (pointer tables).
struct PointerFixup {
  std::string table;
  std::uint64_t offset = 0;  ///< of the 8-byte pointer in `table`
  BufferArgument target;
  bool operator==(const PointerFixup&) const = default;
};

enum class PlanStage { kRepack, kPermute, kSegments, kW13, kSilu, kW2, kReduce };

struct PlanLaunch {
  PlanStage stage = PlanStage::kW13;
  std::string kernel;  ///< `extern "C"` entry name
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;
  std::vector<PlanArgument> arguments;
};

/// Everything one case does on a device: buffers, pointer tables, launches in order.
struct Plan {
  std::vector<BufferSpec> buffers;
  std::vector<PointerFixup> fixups;
  std::vector<PlanLaunch> launches;
};

/// The plan for `problem.c`: repack the weights, permute, build segments, W13, SiLU, W2, reduce, along the
/// case's path. Table entries of experts that the problem does not hold point at a buffer of NaN scales,
/// so a kernel that reads an expert nobody routed to shows. Throws Error (status 2) for a path, layout or
/// tactic that the kernels do not have, by name.
Plan MakePlan(const Problem& problem);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_PLAN_H_
