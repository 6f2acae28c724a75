#ifndef VOLTCHECK_TESTS_KERNELS_FAKE_DEVICE_H_
#define VOLTCHECK_TESTS_KERNELS_FAKE_DEVICE_H_

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel_set.h"

namespace voltcheck::kernels::testing {

/// Host memory behind the device interface, without kernels: a launch calls `on_run`. For tests of
/// what stands around the launches.
class FakeDevice : public Device {
 public:
  std::string kind = "cuda";
  std::vector<std::string> loaded;  ///< names of loaded modules, in order
  std::vector<Launch> launches;
  std::function<void(FakeDevice&, const Launch&)> on_run;
  bool fault = false;
  int freed = 0;

  DeviceDescription Describe() const override { return {kind, "fake", "", "v100", "ptx", ""}; }
  DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    const DeviceAddress address = next_;
    next_ += (bytes + 511) / 256 * 256;
    memory_[address].assign(bytes, std::byte{0x11});
    names_[address] = name;
    return address;
  }
  void Free(DeviceAddress address) override { freed += static_cast<int>(memory_.erase(address)); }
  void CopyToDevice(DeviceAddress to, std::span<const std::byte> from) override {
    std::memcpy(At(to, from.size()), from.data(), from.size());
  }
  void CopyFromDevice(std::span<std::byte> to, DeviceAddress from) override {
    std::memcpy(to.data(), At(from, to.size()), to.size());
  }
  void Fill(DeviceAddress to, std::byte value, std::size_t bytes) override {
    std::fill_n(At(to, bytes), bytes, value);
  }
  std::uint32_t LoadModule(const ModuleImage& image) override {
    loaded.push_back(image.name);
    entries_.push_back(EntryNames(image.ptx));
    return static_cast<std::uint32_t>(loaded.size() - 1);
  }
  KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    const std::vector<std::string>& names = entries_.at(module);
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) {
        return {module, i};
      }
    }
    throw std::out_of_range("no such kernel");
  }
  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    return entries_.at(module);
  }
  std::vector<KernelParameter> Parameters(KernelHandle) const override { return {}; }
  void Run(const Launch& launch) override {
    launches.push_back(launch);
    if (on_run) {
      on_run(*this, launch);
    }
  }
  std::unique_ptr<LaunchSequence> Capture(std::span<const Launch>) override { return nullptr; }
  void Synchronize() override {}
  bool faulted() const override { return fault; }
  std::vector<Finding> TakeFindings() override { return {}; }
  Counters TakeCounters() override { return {}; }

  std::string NameOf(const Launch& launch) const {
    return entries_.at(launch.kernel.module).at(launch.kernel.kernel);
  }
  /// Host memory of `bytes` at a device address. Throws when they do not lie inside one allocation.
  std::byte* At(DeviceAddress address, std::size_t bytes) {
    auto found = memory_.upper_bound(address);
    if (found == memory_.begin()) {
      throw std::out_of_range("before every allocation");
    }
    --found;
    const std::size_t offset = address - found->first;
    if (offset + bytes > found->second.size()) {
      throw std::out_of_range("outside the allocation " + names_[found->first]);
    }
    return found->second.data() + offset;
  }
  /// The address inside an argument that is a pointer.
  static DeviceAddress Pointer(const Launch& launch, std::size_t argument) {
    DeviceAddress address = 0;
    std::memcpy(&address, launch.arguments.at(argument).data(), sizeof(address));
    return address;
  }

 private:
  DeviceAddress next_ = 0x10000;
  std::map<DeviceAddress, std::vector<std::byte>> memory_;
  std::map<DeviceAddress, std::string> names_;
  std::vector<std::vector<std::string>> entries_;
};

}  // namespace voltcheck::kernels::testing

#endif  // VOLTCHECK_TESTS_KERNELS_FAKE_DEVICE_H_
