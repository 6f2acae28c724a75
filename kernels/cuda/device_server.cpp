#include "kernels/cuda/device_server.h"

#include <map>
#include <optional>

#include "fixtures/case/error.h"
#include "kernels/cuda/wire.h"

namespace voltcheck::cuda {
namespace {

using kernels::Device;
using kernels::Launch;

Launch TakeLaunch(WireReader& in) {
  Launch launch;
  launch.kernel = in.Take<kernels::KernelHandle>();
  launch.grid = in.Take<kernels::Dim3>();
  launch.block = in.Take<kernels::Dim3>();
  launch.dynamic_shared_bytes = in.Take<std::uint32_t>();
  launch.arguments.resize(in.Take<std::uint32_t>());
  for (std::vector<std::byte>& argument : launch.arguments) {
    argument = in.TakeBlock();
  }
  return launch;
}

void PutFinding(const kernels::Finding& finding, WireWriter& out) {
  out.PutText(finding.checker);
  out.PutText(finding.kernel);
  out.PutText(finding.message);
  out.PutText(finding.file);
  out.Put(finding.line);
  out.PutText(finding.source);
  out.Put(finding.block);
  out.Put(finding.thread);
  out.Put(finding.address);
}

class Server {
 public:
  explicit Server(Device& device) : device_(device) {}

  void Answer(WireReader& in, WireWriter& out) {
    switch (in.Take<DeviceCall>()) {
      case DeviceCall::kDescribe: {
        const kernels::DeviceDescription d = device_.Describe();
        for (const std::string* text :
             {&d.kind, &d.name, &d.driver, &d.numerics, &d.code, &d.tables}) {
          out.PutText(*text);
        }
        return;
      }
      case DeviceCall::kAllocate: {
        const auto bytes = static_cast<std::size_t>(in.Take<std::uint64_t>());
        return out.Put(device_.Allocate(bytes, in.TakeText()));
      }
      case DeviceCall::kFree:
        return device_.Free(in.Take<kernels::DeviceAddress>());
      case DeviceCall::kCopyToDevice: {
        const auto to = in.Take<kernels::DeviceAddress>();
        return device_.CopyToDevice(to, in.TakeBlock());
      }
      case DeviceCall::kCopyFromDevice: {
        const auto from = in.Take<kernels::DeviceAddress>();
        std::vector<std::byte> bytes(static_cast<std::size_t>(in.Take<std::uint64_t>()));
        device_.CopyFromDevice(bytes, from);
        return out.PutBlock(bytes);
      }
      case DeviceCall::kFill: {
        const auto to = in.Take<kernels::DeviceAddress>();
        const auto value = in.Take<std::byte>();
        return device_.Fill(to, value, static_cast<std::size_t>(in.Take<std::uint64_t>()));
      }
      case DeviceCall::kLoadModule: {
        kernels::ModuleImage image{in.TakeText(), in.TakeText(), {}};
        const std::vector<std::byte> cubin = in.TakeBlock();
        image.sm70_cubin = cubin;
        return out.Put(device_.LoadModule(image));
      }
      case DeviceCall::kFindKernel: {
        const auto module = in.Take<std::uint32_t>();
        return out.Put(device_.FindKernel(module, in.TakeText()));
      }
      case DeviceCall::kKernelNames: {
        const std::vector<std::string> names = device_.KernelNames(in.Take<std::uint32_t>());
        out.Put<std::uint64_t>(names.size());
        for (const std::string& name : names) {
          out.PutText(name);
        }
        return;
      }
      case DeviceCall::kParameters: {
        const std::vector<kernels::KernelParameter> parameters =
            device_.Parameters(in.Take<kernels::KernelHandle>());
        return out.PutBlock(std::as_bytes(std::span(parameters)));
      }
      case DeviceCall::kRun:
        return device_.Run(TakeLaunch(in));
      case DeviceCall::kCapture: {
        std::vector<Launch> launches(static_cast<std::size_t>(in.Take<std::uint64_t>()));
        for (Launch& launch : launches) {
          launch = TakeLaunch(in);
        }
        sequences_[++last_sequence_] = device_.Capture(launches);
        return out.Put(last_sequence_);
      }
      case DeviceCall::kReplay:
        return sequences_.at(in.Take<std::uint64_t>())->Replay();
      case DeviceCall::kDropSequence:
        sequences_.erase(in.Take<std::uint64_t>());
        return;
      case DeviceCall::kSynchronize:
        return device_.Synchronize();
      case DeviceCall::kTakeFindings: {
        const std::vector<kernels::Finding> findings = device_.TakeFindings();
        out.Put<std::uint64_t>(findings.size());
        for (const kernels::Finding& finding : findings) {
          PutFinding(finding, out);
        }
        return;
      }
      case DeviceCall::kTakeCounters:
        return out.Put(device_.TakeCounters());
    }
  }

 private:
  Device& device_;
  std::map<std::uint64_t, std::unique_ptr<kernels::LaunchSequence>> sequences_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace

void ServeDevice(int socket, const DeviceMaker& make) {
  std::unique_ptr<Device> device;
  std::optional<Server> server;
  std::vector<std::byte> message;
  while (ReceiveMessage(socket, message)) {
    WireWriter result;
    std::string error;
    ExitStatus status = ExitStatus::kPassed;
    try {
      if (!device) {
        device = make();
        server.emplace(*device);
      }
      WireReader call(std::move(message));
      server->Answer(call, result);
    } catch (const Error& e) {
      status = e.status();
      error = e.what();
    } catch (const std::exception& e) {
      status = ExitStatus::kUnavailable;
      error = std::string("the process that drives the device: ") + e.what();
    }
    WireWriter answer;
    answer.Put(status);
    answer.PutText(error);
    answer.Put(device != nullptr && device->faulted());
    answer.PutBlock(result.bytes());
    if (!SendMessage(socket, answer.bytes())) {
      return;
    }
  }
}

}  // namespace voltcheck::cuda
