#ifndef VOLTCHECK_KERNELS_KERNEL_SET_H_
#define VOLTCHECK_KERNELS_KERNEL_SET_H_

#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::kernels {

/// The modules that the build embedded (kernels/sm70/*.cu, compiled for SM70), ordered by name.
const std::vector<ModuleImage>& BuiltInModules();

/// SHA-256 in hex over names (without folders) and PTX of a set of modules, for the record. The
/// build makes the PTX independent of the checkout's place, so the same sources and toolkit give
/// the same hash.
std::string HashModules(const std::vector<ModuleImage>& modules);

/// Names of the `.entry` functions in PTX text, in order, without parsing it further.
std::vector<std::string> EntryNames(std::string_view ptx);

/// Entry names to kernels on one device. Modules are loaded when one of their entries is first
/// needed; a file given with `--kernels` replaces the entries of the same name.
class KernelSet {
 public:
  /// `overrides` are PTX files read by the caller; a later one wins over an earlier one.
  KernelSet(Device& device, std::vector<ModuleImage> overrides);
  KernelSet(const KernelSet&) = delete;
  KernelSet& operator=(const KernelSet&) = delete;

  /// "ENTRY", or "MODULE#ENTRY" for that of one module alone. Throws Error (status 2) when no
  /// module has it.
  KernelHandle Find(std::string_view name);
  /// Hash of everything that can run: built-in modules and overrides.
  const std::string& hash() const { return hash_; }

 private:
  struct Source {
    const ModuleImage* image;
    std::vector<std::string> entries;
    int loaded = -1;
  };
  Device& device_;
  std::vector<ModuleImage> overrides_;
  std::vector<Source> sources_;  ///< overrides first, latest first, then built-in modules
  std::string hash_;
};

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_KERNEL_SET_H_
