#include "kernels/plugin/hosted_device.h"

#include <utility>

#include "fixtures/case/error.h"
#include "kernels/plugin/device_table.h"
#include "kernels/plugin/foreign_call.h"
#include "kernels/plugin/stage_arguments.h"

namespace voltcheck::plugin {
namespace {

using kernels::DeviceAddress;
using kernels::Launch;

/// No device counts its modules that far.
constexpr std::uint32_t kPluginModule = 0x80000000U;
constexpr std::uint32_t kPrepare = 0;  // kernel number; step N is N + 1
/// For the host code of one step; simulated work counts where it comes through the runtime's
/// stand-in.
constexpr int kSecondsOfHost = 60;
constexpr int kSecondsOfRuntime = 1200;

std::string EntryOf(std::uint32_t kernel) {
  return kernel == kPrepare ? "prepare" : "step" + std::to_string(kernel - 1);
}

class HostedDevice final : public kernels::Device {
 public:
  HostedDevice(std::unique_ptr<kernels::Device> inner, const voltcheck_plugin& plugin,
               const kernels::ModuleImage& module, RuntimeEvents* events)
      : inner_(std::move(inner)),
        plugin_(plugin),
        module_(module),
        events_(events),
        table_(*inner_) {}
  HostedDevice(const HostedDevice&) = delete;
  HostedDevice& operator=(const HostedDevice&) = delete;
  ~HostedDevice() override { Release(); }

  kernels::DeviceDescription Describe() const override { return inner_->Describe(); }
  DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    return inner_->Allocate(bytes, name);
  }
  void Free(DeviceAddress address) override { inner_->Free(address); }
  void CopyToDevice(DeviceAddress to, std::span<const std::byte> from) override {
    inner_->CopyToDevice(to, from);
  }
  void CopyFromDevice(std::span<std::byte> to, DeviceAddress from) override {
    inner_->CopyFromDevice(to, from);
  }
  void Fill(DeviceAddress to, std::byte value, std::size_t bytes) override {
    inner_->Fill(to, value, bytes);
  }

  std::uint32_t LoadModule(const kernels::ModuleImage& image) override {
    return image.name == module_.name && image.ptx == module_.ptx ? kPluginModule
                                                                  : inner_->LoadModule(image);
  }
  kernels::KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    if (module != kPluginModule) {
      return inner_->FindKernel(module, name);
    }
    for (std::uint32_t kernel = 0; kernel <= plugin_.step_count; ++kernel) {
      if (name == EntryOf(kernel)) {
        return {kPluginModule, kernel};
      }
    }
    throw BadInput(module_.name, "has no step " + Quote(name), "");
  }
  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    if (module != kPluginModule) {
      return inner_->KernelNames(module);
    }
    std::vector<std::string> names;
    for (std::uint32_t kernel = 0; kernel <= plugin_.step_count; ++kernel) {
      names.push_back(EntryOf(kernel));
    }
    return names;
  }
  std::vector<kernels::KernelParameter> Parameters(kernels::KernelHandle kernel) const override {
    return kernel.module == kPluginModule ? std::vector<kernels::KernelParameter>()
                                          : inner_->Parameters(kernel);
  }

  void Run(const Launch& launch) override {
    if (launch.kernel.module != kPluginModule) {
      return inner_->Run(launch);
    }
    if (!failed_) {
      Call(launch);
    }
  }

  /// Steps of a plugin that allows it are recorded once; others are called again at every replay,
  /// between what can be captured.
  std::unique_ptr<kernels::LaunchSequence> Capture(std::span<const Launch> launches) override {
    auto sequence = std::make_unique<Sequence>(*this);
    std::vector<Launch> plain;
    const auto close = [&] {
      if (!plain.empty()) {
        sequence->parts.push_back({inner_->Capture(plain), {}});
        plain.clear();
      }
    };
    for (const Launch& launch : launches) {
      if (launch.kernel.module != kPluginModule) {
        plain.push_back(launch);
      } else if ((plugin_.flags & VOLTCHECK_CAPTURABLE) != 0) {
        for (Launch& recorded : table_.Record([&] { Call(launch); })) {
          plain.push_back(std::move(recorded));
        }
      } else {
        close();
        sequence->parts.push_back({nullptr, launch});
      }
    }
    close();
    return sequence;
  }
  void Synchronize() override { inner_->Synchronize(); }

  bool faulted() const override { return failed_ || inner_->faulted(); }
  std::vector<kernels::Finding> TakeFindings() override {
    std::vector<kernels::Finding> findings = inner_->TakeFindings();
    const auto append = [&findings](std::vector<kernels::Finding>& more) {
      findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
      more.clear();
    };
    if (events_ != nullptr) {
      append(events_->findings);
    }
    for (const std::string& broken : table_.BrokenCanaries()) {
      Tell("canary", broken);
    }
    append(own_);
    return findings;
  }
  kernels::Counters TakeCounters() override {
    kernels::Counters counters = inner_->TakeCounters();
    if (events_ != nullptr) {
      counters += std::exchange(events_->counters, {});
    }
    return counters;
  }

 private:
  class Sequence final : public kernels::LaunchSequence {
   public:
    explicit Sequence(HostedDevice& device) : device_(device) {}
    struct Part {
      std::unique_ptr<kernels::LaunchSequence> captured;
      Launch step;  ///< where nothing is captured
    };
    std::vector<Part> parts;
    void Replay() override {
      for (const Part& part : parts) {
        if (part.captured != nullptr) {
          part.captured->Replay();
        } else {
          device_.Run(part.step);
        }
      }
    }

   private:
    HostedDevice& device_;
  };

  void Tell(const char* checker, const std::string& message) {
    kernels::Finding finding;
    finding.checker = checker;
    finding.message = message;
    finding.file = module_.name;
    own_.push_back(std::move(finding));
  }

  void Call(const Launch& launch) {
    const StageView view(launch.arguments);
    const std::uint32_t kernel = launch.kernel.kernel;
    int status = 0;
    if (kernel == kPrepare) {
      Release();
      prepared_ = true;
    }
    const std::string trouble =
        CallForeign(events_ == nullptr ? kSecondsOfHost : kSecondsOfRuntime, [&] {
          if (kernel != kPrepare) {
            status = plugin_.steps[kernel - 1].run(state_, &view.stage());
          } else if (plugin_.prepare != nullptr) {
            status = plugin_.prepare(table_.functions(), &view.stage(), &state_);
          }
        });
    const std::string reason = table_.TakeReason();
    if (!trouble.empty()) {
      Tell("plugin", EntryOf(kernel) + " " + trouble);
      status = 1;
    } else if (status != 0 && !inner_->faulted()) {
      Tell("plugin", EntryOf(kernel) + " returned " + std::to_string(status) +
                         (reason.empty() ? "" : ": " + reason));
    }
    failed_ = failed_ || status != 0;
  }

  void Release() {
    // What failed may be in the middle of anything.
    if (prepared_ && plugin_.release != nullptr && !faulted()) {
      CallForeign(kSecondsOfHost, [&] { plugin_.release(table_.functions(), state_); });
    }
    prepared_ = false;
    state_ = nullptr;
  }

  std::unique_ptr<kernels::Device> inner_;
  const voltcheck_plugin& plugin_;
  const kernels::ModuleImage& module_;
  RuntimeEvents* events_;
  DeviceTable table_;
  void* state_ = nullptr;
  bool prepared_ = false;
  bool failed_ = false;
  std::vector<kernels::Finding> own_;
};

}  // namespace

kernels::ModuleImage PluginModule(const std::string& file, const std::string& sha256,
                                  const voltcheck_plugin& plugin) {
  std::string text = "// " + sha256 + "\n";
  for (std::uint32_t kernel = 0; kernel <= plugin.step_count; ++kernel) {
    text += ".entry " + EntryOf(kernel) + "()\n";
  }
  return {file, text, {}};
}

std::unique_ptr<kernels::Device> MakeHostedDevice(std::unique_ptr<kernels::Device> inner,
                                                  const voltcheck_plugin& plugin,
                                                  const kernels::ModuleImage& module,
                                                  RuntimeEvents* events) {
  return std::make_unique<HostedDevice>(std::move(inner), plugin, module, events);
}

}  // namespace voltcheck::plugin
