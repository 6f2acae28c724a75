#include "kernels/simulator/module_cache.h"

#include <algorithm>
#include <utility>

namespace voltcheck::simulator {

std::shared_ptr<const Translation> ModuleCache::Find(const std::string& file,
                                                     const std::string& ptx) {
  const OpRegistry* const handlers = &OpRegistry::Get();
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.handlers == handlers && entry.ptx == ptx && entry.file == file;
  });
  if (found == entries_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found);
  return found->translation;
}

void ModuleCache::Keep(const std::string& file, const std::string& ptx,
                       std::shared_ptr<const Translation> translation) {
  const std::scoped_lock lock(mutex_);
  entries_.push_front({&OpRegistry::Get(), file, ptx, std::move(translation)});
  if (entries_.size() > capacity_) {
    entries_.pop_back();
  }
}

}  // namespace voltcheck::simulator
