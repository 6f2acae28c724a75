#ifndef VOLTCHECK_KERNELS_KERNEL_SET_H_
#define VOLTCHECK_KERNELS_KERNEL_SET_H_

#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::kernels {

/// The modules that the build embedded (kernels/sm70/*.cu, compiled for SM70), ordered by name.
const std::vector<ModuleImage>& BuiltInModules();

/// SHA-256 over names and PTX of a set of modules, for the record.
std::string HashModules(const std::vector<ModuleImage>& modules);

/// Entry names to kernels on one device. Built-in modules are loaded when first needed; a file given with
/// `--kernels` replaces the entries of the same name.
class KernelSet {
 public:
  /// `overrides` are PTX files read by the caller; a later one wins over an earlier one.
  KernelSet(Device& device, std::vector<ModuleImage> overrides);
  /// Throws Error (status 2) when no module has the entry.
  KernelHandle Find(std::string_view entry);
  /// Hash of everything that can run: built-in modules and overrides.
  const std::string& hash() const { return hash_; }

 private:
  struct Source {
    const ModuleImage* image;
    int loaded = -1;
  };
  Device& device_;
  std::vector<ModuleImage> overrides_;
  std::vector<Source> sources_;  ///< overrides first, latest first, then built-in modules
  std::string hash_;
};

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_KERNEL_SET_H_
