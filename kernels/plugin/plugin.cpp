#include "kernels/plugin/plugin.h"

#include <dlfcn.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <vector>

#include "kernels/cuda/isolated_device.h"
#include "kernels/foreign_plan.h"
#include "kernels/kernel_set.h"
#include "kernels/plugin/foreign_call.h"
#include "kernels/plugin/hosted_device.h"
#include "kernels/plugin/runtime_host.h"
#include "kernels/plugin/stage_arguments.h"

namespace voltcheck::plugin {
namespace {

using kernels::Bit;
using kernels::ForeignStep;
using kernels::Part;

constexpr std::uint32_t kMostSteps = kernels::kParts;
constexpr int kSecondsToLoad = 20;
constexpr int kMmaWidth = 4;
constexpr int kWmmaWidth = 16;
constexpr std::uintmax_t kMostLibraryBytes = std::uintmax_t{4} << 30;

[[noreturn]] void Refuse(const std::string& path, const std::string& what) {
  throw BadInput(path, what, "see kernels/voltcheck_kernel.h");
}

const voltcheck_plugin& Open(const std::string& path) {
  // A name without a slash would be searched for in the system's folders.
  const std::string file = std::filesystem::absolute(path).string();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw BadInput(path, std::string("does not load: ") + (why == nullptr ? "?" : why),
                   "name a shared library with all that it needs");
  }
  using Entry = const voltcheck_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, VOLTCHECK_PLUGIN_SYMBOL));
  if (entry == nullptr) {
    Refuse(path, "exports no function " VOLTCHECK_PLUGIN_SYMBOL);
  }
  const voltcheck_plugin* plugin = entry();
  if (plugin == nullptr) {
    Refuse(path, VOLTCHECK_PLUGIN_SYMBOL " returned null");
  }
  if (plugin->abi != VOLTCHECK_KERNEL_ABI || plugin->struct_size < sizeof(voltcheck_plugin)) {
    Refuse(path, "is built for version " + std::to_string(plugin->abi) + " of the interface, not " +
                     std::to_string(VOLTCHECK_KERNEL_ABI));
  }
  return *plugin;
}

/// Everything that Voltcheck's own process calls, once; for a process that may die of it.
void AskOnce(const std::string& path) {
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return;  // said better by Open
  }
  using Entry = const voltcheck_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, VOLTCHECK_PLUGIN_SYMBOL));
  const voltcheck_plugin* plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr || plugin->abi != VOLTCHECK_KERNEL_ABI ||
      plugin->struct_size < sizeof(voltcheck_plugin)) {
    return;
  }
  const Case c;
  const voltcheck_case shape = ToPluginCase(c);
  const bool takes = plugin->supports == nullptr || plugin->supports(&shape) == nullptr;
  for (std::uint32_t i = 0; takes && i < plugin->step_count && i < kMostSteps; ++i) {
    for (const Part part : {Part::kW13, Part::kSilu, Part::kW2, Part::kOutput}) {
      const bool is_asked = plugin->declare_order != nullptr && plugin->steps != nullptr &&
                            (plugin->steps[i].computes & Bit(part)) != 0;
      voltcheck_order order{sizeof(order), VOLTCHECK_ORDER_UNDECLARED, 1, c.w13_k(), 1, 4};
      if (is_asked) {
        plugin->declare_order(&shape, Bit(part), &order);
      }
    }
  }
}

std::vector<ForeignStep> StepsOf(const std::string& path, const voltcheck_plugin& plugin) {
  std::vector<ForeignStep> steps;
  if (plugin.step_count > kMostSteps || (plugin.step_count > 0 && plugin.steps == nullptr)) {
    Refuse(path, "has " + std::to_string(plugin.step_count) + " steps; there are four parts");
  }
  for (std::uint32_t i = 0; i < plugin.step_count; ++i) {
    if (plugin.steps[i].run == nullptr) {
      Refuse(path, "step " + std::to_string(i) + " has no function");
    }
    steps.push_back({plugin.steps[i].computes, plugin.steps[i].writes});
  }
  if (const std::string why = kernels::WhyNoSteps(steps); !why.empty()) {
    Refuse(path, "steps: " + why);
  }
  return steps;
}

std::string TextOf(const char* text, const char* fallback) {
  return text == nullptr ? fallback : text;
}

class Plugin final : public kernels::Implementation {
 public:
  Plugin(const std::string& path, bool uses_stand_ins)
      : path_(path),
        plugin_(Open(path)),
        steps_(StepsOf(path, plugin_)),
        uses_stand_ins_(uses_stand_ins) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::string file = std::filesystem::path(path).filename().string();
    module_ = PluginModule(file, kernels::HashModules({{file, bytes, {}}}), plugin_);
  }

  std::string name() const override {
    const std::string version = TextOf(plugin_.version, "");
    return "plugin " + module_.name + " (" + TextOf(plugin_.name, "without a name") +
           (version.empty() ? "" : " " + version) + ")";
  }
  std::string arguments() const override { return " --plugin " + module_.name; }
  std::vector<kernels::ModuleImage> modules() const override { return {module_}; }

  kernels::Plan MakePlan(const Problem& problem) const override {
    const voltcheck_case shape = ToPluginCase(problem.c);
    if (plugin_.supports != nullptr) {
      const std::lock_guard lock(mutex_);
      if (const char* why = plugin_.supports(&shape); why != nullptr) {
        throw kernels::Declined(module_.name, why);
      }
    }
    kernels::Plan plan = kernels::MakeForeignPlan(problem, steps_, module_.name);
    const std::vector<kernels::PlanArgument> arguments = StageArguments(problem.c, plan);
    const auto launch = [&](const std::string& entry) {
      return kernels::PlanLaunch{
          kernels::PlanStage::kRepack, module_.name + "#" + entry, {}, {}, 0, arguments};
    };
    kernels::InsertPreparation({launch("prepare")}, plan);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (kernels::Runs(steps_[i], problem.c.stage)) {
        kernels::InsertStep(steps_[i], {launch("step" + std::to_string(i))}, plan);
      }
    }
    return plan;
  }

  bool Computes(Part part) const override {
    unsigned all = 0;
    for (const ForeignStep& step : steps_) {
      all |= step.computes;
    }
    return (all & Bit(part)) != 0;
  }

  DeclaredOrder OrderOf(const Case& c, Part part) const override {
    DeclaredOrder order;
    if (plugin_.declare_order == nullptr || !Computes(part)) {
      return order;
    }
    const voltcheck_case shape = ToPluginCase(c);
    const int k = part == Part::kW2 ? c.w2_k() : c.w13_k();
    voltcheck_order said{sizeof(said), VOLTCHECK_ORDER_UNDECLARED, 1, k, 1, 4};
    {
      const std::lock_guard lock(mutex_);
      plugin_.declare_order(&shape, Bit(part), &said);
    }
    if (said.order > VOLTCHECK_ORDER_WMMA) {
      Refuse(path_, "declares order " + std::to_string(said.order) + ", which there is not");
    }
    const bool is_wmma = said.order == VOLTCHECK_ORDER_WMMA;
    order = {is_wmma ? DeclaredOrder::Kind::kMma : static_cast<DeclaredOrder::Kind>(said.order),
             said.splits, said.chunk, said.k_interleave, said.interleave_width};
    if (said.k_interleave == 1) {  // then the width says what one instruction takes
      order.width = is_wmma ? kWmmaWidth : kMmaWidth;
    }
    const bool is_gemm = part == Part::kW13 || part == Part::kW2;
    if (const std::string why = is_gemm ? WhyImpossible(order, k) : ""; !why.empty()) {
      Refuse(path_, "declares an order that cannot be: " + why);
    }
    return order;
  }

  std::unique_ptr<kernels::Device> MakeDevice(const DeviceMaker& /*make*/,
                                              const DeviceMaker& make) const override {
    return cuda::MakeIsolatedDevice([this, make]() -> std::unique_ptr<kernels::Device> {
      // What the plugin or its kernels print is no result, nor what the parent has yet to write.
      __fpurge(stdout);
      dup2(STDERR_FILENO, STDOUT_FILENO);
      std::unique_ptr<kernels::Device> device = make();
      static RuntimeEvents events;
      if (uses_stand_ins_) {
        HostRuntime(dynamic_cast<simulator::SimulatorDevice&>(*device), events);
      }
      return MakeHostedDevice(std::move(device), plugin_, module_,
                              uses_stand_ins_ ? &events : nullptr);
    });
  }

 private:
  std::string path_;
  const voltcheck_plugin& plugin_;
  std::vector<ForeignStep> steps_;
  bool uses_stand_ins_;
  kernels::ModuleImage module_;
  mutable std::mutex mutex_;
};

}  // namespace

std::shared_ptr<const kernels::Implementation> LoadPlugin(const std::string& path,
                                                          const std::string& device_kind) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw BadInput(path, "is no file", "name a shared library");
  }
  if (std::filesystem::file_size(path, error) > kMostLibraryBytes || error) {
    throw BadInput(path, "is larger than any library", "name a shared library");
  }
  const bool uses_stand_ins = device_kind == "simulator" && LoadRuntime(path);
  if (const std::string end = EndsInChild(kSecondsToLoad, [&] { AskOnce(path); }); !end.empty()) {
    Refuse(path, "loading it and asking supports and declare_order " + end);
  }
  return std::make_shared<Plugin>(path, uses_stand_ins);
}

}  // namespace voltcheck::plugin
