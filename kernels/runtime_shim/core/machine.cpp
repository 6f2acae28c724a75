#include "kernels/runtime_shim/core/machine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>

#include "fixtures/case/error.h"
#include "kernels/runtime_shim/core/cost_model.h"
#include "kernels/runtime_shim/core/cubin.h"
#include "kernels/runtime_shim/core/device_output.h"
#include "kernels/runtime_shim/core/ptx_support.h"

namespace voltcheck::shim {
namespace {

constexpr std::size_t kWorkspaceBytes = 4096;

/// The status that CUDA gives for what a checker saw, where that ended the launch.
Status StatusOf(const std::string& checker, bool assert_failed) {
  if (checker == "bounds") {
    return kIllegalAddress;
  }
  if (checker == "alignment") {
    return kMisalignedAddress;
  }
  if (checker == "trap") {
    return assert_failed ? kAssert : kLaunchFailure;
  }
  return checker == "deadlock" || checker == "limit" ? kLaunchTimeout : kLaunchFailure;
}

}  // namespace

Machine& Machine::Get() {
  static auto* machine = new Machine;  // never destroyed: a program may launch until its very end
  static const struct AtExit {
    ~AtExit() {
      const std::lock_guard lock(machine->mutex);
      if (!machine->launches_.empty()) {
        machine->findings_->WriteTotals(machine->launches_, machine->counters_);
      }
    }
  } at_exit;
  return *machine;
}

Machine::Machine() {
  const char* path = std::getenv(kFindingsVariable);
  findings_ = std::make_unique<FindingsFile>(path == nullptr ? "" : path);
  try {
    settings_ = SettingsFromEnvironment();
  } catch (const Error& error) {
    bad_settings_ = error.what();
    findings_->WriteRefusal(bad_settings_);
  }
}

Machine::~Machine() = default;

simulator::SimulatorDevice& Machine::device() {
  if (host_ != nullptr) {
    return *host_->device;
  }
  Require(bad_settings_.empty(), kNotInitialized, bad_settings_.c_str());
  if (device_ == nullptr) {
    device_ = simulator::MakeSimulator(settings_.simulator);
  }
  return *device_;
}

void Machine::Borrow(const Host* host) {
  host_ = host;
  findings_->Redirect(host);
}

LoadedImage* Machine::Load(const std::string& name, const std::vector<FatImage>& images) {
  const FatImage* ptx = ChoosePtx(images);
  if (ptx == nullptr) {
    const std::string line =
        BadInput(name, "holds " + DescribeImages(images) + ", not PTX for compute_70",
                 kRebuildForPtx)
            .what();
    findings_->WriteRefusal(line);
    throw Refusal(kNoBinaryForGpu, line);
  }
  auto image = std::make_unique<LoadedImage>();
  image->name = name;
  image->ptx = ptx->bytes;
  for (const FatImage& other : images) {
    if (other.kind == FatImage::Kind::kElf && other.architecture == 70) {
      image->sass = other.bytes;
    }
  }
  try {
    image->module = device().LoadModule({name, WithSupport(ptx->bytes), {}});
  } catch (const Error& error) {
    findings_->WriteRefusal(error.what());
    throw Refusal(kInvalidPtx, error.what());
  }
  image->reads_environment = device().FindVariable(image->module, kEnvironment).bytes != 0;
  ModuleNote note;
  note.name = name;
  note.ptx_sha256 = Sha256(image->ptx);
  if (!image->sass.empty()) {
    note.sass_sha256 = Sha256(image->sass);
  }
  if (settings_.reassemble) {
    const std::string shipped = MachineCode(image->sass);
    const std::string again = MachineCode(AssembleSass(image->ptx));
    note.shipped_code_sha256 = shipped.empty() ? "" : Sha256(shipped);
    note.assembled_code_sha256 = again.empty() ? "" : Sha256(again);
  }
  findings_->Write(note);
  images_.push_back(std::move(image));
  return images_.back().get();
}

void Machine::Unload(LoadedImage* image) {
  const auto found = std::find_if(images_.begin(), images_.end(),
                                  [image](const auto& other) { return other.get() == image; });
  Require(found != images_.end(), kInvalidHandle);
  device().UnloadModule(image->module);
  images_.erase(found);
}

Function* Machine::FindFunction(LoadedImage& image, const std::string& name) {
  std::unique_ptr<Function>& function = image.functions[name];
  if (function == nullptr) {
    const std::vector<std::string> names = device().KernelNames(image.module);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      image.functions.erase(name);
      return nullptr;
    }
    function = std::make_unique<Function>();
    function->name = name;
    function->image = &image;
    function->handle = device().FindKernel(image.module, name);
    function->parameters = device().Parameters(function->handle);
    function->needs = device().Needs(function->handle);
    function->most_dynamic_shared =
        kSharedDefault - std::min(kSharedDefault, function->needs.static_shared_bytes);
  }
  return function.get();
}

std::optional<simulator::ModuleVariable> Machine::FindVariable(const LoadedImage& image,
                                                               const std::string& name) {
  const simulator::ModuleVariable variable = device().FindVariable(image.module, name);
  return variable.bytes == 0 ? std::nullopt : std::optional(variable);
}

void Machine::Check(const KernelWork& work) const {
  const Function& function = *work.function;
  const kernels::Dim3& grid = work.grid;
  const kernels::Dim3& block = work.block;
  Require(grid.count() != 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535,
          kInvalidConfiguration, "the grid is empty or too large");
  const std::uint64_t threads = block.count();
  Require(threads != 0 && threads <= 1024 && block.x <= 1024 && block.y <= 1024 && block.z <= 64,
          kInvalidConfiguration, "a block has 1 to 1024 threads");
  Require(function.needs.max_threads == 0 || threads <= function.needs.max_threads, kInvalidValue,
          "more threads than the kernel's launch bounds");
  Require(work.shared <= function.most_dynamic_shared, kInvalidValue,
          "more dynamic shared memory than cudaFuncSetAttribute allowed");
  Require(std::uint64_t{function.needs.static_shared_bytes} + work.shared <= kSharedMost,
          kInvalidValue, "a block has at most 96 KB of shared memory");
}

void Machine::Prepare(const KernelWork& work) {
  const LoadedImage& image = *work.function->image;
  if (!image.reads_environment) {
    return;
  }
  kernels::DeviceAddress workspace = 0;
  if (work.cooperative) {
    if (workspace_ == 0) {
      workspace_ = device().Allocate(kWorkspaceBytes, "workspace of cooperative launches");
    }
    device().Fill(workspace_, std::byte{0}, kWorkspaceBytes);
    workspace = workspace_;
  }
  // cooperative_groups takes the upper half from %envreg1 and the lower one from %envreg2.
  const auto environment = device().FindVariable(image.module, kEnvironment);
  const std::uint64_t halves = workspace << 32 | workspace >> 32;
  device().CopyToDevice(environment.address + 4, kernels::ArgumentBytes(halves));
}

double Machine::Run(const KernelWork& work) {
  Check(work);
  if (fault_ != kSuccess) {
    throw Refusal(fault_);
  }
  Prepare(work);
  try {
    device().Run({work.function->handle, work.grid, work.block, work.shared, work.arguments});
  } catch (const Error& error) {
    findings_->WriteRefusal(error.what());
    throw Refusal(kLaunchFailure, error.what());
  }
  ++launches_[work.function->name];
  TakeOutput(*work.function->image);
  TakeFindings();
  const kernels::Counters counters = device().TakeCounters();
  counters_ += counters;
  if (host_ != nullptr) {
    host_->counters(host_->context, counters);
  }
  return KernelMicroseconds(counters, work.grid.count(), settings_.multiprocessors);
}

void Machine::TakeFindings() {
  const bool faulted = device().faulted();
  for (const kernels::Finding& finding : device().TakeFindings()) {
    findings_->Write(finding);
    if (faulted && (fault_ == kSuccess || fault_ == kLaunchFailure)) {
      fault_ = StatusOf(finding.checker, assert_failed_);
    }
  }
  if (faulted && fault_ == kSuccess) {
    fault_ = kLaunchFailure;
  }
}

void Machine::TakeOutput(const LoadedImage& image) {
  const DeviceOutput text = shim::TakeOutput(device(), image.module);
  printed_ += text.printed;
  failed_ += text.failed;
  assert_failed_ |= !text.failed.empty();
}

void Machine::FlushOutput() {
  if (!printed_.empty()) {
    std::fwrite(printed_.data(), 1, printed_.size(), stdout);
    printed_.clear();
  }
  if (!failed_.empty()) {
    std::fwrite(failed_.data(), 1, failed_.size(), stderr);
    failed_.clear();
  }
}

void Machine::Reset() {
  Require(host_ == nullptr, kNotPermitted, "the device belongs to the process that lent it");
  FlushOutput();
  images_.clear();
  device_.reset();
  workspace_ = 0;
  fault_ = kSuccess;
  assert_failed_ = false;
  ++generation_;
}

}  // namespace voltcheck::shim
