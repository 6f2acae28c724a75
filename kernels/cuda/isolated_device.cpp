#include "kernels/cuda/isolated_device.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/wire.h"

namespace voltcheck::cuda {
namespace {

using kernels::Launch;

/// Sockets of all children: a new child closes them, or a child would outlive its parent's end.
struct OpenSockets {
  std::mutex mutex;
  std::set<int> sockets;
};
OpenSockets& AllSockets() {
  static auto* const all = new OpenSockets;
  return *all;
}

/// A child process that serves a device.
class Child {
 public:
  explicit Child(const DeviceMaker& make) {
    OpenSockets& all = AllSockets();
    const std::lock_guard lock(all.mutex);
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw Error(ExitStatus::kUnavailable, "device: no socket for a child process");
    }
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      for (const int other : all.sockets) {
        close(other);
      }
      ServeDevice(ends[1], make);
      _exit(0);  // no destructors or exit handlers of the parent's
    }
    close(ends[1]);
    socket_ = ends[0];
    if (process_ < 0) {
      close(socket_);
      throw Error(ExitStatus::kUnavailable, "device: no child process can be started");
    }
    all.sockets.insert(socket_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { End(); }

  /// Sends a call and receives its answer; false when the child is gone.
  bool Exchange(const WireWriter& call, std::vector<std::byte>& answer) {
    return socket_ >= 0 && SendMessage(socket_, call.bytes()) && ReceiveMessage(socket_, answer);
  }
  /// Ends the child and says how it ended.
  std::string End() {
    if (socket_ < 0) {
      return "";
    }
    {
      OpenSockets& all = AllSockets();
      const std::lock_guard lock(all.mutex);
      all.sockets.erase(socket_);
      close(socket_);
    }
    socket_ = -1;
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? std::string("killed by ") + strsignal(WTERMSIG(status))
                               : "exit status " + std::to_string(WEXITSTATUS(status));
  }

  std::map<std::pair<std::string, std::string>, std::uint32_t> modules;  ///< by name and PTX

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

/// One GPU's children that nobody uses at the moment, and how many are used.
struct Gpu {
  std::vector<std::unique_ptr<Child>> idle;
  int in_use = 0;
};
struct AllGpus {
  std::mutex mutex;
  std::map<int, Gpu> by_ordinal;
};
AllGpus& Gpus() {
  static auto* const gpus = new AllGpus;
  return *gpus;
}

constexpr int kNoGpu = -1;  // a device of a child that nobody else takes over

/// A place on the GPU that is used least, with a child of it if one is idle.
struct Seat {
  int ordinal = kNoGpu;
  std::unique_ptr<Child> child;
};
Seat TakeSeat(const std::vector<int>& ordinals) {
  AllGpus& gpus = Gpus();
  const std::lock_guard lock(gpus.mutex);
  Seat seat;
  for (const int ordinal : ordinals) {
    if (seat.ordinal == kNoGpu ||
        gpus.by_ordinal[ordinal].in_use < gpus.by_ordinal[seat.ordinal].in_use) {
      seat.ordinal = ordinal;
    }
  }
  Gpu& gpu = gpus.by_ordinal[seat.ordinal];
  ++gpu.in_use;
  if (!gpu.idle.empty()) {
    seat.child = std::move(gpu.idle.back());
    gpu.idle.pop_back();
  }
  return seat;
}
/// `child`: null when it cannot serve again.
void LeaveSeat(int ordinal, std::unique_ptr<Child> child) {
  AllGpus& gpus = Gpus();
  const std::lock_guard lock(gpus.mutex);
  Gpu& gpu = gpus.by_ordinal[ordinal];
  --gpu.in_use;
  if (child) {
    gpu.idle.push_back(std::move(child));
  }
}

class IsolatedDevice : public kernels::Device {
 public:
  IsolatedDevice(std::unique_ptr<Child> child, int gpu) : child_(std::move(child)), gpu_(gpu) {
    try {
      description_ = AskDescription();
    } catch (...) {
      Leave(false);
      throw;
    }
  }
  IsolatedDevice(const IsolatedDevice&) = delete;
  IsolatedDevice& operator=(const IsolatedDevice&) = delete;
  ~IsolatedDevice() override { Leave(!faulted_ && allocated_.empty()); }

  kernels::DeviceDescription Describe() const override { return description_; }

  kernels::DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    WireWriter call = Start(DeviceCall::kAllocate);
    call.Put<std::uint64_t>(bytes);
    call.PutText(name);
    const auto address = Ask(call, /*needs_answer=*/true).Take<kernels::DeviceAddress>();
    allocated_.insert(address);
    return address;
  }
  void Free(kernels::DeviceAddress address) override {
    WireWriter call = Start(DeviceCall::kFree);
    call.Put(address);
    allocated_.erase(address);
    Ask(call);
  }
  void CopyToDevice(kernels::DeviceAddress to, std::span<const std::byte> from) override {
    WireWriter call = Start(DeviceCall::kCopyToDevice);
    call.Put(to);
    call.PutBlock(from);
    Ask(call);
  }
  void CopyFromDevice(std::span<std::byte> to, kernels::DeviceAddress from) override {
    WireWriter call = Start(DeviceCall::kCopyFromDevice);
    call.Put(from);
    call.Put<std::uint64_t>(to.size());
    WireReader answer = Ask(call);
    if (!faulted_) {
      const std::vector<std::byte> bytes = answer.TakeBlock();
      std::copy(bytes.begin(), bytes.end(), to.begin());
    }
  }
  void Fill(kernels::DeviceAddress to, std::byte value, std::size_t bytes) override {
    WireWriter call = Start(DeviceCall::kFill);
    call.Put(to);
    call.Put(value);
    call.Put<std::uint64_t>(bytes);
    Ask(call);
  }

  std::uint32_t LoadModule(const kernels::ModuleImage& image) override {
    const auto key = std::pair{image.name, image.ptx};
    const auto loaded = child_->modules.find(key);
    if (loaded != child_->modules.end()) {
      return loaded->second;
    }
    WireWriter call = Start(DeviceCall::kLoadModule);
    call.PutText(image.name);
    call.PutText(image.ptx);
    call.PutBlock(image.sm70_cubin);
    const auto module = Ask(call, /*needs_answer=*/true).Take<std::uint32_t>();
    child_->modules[key] = module;
    description_ = AskDescription();
    return module;
  }
  kernels::KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    WireWriter call = Start(DeviceCall::kFindKernel);
    call.Put(module);
    call.PutText(name);
    return Ask(call, /*needs_answer=*/true).Take<kernels::KernelHandle>();
  }
  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    WireWriter call = Start(DeviceCall::kKernelNames);
    call.Put(module);
    WireReader answer = Ask(call, /*needs_answer=*/true);
    std::vector<std::string> names(static_cast<std::size_t>(answer.Take<std::uint64_t>()));
    for (std::string& name : names) {
      name = answer.TakeText();
    }
    return names;
  }
  std::vector<kernels::KernelParameter> Parameters(kernels::KernelHandle kernel) const override {
    WireWriter call = Start(DeviceCall::kParameters);
    call.Put(kernel);
    const std::vector<std::byte> bytes = Ask(call, /*needs_answer=*/true).TakeBlock();
    std::vector<kernels::KernelParameter> parameters(bytes.size() /
                                                     sizeof(kernels::KernelParameter));
    std::memcpy(parameters.data(), bytes.data(), bytes.size());
    return parameters;
  }

  void Run(const Launch& launch) override {
    WireWriter call = Start(DeviceCall::kRun);
    PutLaunch(launch, call);
    Ask(call);
  }
  std::unique_ptr<kernels::LaunchSequence> Capture(std::span<const Launch> launches) override {
    WireWriter call = Start(DeviceCall::kCapture);
    call.Put<std::uint64_t>(launches.size());
    for (const Launch& launch : launches) {
      PutLaunch(launch, call);
    }
    return std::make_unique<Sequence>(*this,
                                      Ask(call, /*needs_answer=*/true).Take<std::uint64_t>());
  }
  void Synchronize() override { Ask(Start(DeviceCall::kSynchronize)); }

  bool faulted() const override { return faulted_; }
  std::vector<kernels::Finding> TakeFindings() override {
    WireReader answer = Ask(Start(DeviceCall::kTakeFindings));
    std::vector<kernels::Finding> findings;
    if (ended_.empty()) {
      findings.resize(static_cast<std::size_t>(answer.Take<std::uint64_t>()));
    } else if (!told_) {
      findings.emplace_back();
      findings[0].checker = "fault";
      findings[0].message = "the process that drove the device ended: " + ended_;
      told_ = true;
      return findings;
    }
    for (kernels::Finding& finding : findings) {
      finding.checker = answer.TakeText();
      finding.kernel = answer.TakeText();
      finding.message = answer.TakeText();
      finding.file = answer.TakeText();
      finding.line = answer.Take<std::uint32_t>();
      finding.source = answer.TakeText();
      finding.block = answer.Take<kernels::Dim3>();
      finding.thread = answer.Take<kernels::Dim3>();
      finding.address = answer.Take<std::uint64_t>();
    }
    return findings;
  }
  kernels::Counters TakeCounters() override {
    WireReader answer = Ask(Start(DeviceCall::kTakeCounters));
    return ended_.empty() ? answer.Take<kernels::Counters>() : kernels::Counters();
  }

 private:
  void Leave(bool keep_child) {
    if (gpu_ != kNoGpu) {
      LeaveSeat(gpu_, keep_child ? std::move(child_) : nullptr);
    }
  }

  class Sequence : public kernels::LaunchSequence {
   public:
    Sequence(IsolatedDevice& device, std::uint64_t id) : device_(device), id_(id) {}
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;
    ~Sequence() override { Send(DeviceCall::kDropSequence); }
    void Replay() override { Send(DeviceCall::kReplay); }

   private:
    void Send(DeviceCall what) {
      WireWriter call = Start(what);
      call.Put(id_);
      device_.Ask(call);
    }
    IsolatedDevice& device_;
    std::uint64_t id_;
  };

  static WireWriter Start(DeviceCall what) {
    WireWriter call;
    call.Put(what);
    return call;
  }

  static void PutLaunch(const Launch& launch, WireWriter& call) {
    call.Put(launch.kernel);
    call.Put(launch.grid);
    call.Put(launch.block);
    call.Put(launch.dynamic_shared_bytes);
    call.Put(static_cast<std::uint32_t>(launch.arguments.size()));
    for (const std::vector<std::byte>& argument : launch.arguments) {
      call.PutBlock(argument);
    }
  }

  /// The answer's payload; empty when the child is gone, which throws when the caller needs one.
  WireReader Ask(const WireWriter& call, bool needs_answer = false) const {
    std::vector<std::byte> bytes;
    if (ended_.empty() && !child_->Exchange(call, bytes)) {
      ended_ = child_->End();
      faulted_ = true;
    }
    if (!ended_.empty()) {
      if (needs_answer) {
        throw Error(ExitStatus::kUnavailable,
                    "device: the process that drove it ended (" + ended_ + "); run the case again");
      }
      return WireReader({});
    }
    WireReader answer(std::move(bytes));
    const auto status = answer.Take<ExitStatus>();
    const std::string error = answer.TakeText();
    faulted_ = answer.Take<bool>();
    if (!error.empty()) {
      throw Error(status, error);
    }
    return WireReader(answer.TakeBlock());
  }

  kernels::DeviceDescription AskDescription() const {
    WireReader answer = Ask(Start(DeviceCall::kDescribe), /*needs_answer=*/true);
    kernels::DeviceDescription d;
    for (std::string* text : {&d.kind, &d.name, &d.driver, &d.numerics, &d.code, &d.tables}) {
      *text = answer.TakeText();
    }
    return d;
  }

  std::unique_ptr<Child> child_;
  int gpu_;  ///< whose next device takes the child over when it did not fault; or kNoGpu
  kernels::DeviceDescription description_;
  std::set<kernels::DeviceAddress> allocated_;
  mutable bool faulted_ = false;
  mutable std::string ended_;  ///< how the child ended; empty while it lives
  bool told_ = false;
};

}  // namespace

std::unique_ptr<kernels::Device> MakeIsolatedDevice(const DeviceMaker& make) {
  return std::make_unique<IsolatedDevice>(std::make_unique<Child>(make), kNoGpu);
}

std::unique_ptr<kernels::Device> MakeIsolatedGpu(const std::vector<int>& ordinals,
                                                 const GpuMaker& make) {
  Seat seat = TakeSeat(ordinals);
  const int ordinal = seat.ordinal;
  if (!seat.child) {
    try {
      seat.child = std::make_unique<Child>([make, ordinal] { return make(ordinal); });
    } catch (...) {
      LeaveSeat(ordinal, nullptr);
      throw;
    }
  }
  return std::make_unique<IsolatedDevice>(std::move(seat.child), ordinal);
}

std::unique_ptr<kernels::Device> MakeIsolatedCudaDevice(const std::vector<int>& ordinals) {
  return MakeIsolatedGpu(ordinals, [](int ordinal) { return MakeCudaDevice(ordinal); });
}

}  // namespace voltcheck::cuda
