#include "kernels/cuda/cuda_context.h"

#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include "fixtures/case/error.h"

namespace voltcheck::cuda {
namespace {

/// Errors that a running kernel causes and that the context does not survive.
bool IsFault(CuResult result) {
  switch (result) {
    case kErrorEccUncorrectable:
    case kErrorIllegalAddress:
    case kErrorLaunchTimeout:
    case kErrorAssert:
    case kErrorHardwareStack:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed:
      return true;
    default:
      return false;
  }
}

/// Errors that another argument would have avoided.
bool IsBadInput(CuResult result) {
  switch (result) {
    case kErrorInvalidValue:
    case kErrorOutOfMemory:
    case kErrorInvalidImage:
    case kErrorNoBinaryForGpu:
    case kErrorInvalidPtx:
    case kErrorUnsupportedPtxVersion:
    case kErrorSymbolNotFound:
    case kErrorNotFound:
    case kErrorLaunchOutOfResources:
      return true;
    default:
      return false;
  }
}

/// The kernel module's release, "580.159.04", or nothing.
std::string KernelModuleVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

std::string CudaVersion(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

CudaContext::CudaContext(const std::string& library, int ordinal) : api_(LoadDriverApi(library)) {
  Require(api_.Init(0), "the NVIDIA driver does not start");
  int count = 0;
  Require(api_.DeviceGetCount(&count), "the NVIDIA driver does not count its GPUs");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ExitStatus::kUnavailable,
                "GPU " + std::to_string(ordinal) + ": this machine has " + std::to_string(count) +
                    " NVIDIA GPUs, numbered from 0; name one of them, or use --device simulator");
  }
  Require(api_.DeviceGet(&device_, ordinal), "GPU " + std::to_string(ordinal));
  std::array<char, 256> name{};
  Require(api_.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device_),
          "the GPU's name");
  gpu_name_ = name.data();
  Require(api_.DeviceGetAttribute(&major_, kAttributeComputeCapabilityMajor, device_),
          "the GPU's architecture");
  Require(api_.DeviceGetAttribute(&minor_, kAttributeComputeCapabilityMinor, device_),
          "the GPU's architecture");
  if (major_ < 7) {
    throw Error(ExitStatus::kUnavailable,
                gpu_name_ +
                    ": SM70 kernels need an NVIDIA GPU from Volta on; use another GPU or "
                    "--device simulator");
  }
  int version = 0;
  Require(api_.DriverGetVersion(&version), "the driver's version");
  const std::string module_version = KernelModuleVersion();
  driver_version_ = module_version.empty() ? CudaVersion(version)
                                           : module_version + " (" + CudaVersion(version) + ")";
  Require(api_.PrimaryContextRetain(&context_, device_), "a context on " + gpu_name_);
  const CuResult entered = api_.ContextSetCurrent(context_);
  const CuResult created =
      entered == kSuccess ? api_.StreamCreate(&stream_, kStreamNonBlocking) : entered;
  if (created != kSuccess) {
    api_.PrimaryContextRelease(device_);
    Require(created, "a stream on " + gpu_name_);
  }
}

CudaContext::~CudaContext() {
  // A poisoned context refuses; the process can do nothing about it but end.
  EnterQuietly();
  api_.StreamDestroy(stream_);
  api_.PrimaryContextRelease(device_);
}

void CudaContext::Enter() const {
  Require(api_.ContextSetCurrent(context_), "the context of " + gpu_name_);
}

std::string CudaContext::Text(CuResult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api_.GetErrorName(result, &name) != kSuccess || name == nullptr) {
    return "CUDA error " + std::to_string(result);
  }
  if (api_.GetErrorString(result, &text) != kSuccess || text == nullptr) {
    return name;
  }
  return std::string(name) + ": " + text;
}

void CudaContext::Require(CuResult result, const std::string& what) const {
  if (result != kSuccess) {
    throw Error(
        ExitStatus::kUnavailable,
        what + ": " + Text(result) + "; check the GPU with nvidia-smi, or use --device simulator");
  }
}

bool CudaContext::Survives(CuResult result, const std::string& what, const std::string& kernel) {
  if (faulted_) {
    return false;
  }
  if (result == kSuccess) {
    return true;
  }
  if (!IsFault(result)) {
    if (IsBadInput(result)) {
      throw BadInput(what, Text(result), "change what is asked of " + gpu_name_);
    }
    Require(result, what);
  }
  faulted_ = true;
  kernels::Finding finding;
  finding.checker = "fault";
  finding.kernel = kernel;
  finding.message = Text(result);
  finding.block = {0, 0, 0};
  finding.thread = {0, 0, 0};
  findings_.push_back(std::move(finding));
  return false;
}

std::vector<kernels::Finding> CudaContext::TakeFindings() { return std::exchange(findings_, {}); }

}  // namespace voltcheck::cuda
