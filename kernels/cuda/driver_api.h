#ifndef VOLTCHECK_KERNELS_CUDA_DRIVER_API_H_
#define VOLTCHECK_KERNELS_CUDA_DRIVER_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// The part of NVIDIA's driver API (libcuda.so.1) that the device uses. Types and numbers are the
// driver's binary interface, which stays the same from release to release; declaring them here
// keeps the build free of the toolkit's header, whose function versions change with its release.
namespace voltcheck::cuda {

using CuResult = int;
using CuDevice = int;
using CuDevicePointer = std::uint64_t;
using CuContext = struct CuContextRecord*;
using CuModule = struct CuModuleRecord*;
using CuFunction = struct CuFunctionRecord*;
using CuStream = struct CuStreamRecord*;
using CuGraph = struct CuGraphRecord*;
using CuGraphExec = struct CuGraphExecRecord*;

inline constexpr CuResult kSuccess = 0;
inline constexpr CuResult kErrorInvalidValue = 1;
inline constexpr CuResult kErrorOutOfMemory = 2;
inline constexpr CuResult kErrorInvalidImage = 200;
inline constexpr CuResult kErrorNoBinaryForGpu = 209;
inline constexpr CuResult kErrorEccUncorrectable = 214;
inline constexpr CuResult kErrorInvalidPtx = 218;
inline constexpr CuResult kErrorUnsupportedPtxVersion = 222;
inline constexpr CuResult kErrorSymbolNotFound = 302;
inline constexpr CuResult kErrorNotFound = 500;
inline constexpr CuResult kErrorIllegalAddress = 700;
inline constexpr CuResult kErrorLaunchOutOfResources = 701;
inline constexpr CuResult kErrorLaunchTimeout = 702;
inline constexpr CuResult kErrorAssert = 710;
inline constexpr CuResult kErrorHardwareStack = 714;
inline constexpr CuResult kErrorIllegalInstruction = 715;
inline constexpr CuResult kErrorMisalignedAddress = 716;
inline constexpr CuResult kErrorInvalidAddressSpace = 717;
inline constexpr CuResult kErrorInvalidPc = 718;
inline constexpr CuResult kErrorLaunchFailed = 719;

inline constexpr int kAttributeComputeCapabilityMajor = 75;
inline constexpr int kAttributeComputeCapabilityMinor = 76;
inline constexpr int kFunctionMaxDynamicSharedBytes = 8;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureThreadLocal = 1;

/// Options of ModuleLoadDataEx; their values travel in an array of void*.
enum class CuJitOption : int { kErrorLogBuffer = 5, kErrorLogBufferBytes = 6 };

/// Entry points under the names that the driver exports; each is what the driver's manual says of
/// it.
struct DriverApi {
  CuResult (*Init)(unsigned flags);
  CuResult (*DriverGetVersion)(int* version);
  CuResult (*GetErrorName)(CuResult error, const char** text);
  CuResult (*GetErrorString)(CuResult error, const char** text);
  CuResult (*DeviceGetCount)(int* count);
  CuResult (*DeviceGet)(CuDevice* device, int ordinal);
  CuResult (*DeviceGetName)(char* name, int bytes, CuDevice device);
  CuResult (*DeviceGetAttribute)(int* value, int attribute, CuDevice device);
  CuResult (*PrimaryContextRetain)(CuContext* context, CuDevice device);
  CuResult (*PrimaryContextRelease)(CuDevice device);
  CuResult (*ContextSetCurrent)(CuContext context);
  CuResult (*MemoryAllocate)(CuDevicePointer* address, std::size_t bytes);
  CuResult (*MemoryFree)(CuDevicePointer address);
  CuResult (*CopyToDevice)(CuDevicePointer to, const void* from, std::size_t bytes);
  CuResult (*CopyFromDevice)(void* to, CuDevicePointer from, std::size_t bytes);
  CuResult (*SetBytes)(CuDevicePointer to, unsigned char value, std::size_t count);
  CuResult (*ModuleLoadDataEx)(CuModule* module, const void* image, unsigned options,
                               CuJitOption* keys, void** values);
  CuResult (*ModuleUnload)(CuModule module);
  CuResult (*ModuleGetFunction)(CuFunction* function, CuModule module, const char* name);
  CuResult (*FunctionSetAttribute)(CuFunction function, int attribute, int value);
  CuResult (*LaunchKernel)(CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, CuStream stream, void** parameters, void** extra);
  CuResult (*StreamCreate)(CuStream* stream, unsigned flags);
  CuResult (*StreamDestroy)(CuStream stream);
  CuResult (*StreamSynchronize)(CuStream stream);
  CuResult (*StreamBeginCapture)(CuStream stream, int mode);
  CuResult (*StreamEndCapture)(CuStream stream, CuGraph* graph);
  CuResult (*GraphDestroy)(CuGraph graph);
  CuResult (*GraphInstantiate)(CuGraphExec* executable, CuGraph graph, std::uint64_t flags);
  CuResult (*GraphLaunch)(CuGraphExec executable, CuStream stream);
  CuResult (*GraphExecDestroy)(CuGraphExec executable);
};

/// Opens the driver and finds every entry point. Throws Error (status 3, one sentence) when there
/// is no such library or it lacks an entry point. The library stays open for as long as the process
/// lives.
DriverApi LoadDriverApi(const std::string& library);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_DRIVER_API_H_
