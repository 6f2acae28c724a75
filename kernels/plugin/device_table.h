#ifndef VOLTCHECK_KERNELS_PLUGIN_DEVICE_TABLE_H_
#define VOLTCHECK_KERNELS_PLUGIN_DEVICE_TABLE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/voltcheck_kernel.h"

namespace voltcheck::plugin {

/// The functions of voltcheck_device, on a device. On a GPU memory that the plugin allocates gets
/// canaries around it and NaN inside; the simulator knows its bounds and what was written.
class DeviceTable {
 public:
  explicit DeviceTable(kernels::Device& device);
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;
  ~DeviceTable() = default;

  const voltcheck_device* functions() const { return &table_; }

  /// Runs `body`; launches in it are recorded, not run, and everything else fails.
  std::vector<kernels::Launch> Record(const std::function<void()>& body);

  /// Why the plugin fails: what it reported, else the last function that failed; and forgets it.
  std::string TakeReason();
  /// One sentence for each canary that was overwritten.
  std::vector<std::string> BrokenCanaries();

 private:
  struct Memory {
    std::string name;
    kernels::DeviceAddress allocation = 0;
    std::size_t bytes = 0;
  };
  struct Functions;  ///< the C side
  /// Runs a function's body; 0, or 1 with the reason kept.
  template <typename Body>
  int Guarded(const Body& body);
  void RequireNotRecording() const;
  std::map<std::uint64_t, std::unique_ptr<kernels::LaunchSequence>>::iterator Sequence(
      std::uint64_t sequence);

  kernels::Device& device_;
  std::size_t guard_bytes_;
  voltcheck_device table_{};
  std::map<kernels::DeviceAddress, Memory> memory_;
  std::map<std::uint64_t, std::unique_ptr<kernels::LaunchSequence>> sequences_;
  std::uint64_t last_sequence_ = 0;
  bool recording_ = false;
  bool capturing_ = false;  ///< between capture_begin and capture_end
  std::vector<kernels::Launch> recorded_;
  std::string error_;
  std::string report_;
};

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_DEVICE_TABLE_H_
