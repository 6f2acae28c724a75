#ifndef VOLTCHECK_TESTS_PROPERTIES_FAULTY_DEVICE_H_
#define VOLTCHECK_TESTS_PROPERTIES_FAULTY_DEVICE_H_

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::properties::testing {

/// A launch as a fault sees it: which kernel, with which arguments, on which device.
struct SeenLaunch {
  kernels::Device& device;
  std::string kernel;
  const kernels::Launch& launch;
  int number = 0;         ///< of launches of this kernel on this device, from 1
  bool replayed = false;  ///< from a captured sequence

  template <typename T>
  T Scalar(std::size_t argument) const {
    T value;
    std::memcpy(&value, launch.arguments[argument].data(), sizeof(value));
    return value;
  }
  std::uint64_t Pointer(std::size_t argument) const { return Scalar<std::uint64_t>(argument); }
  template <typename T>
  T Read(std::uint64_t address) const {
    T value;
    device.CopyFromDevice(std::as_writable_bytes(std::span<T, 1>(&value, 1)), address);
    return value;
  }
  template <typename T>
  void Write(std::uint64_t address, T value) const {
    device.CopyToDevice(address, std::as_bytes(std::span<const T, 1>(&value, 1)));
  }
  /// Changes the lowest bit of a half.
  void FlipHalf(std::uint64_t address) const {
    Write(address, static_cast<std::uint16_t>(Read<std::uint16_t>(address) ^ 1));
  }
};

/// What happens in a fault's stead. `Before` may say false: the launch is left out.
struct Fault {
  std::function<bool(const SeenLaunch&)> before = [](const SeenLaunch&) { return true; };
  std::function<void(const SeenLaunch&)> after = [](const SeenLaunch&) {};
};

/// Another device with a fault in it: it does something more, or less, around launches.
class FaultyDevice : public kernels::Device {
 public:
  FaultyDevice(std::unique_ptr<kernels::Device> inner, Fault fault)
      : inner_(std::move(inner)), fault_(std::move(fault)) {}

  kernels::DeviceDescription Describe() const override { return inner_->Describe(); }
  kernels::DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    return inner_->Allocate(bytes, name);
  }
  void Free(kernels::DeviceAddress address) override { inner_->Free(address); }
  void CopyToDevice(kernels::DeviceAddress to, std::span<const std::byte> from) override {
    inner_->CopyToDevice(to, from);
  }
  void CopyFromDevice(std::span<std::byte> to, kernels::DeviceAddress from) override {
    inner_->CopyFromDevice(to, from);
  }
  void Fill(kernels::DeviceAddress to, std::byte value, std::size_t bytes) override {
    inner_->Fill(to, value, bytes);
  }
  std::uint32_t LoadModule(const kernels::ModuleImage& image) override {
    return inner_->LoadModule(image);
  }
  kernels::KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    const kernels::KernelHandle handle = inner_->FindKernel(module, name);
    names_[{handle.module, handle.kernel}] = name;
    return handle;
  }
  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    return inner_->KernelNames(module);
  }
  std::vector<kernels::KernelParameter> Parameters(kernels::KernelHandle kernel) const override {
    return inner_->Parameters(kernel);
  }
  void Run(const kernels::Launch& launch) override { RunFaulty(launch, false); }
  std::unique_ptr<kernels::LaunchSequence> Capture(
      std::span<const kernels::Launch> launches) override {
    return std::make_unique<Sequence>(*this, launches);
  }
  void Synchronize() override { inner_->Synchronize(); }
  bool faulted() const override { return inner_->faulted(); }
  std::vector<kernels::Finding> TakeFindings() override { return inner_->TakeFindings(); }
  kernels::Counters TakeCounters() override { return inner_->TakeCounters(); }

 private:
  class Sequence : public kernels::LaunchSequence {
   public:
    Sequence(FaultyDevice& device, std::span<const kernels::Launch> launches)
        : device_(device), launches_(launches.begin(), launches.end()) {}
    void Replay() override {
      for (const kernels::Launch& launch : launches_) {
        device_.RunFaulty(launch, true);
      }
    }

   private:
    FaultyDevice& device_;
    std::vector<kernels::Launch> launches_;
  };

  void RunFaulty(const kernels::Launch& launch, bool replayed) {
    const std::string& name = names_[{launch.kernel.module, launch.kernel.kernel}];
    const SeenLaunch seen{*inner_, name, launch, ++count_[name], replayed};
    if (fault_.before(seen)) {
      inner_->Run(launch);
      fault_.after(seen);
    }
  }

  std::unique_ptr<kernels::Device> inner_;
  Fault fault_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names_;
  std::map<std::string, int> count_;
};

}  // namespace voltcheck::properties::testing

#endif  // VOLTCHECK_TESTS_PROPERTIES_FAULTY_DEVICE_H_
