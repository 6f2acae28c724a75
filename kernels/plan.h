#ifndef VOLTCHECK_KERNELS_PLAN_H_
#define VOLTCHECK_KERNELS_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/device.h"

namespace voltcheck::kernels {

/// A device buffer that a plan needs. Plans speak of buffers by name, so a plan is plain data which
/// can be printed, compared, captured and mutated. docs/kernels.md lists the names.
struct BufferSpec {
  enum class Role {
    kInput,      ///< uploaded before the launches, must not change
    kIndex,      ///< uploaded or made by a launch; may change
    kWorkspace,  ///< contents before the launches must not matter
    kLock,       ///< zero before the launches and zero again after them
    kOutput,     ///< written; what was there before must not matter
  };
  std::string name;
  std::size_t bytes = 0;
  Role role = Role::kInput;
  std::vector<std::byte> contents;  ///< kInput, kIndex: what is uploaded; empty: nothing
  bool operator==(const BufferSpec&) const = default;
};

/// The address of a named buffer plus a byte offset.
struct BufferArgument {
  std::string buffer;
  std::uint64_t offset = 0;
  bool operator==(const BufferArgument&) const = default;
};
/// A struct by value: its bytes, and where in them addresses of buffers stand.
struct StructArgument {
  struct Pointer {
    std::uint64_t offset = 0;
    BufferArgument target;
    bool operator==(const Pointer&) const = default;
  };
  std::vector<std::byte> bytes;
  std::vector<Pointer> pointers;
  bool operator==(const StructArgument&) const = default;
};
/// A null pointer is std::int64_t{0}.
using PlanArgument =
    std::variant<BufferArgument, std::int32_t, std::uint32_t, std::int64_t, float, StructArgument>;

/// A place inside a buffer's contents that must hold the address of another buffer (pointer
/// tables).
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
  bool operator==(const PlanLaunch&) const = default;
};

/// Everything one case does on a device: buffers, pointer tables, launches in order.
///
/// Nothing here depends on the routing but the contents of buffers: for one shape, path, tactics
/// and set of weights the launches are the same for every routing, so that they can be captured
/// once and replayed.
struct Plan {
  std::vector<BufferSpec> buffers;
  std::vector<PointerFixup> fixups;
  std::vector<PlanLaunch> launches;
  BufferArgument rows;  ///< int32, made by the permute step: the number of computed rows

  const BufferSpec* FindBuffer(std::string_view name) const;
  /// The launches behind the repacking: what runs for every batch, and what is captured.
  std::vector<PlanLaunch> StageLaunches() const;
};

/// The plan for `problem.c`: repack the weights, permute, build segments, W13, SiLU, W2, reduce,
/// along the case's path; `stage=` cuts it off behind that stage. Table entries of experts that the
/// rank does not hold or nobody routed to point at a buffer of NaN scales, so a kernel that reads
/// one shows.
///
/// Throws Error (status 2) for what the kernels do not have, by name: an infeasible tactic, the
/// single-token path for other than one token or for halves, the dense loop over unsorted slots, an
/// expert id outside [0, E) on any path but the single-token one, and sizes beyond 32-bit indices.
Plan MakePlan(const Problem& problem);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_PLAN_H_
