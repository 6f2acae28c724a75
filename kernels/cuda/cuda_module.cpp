#include "kernels/cuda/cuda_module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "fixtures/case/error.h"

namespace voltcheck::cuda {
namespace {

/// The driver's log on one line.
std::string OneLine(std::string log) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) {
    log.pop_back();
  }
  std::replace(log.begin(), log.end(), '\n', ' ');
  return log;
}

CuModule Load(CudaContext& context, const std::string& name, const void* image) {
  std::vector<char> log(8192, '\0');
  std::array<CuJitOption, 2> keys = {CuJitOption::kErrorLogBuffer,
                                     CuJitOption::kErrorLogBufferBytes};
  // The driver reads a size from the pointer's own bits.
  std::array<void*, 2> values = {log.data(), std::bit_cast<void*>(log.size() - 1)};
  CuModule module = nullptr;
  const CuResult result = context.api().ModuleLoadDataEx(
      &module, image, static_cast<unsigned>(keys.size()), keys.data(), values.data());
  const std::string text = OneLine(log.data());
  if (!context.Survives(result, text.empty() ? name : name + ": " + text, "")) {
    throw Error(ExitStatus::kUnavailable,
                name + ": the GPU faulted earlier and takes no more modules; start a new process");
  }
  return module;
}

}  // namespace

CudaModule::CudaModule(CudaContext& context, const kernels::ModuleImage& image)
    : context_(context), ptx_(simulator::ptx::ParseModule(image.name, image.ptx)) {
  from_cubin_ = !image.sm70_cubin.empty() && context.major() == 7 && context.minor() == 0;
  module_ =
      Load(context, image.name,
           from_cubin_ ? static_cast<const void*>(image.sm70_cubin.data()) : image.ptx.c_str());
  for (std::size_t i = 0; i < ptx_.functions.size(); ++i) {
    const simulator::ptx::Function& function = ptx_.functions[i];
    if (!function.entry || function.declaration) {
      continue;
    }
    CuFunction handle = nullptr;
    const CuResult result =
        context.api().ModuleGetFunction(&handle, module_, function.name.c_str());
    if (result != kSuccess) {
      context.api().ModuleUnload(module_);
      throw BadInput(
          image.name,
          function.name + " is in the PTX but not in the loaded code: " + context.Text(result),
          "build both from one source");
    }
    entries_.push_back(i);
    functions_.push_back(handle);
  }
}

CudaModule::~CudaModule() {
  if (module_ != nullptr) {
    context_.EnterQuietly();
    context_.api().ModuleUnload(module_);
  }
}

CudaModule::CudaModule(CudaModule&& other) noexcept
    : context_(other.context_),
      ptx_(std::move(other.ptx_)),
      from_cubin_(other.from_cubin_),
      module_(std::exchange(other.module_, nullptr)),
      entries_(std::move(other.entries_)),
      functions_(std::move(other.functions_)) {}

const simulator::ptx::Function& CudaModule::Entry(std::uint32_t kernel) const {
  return ptx_.functions[entries_.at(kernel)];
}

std::uint32_t CudaModule::FindKernel(std::string_view name) const {
  for (std::uint32_t kernel = 0; kernel < entries_.size(); ++kernel) {
    if (Entry(kernel).name == name) {
      return kernel;
    }
  }
  throw BadInput(ptx_.file, "there is no kernel '" + std::string(name) + "'",
                 "name an entry of the module");
}

std::vector<std::string> CudaModule::KernelNames() const {
  std::vector<std::string> names;
  for (std::uint32_t kernel = 0; kernel < entries_.size(); ++kernel) {
    names.push_back(Entry(kernel).name);
  }
  return names;
}

}  // namespace voltcheck::cuda
