#include "kernels/plugin/device_table.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "fixtures/case/error.h"
#include "kernels/plugin/foreign_call.h"

namespace voltcheck::plugin {
namespace {

constexpr std::size_t kGuardBytes = 256;  // also the alignment that Device::Allocate promises
constexpr std::byte kCanary{0xc5};
constexpr std::byte kPoison{0xff};  // NaN as half and as float

std::span<const std::byte> Bytes(const void* from, std::size_t bytes) {
  return {static_cast<const std::byte*>(from), bytes};
}

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

template <typename Body>
int DeviceTable::Guarded(const Body& body) {
  const DeviceTime device_time;
  try {
    body();
    if (!device_.faulted()) {
      return 0;
    }
    error_ = "a kernel faulted";
  } catch (const std::exception& error) {
    error_ = error.what();
  }
  return 1;
}

struct DeviceTable::Functions {
  static DeviceTable& Of(void* self) { return *static_cast<DeviceTable*>(self); }

  static int Allocate(void* self, std::size_t bytes, const char* name, voltcheck_address* address) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      Memory memory{TextOf(name), 0, bytes};
      memory.allocation = t.device_.Allocate(bytes + 2 * t.guard_bytes_, memory.name);
      const kernels::DeviceAddress begin = memory.allocation + t.guard_bytes_;
      if (t.guard_bytes_ > 0) {
        t.device_.Fill(memory.allocation, kCanary, t.guard_bytes_);
        t.device_.Fill(begin, kPoison, bytes);
        t.device_.Fill(begin + bytes, kCanary, t.guard_bytes_);
      }
      t.memory_[begin] = memory;
      *address = begin;
    });
  }
  static int Deallocate(void* self, voltcheck_address address) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      const auto found = t.memory_.find(address);
      if (found == t.memory_.end()) {
        throw BadInput("deallocate", "no memory of the plugin begins at this address",
                       "free what 'allocate' gave, once");
      }
      t.device_.Free(found->second.allocation);
      t.memory_.erase(found);
    });
  }
  static int CopyToDevice(void* self, voltcheck_address to, const void* from, std::size_t bytes) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.device_.CopyToDevice(to, Bytes(from, bytes));
    });
  }
  static int CopyFromDevice(void* self, void* to, voltcheck_address from, std::size_t bytes) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.device_.Synchronize();
      t.device_.CopyFromDevice({static_cast<std::byte*>(to), bytes}, from);
    });
  }
  static int Fill(void* self, voltcheck_address to, std::uint8_t value, std::size_t bytes) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.device_.Fill(to, static_cast<std::byte>(value), bytes);
    });
  }
  static int LoadModule(void* self, const char* name, const char* ptx, std::size_t ptx_bytes,
                        const void* cubin, std::size_t cubin_bytes, std::uint32_t* module) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      // Text that came with its terminating zero.
      const std::string text(ptx, strnlen(ptx, ptx_bytes));
      *module = t.device_.LoadModule({TextOf(name), text, Bytes(cubin, cubin_bytes)});
    });
  }
  static int FindKernel(void* self, std::uint32_t module, const char* entry,
                        voltcheck_kernel* kernel) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      const kernels::KernelHandle handle = t.device_.FindKernel(module, TextOf(entry));
      *kernel = {handle.module, handle.kernel};
    });
  }
  static int Launch(void* self, const voltcheck_launch* launch) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      kernels::Launch bound{{launch->kernel.module, launch->kernel.kernel},
                            {launch->grid[0], launch->grid[1], launch->grid[2]},
                            {launch->block[0], launch->block[1], launch->block[2]},
                            launch->dynamic_shared_bytes,
                            {}};
      const std::vector<kernels::KernelParameter> parameters = t.device_.Parameters(bound.kernel);
      if (parameters.size() != launch->argument_count) {
        throw BadInput("launch",
                       std::to_string(launch->argument_count) + " arguments for " +
                           std::to_string(parameters.size()) + " parameters",
                       "hand over one for each");
      }
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto bytes = Bytes(launch->arguments[i], parameters[i].bytes);
        bound.arguments.emplace_back(bytes.begin(), bytes.end());
      }
      if (t.recording_) {
        t.recorded_.push_back(std::move(bound));
      } else {
        t.device_.Run(bound);
      }
    });
  }
  static int Synchronize(void* self) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.device_.Synchronize();
    });
  }
  static int CaptureBegin(void* self) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.recording_ = t.capturing_ = true;
    });
  }
  static int CaptureEnd(void* self, std::uint64_t* sequence) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      if (!t.capturing_) {
        throw BadInput("capture_end", "no capture has begun", "call capture_begin before it");
      }
      t.recording_ = t.capturing_ = false;
      const std::vector<kernels::Launch> launches = std::exchange(t.recorded_, {});
      t.sequences_[++t.last_sequence_] = t.device_.Capture(launches);
      *sequence = t.last_sequence_;
    });
  }
  static int Replay(void* self, std::uint64_t sequence) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] {
      t.RequireNotRecording();
      t.Sequence(sequence)->second->Replay();
    });
  }
  static int DropSequence(void* self, std::uint64_t sequence) {
    DeviceTable& t = Of(self);
    return t.Guarded([&] { t.sequences_.erase(t.Sequence(sequence)); });
  }
  static const char* LastError(void* self) { return Of(self).error_.c_str(); }
  static void Report(void* self, const char* text) { Of(self).report_ = TextOf(text); }
};

DeviceTable::DeviceTable(kernels::Device& device)
    : device_(device), guard_bytes_(device.Describe().kind == "simulator" ? 0 : kGuardBytes) {
  table_ = {sizeof(table_),          this,
            Functions::Allocate,     Functions::Deallocate,
            Functions::CopyToDevice, Functions::CopyFromDevice,
            Functions::Fill,         Functions::LoadModule,
            Functions::FindKernel,   Functions::Launch,
            Functions::Synchronize,  Functions::CaptureBegin,
            Functions::CaptureEnd,   Functions::Replay,
            Functions::DropSequence, Functions::LastError,
            Functions::Report};
}

void DeviceTable::RequireNotRecording() const {
  if (recording_) {
    throw BadInput("voltcheck_device", "only launches can be recorded",
                   "prepare the rest before, or leave VOLTCHECK_CAPTURABLE out of the flags");
  }
}

std::map<std::uint64_t, std::unique_ptr<kernels::LaunchSequence>>::iterator DeviceTable::Sequence(
    std::uint64_t sequence) {
  const auto found = sequences_.find(sequence);
  if (found == sequences_.end()) {
    throw BadInput("sequence " + std::to_string(sequence), "does not exist",
                   "replay what capture_end gave");
  }
  return found;
}

std::vector<kernels::Launch> DeviceTable::Record(const std::function<void()>& body) {
  recording_ = true;
  try {
    body();
  } catch (...) {
    recording_ = capturing_ = false;
    throw;
  }
  recording_ = capturing_ = false;
  return std::exchange(recorded_, {});
}

std::string DeviceTable::TakeReason() {
  std::string reason = report_.empty() ? error_ : report_;
  report_.clear();
  error_.clear();
  return reason;
}

std::vector<std::string> DeviceTable::BrokenCanaries() {
  std::vector<std::string> broken;
  if (guard_bytes_ == 0 || device_.faulted()) {
    return broken;
  }
  for (const auto& [begin, memory] : memory_) {
    for (const bool behind : {false, true}) {
      std::vector<std::byte> guard(guard_bytes_);
      device_.CopyFromDevice(guard, behind ? begin + memory.bytes : memory.allocation);
      const auto other =
          std::find_if(guard.begin(), guard.end(), [](std::byte b) { return b != kCanary; });
      if (other != guard.end()) {
        const auto at = static_cast<std::size_t>(other - guard.begin());
        broken.push_back("canary " + std::to_string(behind ? at : guard_bytes_ - at) +
                         (behind ? " bytes behind the end of " : " bytes before ") + memory.name +
                         " was overwritten");
      }
    }
  }
  return broken;
}

}  // namespace voltcheck::plugin
