// `voltcheck exec`: any kernel of any PTX file on raw buffers.
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "fixtures/atomic_file.h"
#include "fixtures/case/descriptor.h"
#include "kernels/runtime_shim/core/device_output.h"
#include "kernels/runtime_shim/core/ptx_support.h"
#include "kernels/runtime_shim/core/settings.h"
#include "kernels/simulator/simulator.h"
#include "tools/arguments.h"
#include "tools/exec_argument.h"
#include "tools/exec_contraction.h"
#include "tools/exec_schedules.h"
#include "tools/json_record.h"
#include "verify/device_options.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostThreads = 0x7FFFFFFF;
constexpr std::uint64_t kMostShared = std::uint64_t{1} << 20;

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

kernels::Dim3 ParseDim(const Arguments& arguments, const char* name) {
  const std::string where = std::string("--") + name;
  const std::vector<std::string> parts = SplitCommas(arguments.Text(name));
  if (parts.size() > 3) {
    throw BadInput(where, "has more than three numbers", "write X[,Y,Z]");
  }
  std::array<std::uint32_t, 3> d{1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    d[i] = static_cast<std::uint32_t>(ParseUnsigned(where, parts[i], kMostThreads));
    if (d[i] == 0) {
      throw BadInput(where, "holds a 0", "every dimension is at least 1");
    }
  }
  return {d[0], d[1], d[2]};
}

simulator::Options ReadSimulatorOptions(const Arguments& arguments) {
  simulator::Options options;
  options.numerics = ParseNumerics(arguments.Text("numerics"));
  ReadSchedule(arguments, options);
  options.checks = shim::ParseChecks(arguments.Text("check"));
  return options;
}

std::unique_ptr<kernels::Device> OpenDevice(const std::string& kind,
                                            const simulator::Options& options) {
  if (kind == "simulator") {
    return simulator::MakeSimulator(options);
  }
  verify::DeviceOptions other;
  other.kind = kind;
  return verify::MakeDevice(other, options.numerics);
}

// Every output's temporary file, made before the launch so that an unwritable folder shows early.
using Outputs = std::vector<std::unique_ptr<fixtures::AtomicFile>>;

Outputs PrepareOutputs(const std::vector<ExecArgument>& arguments) {
  Outputs outputs;
  for (const ExecArgument& argument : arguments) {
    outputs.push_back(argument.out.empty() ? nullptr
                                           : std::make_unique<fixtures::AtomicFile>(argument.out));
  }
  return outputs;
}

std::vector<kernels::DeviceAddress> Upload(kernels::Device& device,
                                           const std::vector<ExecArgument>& arguments) {
  std::vector<kernels::DeviceAddress> addresses;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    addresses.push_back(0);
    if (arguments[i].is_buffer) {
      addresses[i] = device.Allocate(arguments[i].size, "arg" + std::to_string(i));
      if (arguments[i].initialised) {
        device.CopyToDevice(addresses[i], arguments[i].bytes);
      }
    }
  }
  return addresses;
}

std::vector<std::vector<std::byte>> ArgumentBytes(
    const std::vector<ExecArgument>& arguments,
    const std::vector<kernels::DeviceAddress>& addresses) {
  std::vector<std::vector<std::byte>> bytes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_buffer) {
      bytes.push_back(kernels::ArgumentBytes(addresses[i]));
      continue;
    }
    bytes.push_back(arguments[i].bytes);
    for (const AddressPatch& patch : arguments[i].patches) {
      std::memcpy(bytes.back().data() + patch.offset, &addresses[patch.argument],
                  sizeof(kernels::DeviceAddress));
    }
  }
  return bytes;
}

void Save(const std::vector<ExecArgument>& arguments, const ExecRun& run, const Outputs& outputs) {
  std::vector<std::string> files(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (outputs[i]) {
      files[i] = OutputFile(arguments[i], run.contents[i]);
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!outputs[i]) {
      continue;
    }
    outputs[i]->Write(std::as_bytes(std::span(files[i].data(), files[i].size())));
    outputs[i]->Commit();
  }
}

// Launches the kernel on a device and buffers of its own.
ExecRun LaunchOnce(kernels::Device* device, const kernels::ModuleImage& image,
                   const std::string& kernel, kernels::Launch launch,
                   const std::vector<ExecArgument>& arguments) {
  const std::uint32_t module = device->LoadModule(image);
  launch.kernel = device->FindKernel(module, kernel);
  const std::vector<kernels::DeviceAddress> addresses = Upload(*device, arguments);
  launch.arguments = ArgumentBytes(arguments, addresses);
  device->Run(launch);
  device->Synchronize();
  ExecRun run;
  if (auto* simulator = dynamic_cast<simulator::SimulatorDevice*>(device)) {
    run.printed = shim::TakeOutput(*simulator, module).printed;
  }
  run.findings = device->TakeFindings();
  run.faulted = device->faulted();
  run.contents.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!run.faulted && arguments[i].is_buffer) {
      run.contents[i].resize(arguments[i].size);
      device->CopyFromDevice(run.contents[i], addresses[i]);
    }
  }
  run.counters = device->TakeCounters();
  return run;
}

void PrintReport(const std::string& file, const ContractionOutcome& outcome,
                 const std::optional<simulator::Exploration>& exploration, bool json) {
  const std::vector<kernels::Finding>& findings = outcome.run.findings;
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const kernels::Finding& finding : findings) {
      list.push_back(ToJson(finding));
    }
    nlohmann::ordered_json report = {{"schema", "voltcheck.exec/1"},
                                     {"summary", {{"findings", findings.size()}}},
                                     {"findings", list},
                                     {"printed", outcome.run.printed},
                                     {"counters", ToJson(outcome.run.counters)}};
    if (outcome.report.mode != "off") {
      report["contraction"] = ContractionJson(outcome.report);
    }
    if (exploration) {
      report["exploration"] = ExplorationJson(*exploration);
    }
    std::printf("%s\n",
                report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return;
  }
  std::fputs(outcome.run.printed.c_str(), stdout);
  for (const kernels::Finding& f : findings) {
    const std::string place = f.source.empty() ? f.file + ":" + std::to_string(f.line) : f.source;
    std::printf("%s in %s at %s, block (%u, %u, %u), thread (%u, %u, %u): %s\n", f.checker.c_str(),
                f.kernel.c_str(), place.c_str(), f.block.x, f.block.y, f.block.z, f.thread.x,
                f.thread.y, f.thread.z, f.message.c_str());
  }
  std::fputs(ContractionText(file, outcome.report).c_str(), stdout);
  if (exploration) {
    std::fputs(ExplorationText(*exploration).c_str(), stdout);
  }
}

}  // namespace

ExitStatus Exec(const Words& words) {
  Arguments options(
      "exec FILE.ptx KERNEL --grid X[,Y,Z] --block X[,Y,Z] --arg KIND... [options]",
      "Launches one kernel once. KIND, one --arg for each parameter in order:\n"
      "  in:FILE  out:FILE:BYTES  inout:FILE[:OUTFILE]  zeros:BYTES      buffers\n"
      "  u8:V i32:V u32:V i64:V u64:V f16:V f32:V f64:V                  scalars\n"
      "  bytes:FILE[@OFFSET=argN]...   a struct by value, addresses of buffers patched in\n"
      "Files are raw little-endian bytes, or .npy. Status 1: a checker found something; then no\n"
      "output of a kernel that faulted is written.");
  options.Positional("word", 2);
  options.Value("grid", "1", "CTAs");
  options.Value("block", "1", "threads of a CTA");
  options.Value("shared", "0", "bytes of dynamic shared memory");
  options.Value("device", "simulator", "simulator or cuda");
  options.Value("numerics", "v100",
                "simulator: arithmetic of mma.sync, v100, sm75, sm80-software, sm90");
  AddScheduleOptions(options);
  options.Value("check", "all", "simulator: all, none, or a list of checkers");
  options.Value("contraction", "off",
                "fuse mul and add without rounding modifier: off, on, or both to compare");
  options.Values("arg", "one parameter of the kernel");
  options.Flag("json", "print findings and counters as JSON");
  if (!options.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> names = options.Texts("word");
  if (names.size() != 2) {
    throw BadInput("voltcheck exec", "needs a PTX file and a kernel's name",
                   "see 'voltcheck exec --help'");
  }
  kernels::Launch launch;
  launch.grid = ParseDim(options, "grid");
  launch.block = ParseDim(options, "block");
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(options.Number("shared", kMostShared));
  std::vector<ExecArgument> arguments;
  for (const std::string& text : options.Texts("arg")) {
    arguments.push_back(ParseExecArgument(text));
  }
  CheckPatches(arguments);
  const kernels::ModuleImage image = verify::ReadOverrides({names[0]}).front();
  const Outputs outputs = PrepareOutputs(arguments);
  simulator::Options simulated = ReadSimulatorOptions(options);
  const std::uint64_t first_seed = simulated.schedule;
  std::optional<simulator::Exploration> exploration;
  const auto launch_once = [&](const std::string& ptx) {
    const auto device = OpenDevice(options.Text("device"), simulated);
    const auto* simulator = dynamic_cast<simulator::SimulatorDevice*>(device.get());
    const kernels::ModuleImage whole{
        image.name,
        simulator == nullptr ? ptx : shim::WithSupport(ptx, shim::Assertions::kFound),
        {}};
    ExecRun run = LaunchOnce(device.get(), whole, names[1], launch, arguments);
    if (simulator != nullptr && simulated.interleavings != 0) {
      exploration = simulator->exploration();
    }
    return run;
  };
  const ContractionOutcome outcome = RunContractions(
      options.Text("contraction"), image.name, image.ptx, names[1], [&](const std::string& ptx) {
        return RunSchedules(first_seed, ScheduleCount(options), names[1], [&](std::uint64_t seed) {
          simulated.schedule = seed;
          return launch_once(ptx);
        });
      });
  if (!outcome.run.faulted) {
    Save(arguments, outcome.run, outputs);
  }
  PrintReport(image.name, outcome, exploration, options.Has("json"));
  return outcome.run.findings.empty() && !outcome.run.faulted ? ExitStatus::kPassed
                                                              : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
