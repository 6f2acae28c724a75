#include "kernels/simulator/simulator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/simulator/check/spin_loops.h"
#include "kernels/simulator/loaded_module.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/ptx/launch_arguments.h"
#include "kernels/simulator/schedule/explore.h"
#include "kernels/simulator/schedule/grid.h"
#include "reference/arith/table_unit.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kMostSharedBytes = 96 * 1024;  // of a block on a V100

std::string NameOf(Numerics numerics) {
  switch (numerics) {
    case Numerics::kV100:
      return "v100";
    case Numerics::kSm75:
      return "sm75";
    case Numerics::kSm80Software:
      return "sm80-software";
    default:
      return "sm90";
  }
}

/// The newest architecture whose PTX the chip takes. sm80-software is every chip from sm_80 on; the
/// one measured is an sm_90.
std::uint32_t NewestTarget(Numerics numerics) {
  switch (numerics) {
    case Numerics::kV100:
      return 70;
    case Numerics::kSm75:
      return 75;
    default:
      return 90;
  }
}

class Simulator final : public SimulatorDevice {
 public:
  explicit Simulator(const Options& options) : options_(options) {}

  kernels::DeviceDescription Describe() const override {
    kernels::DeviceDescription description;
    description.kind = "simulator";
    description.name = "simulated V100 (SM70)";
    description.numerics = NameOf(options_.numerics);
    description.code = "ptx";
    description.tables = arith::TableUnitChip();
    return description;
  }

  kernels::DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    return global_.Allocate(bytes, name, options_.checks.uninitialised)->base;
  }
  void Free(kernels::DeviceAddress address) override { global_.Free(address); }

  void CopyToDevice(kernels::DeviceAddress to, std::span<const std::byte> from) override {
    if (!from.empty()) {
      std::memcpy(Written(to, from.size(), "copy to the device"), from.data(), from.size());
    }
  }
  void CopyFromDevice(std::span<std::byte> to, kernels::DeviceAddress from) override {
    if (!to.empty()) {
      const Allocation* source = global_.Require(from, to.size(), "copy from the device");
      std::memcpy(to.data(), source->host + (from - source->base), to.size());
    }
  }
  void Fill(kernels::DeviceAddress to, std::byte value, std::size_t bytes) override {
    if (bytes != 0) {
      std::memset(Written(to, bytes, "fill"), static_cast<int>(value), bytes);
    }
  }

  kernels::DeviceAddress AllocateShared(std::size_t bytes, std::string_view name) override {
    return global_.AllocateShared(bytes, name)->base;
  }
  void Adopt(void* host, std::size_t bytes, std::string_view name) override {
    global_.Adopt(host, bytes, name);
  }
  void CopyOnDevice(kernels::DeviceAddress to, kernels::DeviceAddress from,
                    std::size_t bytes) override {
    if (bytes == 0) {
      return;
    }
    const Allocation* source = global_.Require(from, bytes, "copy on the device");
    Allocation* target = global_.Require(to, bytes, "copy on the device");
    const std::uint64_t begin = from - source->base;
    const std::uint64_t target_begin = to - target->base;
    std::memmove(target->host + target_begin, source->host + begin, bytes);
    if (target->written == nullptr) {
      return;
    }
    for (std::uint64_t done = 0; done < bytes;) {  // runs of written bytes between gaps
      const std::uint64_t run = source->written == nullptr
                                    ? bytes - done
                                    : source->written->FirstMissing(begin + done, bytes - done);
      target->written->Add(target_begin + done, run);
      done += run;
      while (done < bytes && !source->written->HasAll(begin + done, 1)) {
        ++done;
      }
    }
  }
  ModuleVariable Extent(kernels::DeviceAddress address) const override {
    const Allocation* allocation = global_.Find(address);
    return allocation == nullptr ? ModuleVariable{}
                                 : ModuleVariable{allocation->base, allocation->bytes};
  }
  KernelNeeds Needs(kernels::KernelHandle kernel) const override {
    const FunctionCode& code = Code(kernel);
    const std::uint32_t required = code.required_threads[0] *
                                   std::max(1u, code.required_threads[1]) *
                                   std::max(1u, code.required_threads[2]);
    return {code.static_shared_bytes, code.local_bytes, required != 0 ? required : code.max_threads,
            code.dynamic_shared_offset};
  }
  ModuleVariable FindVariable(std::uint32_t module, std::string_view name) const override {
    const auto& variables = modules_.at(module).variables;
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? ModuleVariable{}
                                    : ModuleVariable{found->second.address, found->second.bytes};
  }
  void UnloadModule(std::uint32_t module) override {
    for (const std::uint64_t base : std::exchange(modules_.at(module).allocations, {})) {
      global_.Free(base);
    }
    modules_.at(module).variables.clear();
  }

  std::uint32_t LoadModule(const kernels::ModuleImage& image) override {
    modules_.push_back(LoadPtx(image.name, image.ptx, global_, options_.checks.uninitialised,
                               NewestTarget(options_.numerics)));
    return static_cast<std::uint32_t>(modules_.size() - 1);
  }
  kernels::KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    const Program& program = *modules_.at(module).code->program;
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
      if (program.functions[f].entry && program.functions[f].name == name) {
        return {module, f};
      }
    }
    std::string known;
    for (const std::string& other : KernelNames(module)) {
      known += (known.empty() ? "" : ", ") + other;
    }
    throw BadInput(program.file, "has no kernel " + std::string(name), "it has: " + known);
  }
  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    std::vector<std::string> names;
    for (const FunctionCode& function : modules_.at(module).code->program->functions) {
      if (function.entry) {
        names.push_back(function.name);
      }
    }
    return names;
  }
  std::vector<kernels::KernelParameter> Parameters(kernels::KernelHandle kernel) const override {
    std::vector<kernels::KernelParameter> parameters;
    for (const ParameterSlot& slot : Code(kernel).parameters) {
      parameters.push_back({slot.bytes, slot.alignment});
    }
    return parameters;
  }

  void Run(const kernels::Launch& launch) override {
    LaunchState state = Prepare(launch);
    if (faulted_) {
      return;  // like a GPU's context, which is lost after a fault
    }
    GridResult result = RunState(state);
    for (kernels::Finding& finding : result.findings.Summary()) {
      findings_.push_back(std::move(finding));
    }
    counters_ += result.counters;
    faulted_ |= result.faulted;
  }

  std::unique_ptr<kernels::LaunchSequence> Capture(
      std::span<const kernels::Launch> launches) override {
    for (const kernels::Launch& launch : launches) {
      Check(launch);
    }
    return std::make_unique<Sequence>(*this, launches);
  }
  void Synchronize() override {}

  bool faulted() const override { return faulted_; }
  std::vector<kernels::Finding> TakeFindings() override { return std::exchange(findings_, {}); }
  kernels::Counters TakeCounters() override { return std::exchange(counters_, {}); }

  const Exploration& exploration() const override { return exploration_; }

 private:
  class Sequence final : public kernels::LaunchSequence {
   public:
    Sequence(Simulator& simulator, std::span<const kernels::Launch> launches)
        : simulator_(simulator), launches_(launches.begin(), launches.end()) {}
    void Replay() override {
      for (const kernels::Launch& launch : launches_) {
        simulator_.Run(launch);
      }
    }

   private:
    Simulator& simulator_;
    std::vector<kernels::Launch> launches_;
  };

  GridResult RunState(const LaunchState& state) {
    if (options_.interleavings == 0) {
      return state.number == 0 && !options_.steps.empty() ? FollowSteps(state, options_.steps)
                                                          : RunGrid(state);
    }
    Exploration own;
    GridResult result = ExploreGrid(state, own);
    exploration_.interleavings += own.interleavings;
    exploration_.pruned += own.pruned;
    exploration_.operations += own.operations;
    exploration_.complete &= own.complete;
    if (exploration_.differing.empty()) {
      exploration_.differing = own.differing;
    }
    return result;
  }

  const FunctionCode& Code(kernels::KernelHandle kernel) const {
    return modules_.at(kernel.module).code->program->functions.at(kernel.kernel);
  }

  std::byte* Written(std::uint64_t address, std::uint64_t bytes, std::string_view action) {
    Allocation* target = global_.Require(address, bytes, action);
    if (target->written != nullptr) {
      target->written->Add(address - target->base, bytes);
    }
    return target->host + (address - target->base);
  }

  /// Throws Error (status 2) when the launch does not fit the kernel.
  void Check(const kernels::Launch& launch) const {
    const FunctionCode& code = Code(launch.kernel);
    const std::string where = "launch of " + code.name;
    const kernels::Dim3& grid = launch.grid;
    const kernels::Dim3& block = launch.block;
    if (grid.count() == 0 || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu) {
      throw BadInput(where, "the grid is empty or too large", "at most 2^31-1 x 65535 x 65535");
    }
    const std::uint64_t threads = block.count();
    if (threads == 0 || threads > 1024 || block.z > 64) {
      throw BadInput(where, "a block has " + std::to_string(threads) + " threads",
                     "1 to 1024 are possible, z at most 64");
    }
    if (code.max_threads != 0 && threads > code.max_threads) {
      throw BadInput(where, std::to_string(threads) + " threads per block",
                     "the kernel was compiled for at most " + std::to_string(code.max_threads));
    }
    if (code.required_threads[0] != 0 &&
        (block.x != code.required_threads[0] || block.y != std::max(1u, code.required_threads[1]) ||
         block.z != std::max(1u, code.required_threads[2]))) {
      throw BadInput(where, "the block has another shape than the kernel requires",
                     "see .reqntid in its PTX");
    }
    const std::uint64_t shared =
        std::uint64_t{code.static_shared_bytes} + launch.dynamic_shared_bytes;
    if (shared > kMostSharedBytes) {
      throw BadInput(where, "needs " + std::to_string(shared) + " bytes of shared memory",
                     "a block has at most 98304");
    }
    std::vector<ptx::ParameterSize> parameters;
    for (const ParameterSlot& slot : code.parameters) {
      parameters.push_back({slot.name, slot.bytes});
    }
    ptx::CheckArguments(where, parameters, launch.arguments);
  }

  LaunchState Prepare(const kernels::Launch& launch) {
    Check(launch);
    LoadedModule& module = modules_.at(launch.kernel.module);
    LaunchState state;
    state.program = module.code->program.get();
    state.entry = &Code(launch.kernel);
    state.grid = launch.grid;
    state.block = launch.block;
    state.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    state.parameters.resize(state.entry->parameter_bytes);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      std::copy(launch.arguments[i].begin(), launch.arguments[i].end(),
                state.parameters.begin() +
                    static_cast<std::ptrdiff_t>(state.entry->parameters[i].offset));
    }
    state.constants = module.constants;
    state.global = &global_;
    state.spins = &module.code->spins;
    state.options = options_;
    state.number = launches_++;
    state.reads_what_it_writes =
        &reads_what_it_writes_[{launch.kernel.module, launch.kernel.kernel}];
    return state;
  }

  Options options_;
  AddressSpace global_;
  std::vector<LoadedModule> modules_;
  Exploration exploration_;
  std::vector<kernels::Finding> findings_;
  kernels::Counters counters_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> reads_what_it_writes_;
  std::uint64_t launches_ = 0;
  bool faulted_ = false;
};

}  // namespace

std::unique_ptr<SimulatorDevice> MakeSimulator(const Options& options) {
  return std::make_unique<Simulator>(options);
}

}  // namespace voltcheck::simulator
