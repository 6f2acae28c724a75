#include "kernels/simulator/exec/registry.h"

#include <hwy/highway.h>

#include <cassert>
#include <map>
#include <memory>
#include <mutex>

namespace voltcheck::simulator {

OpRegistry::OpRegistry() {
  OpList list;
  AppendIntegerOps(list);
  AppendInteger64Ops(list);
  AppendIntegerScalarOps(list);
  AppendCarryOps(list);
  AppendFloatOps(list);
  AppendFloatScalarOps(list);
  AppendDoubleScalarOps(list);
  AppendHalfOps(list);
  AppendCompareOps(list);
  AppendConvertOps(list);
  AppendConvertScalarOps(list);
  AppendMoveOps(list);
  AppendMemoryOps(list);
  AppendAtomicOps(list);
  AppendCollectiveOps(list);
  AppendTensorOps(list);
  AppendWmmaOps(list);
  AppendRuntimeOps(list);
  for (OpEntry& entry : list) {
    std::string key = entry.key;
    [[maybe_unused]] const bool added = entries_.emplace(std::move(key), std::move(entry)).second;
    assert(added && "two families define the same instruction");
  }
}

const OpRegistry& OpRegistry::Get() {
  // One for each choice of instruction set: tests and benchmarks change it. Asking the processor
  // anew each time would dominate the loading of a module: a virtual machine traps the question.
  static std::mutex mutex;
  static std::map<std::size_t, std::unique_ptr<const OpRegistry>> registries;
  const std::lock_guard lock(mutex);
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  if (!chosen.IsInitialized()) {
    chosen.Update(hwy::SupportedTargets());
  }
  std::unique_ptr<const OpRegistry>& registry = registries[chosen.GetIndex()];
  if (registry == nullptr) {
    registry.reset(new OpRegistry());
  }
  return *registry;
}

const OpEntry* OpRegistry::Find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace voltcheck::simulator
