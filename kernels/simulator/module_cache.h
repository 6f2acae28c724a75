#ifndef VOLTCHECK_KERNELS_SIMULATOR_MODULE_CACHE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MODULE_CACHE_H_

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/simulator/check/spin_loops.h"
#include "kernels/simulator/exec/registry.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// What the text of a module comes to on any device: plain data, shared and never changed.
struct Translation {
  std::string target;        ///< architecture that the text is for: "sm_70"
  std::string target_place;  ///< FILE:LINE:COLUMN of it
  std::unique_ptr<const Program> program;
  SpinLoops spins;
};

/// Translations by the text they came from and the instruction set whose handlers they call, so
/// that a sweep, whose every case has a device of its own, reads each module once. Holds the most
/// recently used ones; safe from any thread.
class ModuleCache {
 public:
  explicit ModuleCache(std::size_t capacity) : capacity_(capacity) {}

  /// Null where there is none for this `file` (it appears in findings) and `ptx`.
  std::shared_ptr<const Translation> Find(const std::string& file, const std::string& ptx);
  void Keep(const std::string& file, const std::string& ptx,
            std::shared_ptr<const Translation> translation);

 private:
  struct Entry {
    const OpRegistry* handlers;
    std::string file;
    std::string ptx;
    std::shared_ptr<const Translation> translation;
  };

  std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MODULE_CACHE_H_
