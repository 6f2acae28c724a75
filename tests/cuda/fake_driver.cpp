// A CUDA driver that follows a script: memory is host memory, kernels do nothing but leave a note,
// and every entry point can be told to fail. It lets the device's error paths run on machines
// without a GPU.
#include "fake_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

FakeDriver& TheFakeDriver() {
  static FakeDriver driver;
  return driver;
}

namespace {

/// The names of functions that ModuleGetFunction gave out; a function's handle points at its name.
std::set<std::string>& Names() {
  static std::set<std::string> names;
  return names;
}

int Result(const char* entry) {
  FakeDriver& fake = TheFakeDriver();
  if (fake.fail_entry != entry) {
    return 0;
  }
  // Faults are sticky in a real driver, but the device must not depend on being told twice.
  fake.fail_entry.clear();
  return fake.fail_result;
}

void Note(const std::string& call) { TheFakeDriver().calls.push_back(call); }

}  // namespace

extern "C" {
// The names are the driver's, and its addresses and handles are integers.
// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr)

int cuInit(unsigned) { return Result("cuInit"); }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return Result("cuDriverGetVersion");
}
int cuGetErrorName(int error, const char** text) {
  static const std::map<int, const char*> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},   {218, "CUDA_ERROR_INVALID_PTX"},
      {500, "CUDA_ERROR_NOT_FOUND"},   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {999, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(error);
  *text = found == names.end() ? nullptr : found->second;
  return found == names.end() ? 1 : 0;
}
int cuGetErrorString(int error, const char** text) {
  static std::string message;
  message = "driver's text of error " + std::to_string(error);
  *text = message.c_str();
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = TheFakeDriver().gpus;
  return Result("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return Result("cuDeviceGet");
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return Result("cuDeviceGetName");
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? TheFakeDriver().major : TheFakeDriver().minor;
  return Result("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &TheFakeDriver();
  return Result("cuDevicePrimaryCtxRetain");
}
int cuDevicePrimaryCtxRelease_v2(int) {
  Note("release");
  return 0;
}
int cuCtxSetCurrent(void*) { return Result("cuCtxSetCurrent"); }
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (const int result = Result("cuMemAlloc_v2")) {
    return result;
  }
  *address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(std::uint64_t address) {
  std::free(reinterpret_cast<void*>(address));
  return Result("cuMemFree_v2");
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return Result("cuMemcpyHtoD_v2");
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return Result("cuMemcpyDtoH_v2");
}
int cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t count) {
  std::memset(reinterpret_cast<void*>(to), value, count);
  return Result("cuMemsetD8_v2");
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned options, const int* keys,
                       void** values) {
  FakeDriver& fake = TheFakeDriver();
  Note(std::memcmp(image,
                   "\x7f"
                   "ELF",
                   4) == 0
           ? "load cubin"
           : "load ptx");
  char* log = nullptr;
  std::size_t log_bytes = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (keys[i] == 5) {
      log = static_cast<char*>(values[i]);
    } else if (keys[i] == 6) {
      log_bytes = reinterpret_cast<std::size_t>(values[i]);
    }
  }
  if (log != nullptr && fake.jit_log.size() < log_bytes) {
    std::memcpy(log, fake.jit_log.c_str(), fake.jit_log.size() + 1);
  }
  *module = &fake;
  return Result("cuModuleLoadDataEx");
}
int cuModuleUnload(void*) {
  Note("unload");
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = const_cast<char*>(Names().insert(name).first->c_str());
  return Result("cuModuleGetFunction");
}
int cuFuncSetAttribute(void*, int, int) { return Result("cuFuncSetAttribute"); }
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void*, void** parameters, void**) {
  FakeDriver& fake = TheFakeDriver();
  if (const int result = Result("cuLaunchKernel")) {
    return result;
  }
  std::string text = std::string(static_cast<const char*>(function)) + "<" + std::to_string(gx) +
                     "," + std::to_string(gy) + "," + std::to_string(gz) + ";" +
                     std::to_string(bx) + "," + std::to_string(by) + "," + std::to_string(bz) +
                     ";" + std::to_string(shared) + ">";
  if (parameters != nullptr) {
    std::uint32_t first = 0;
    std::memcpy(&first, parameters[0], sizeof(first));
    text += " " + std::to_string(first);
  }
  if (fake.capturing) {
    fake.graphs.back().push_back(text);
  } else {
    Note(text);
  }
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &TheFakeDriver();
  return Result("cuStreamCreate");
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return Result("cuStreamSynchronize"); }
int cuStreamBeginCapture_v2(void*, int) {
  TheFakeDriver().capturing = true;
  TheFakeDriver().graphs.emplace_back();
  return Result("cuStreamBeginCapture_v2");
}
int cuStreamEndCapture(void*, void** graph) {
  FakeDriver& fake = TheFakeDriver();
  fake.capturing = false;
  *graph = reinterpret_cast<void*>(fake.graphs.size());
  return Result("cuStreamEndCapture");
}
int cuGraphDestroy(void*) { return 0; }
int cuGraphInstantiateWithFlags(void** executable, void* graph, std::uint64_t) {
  *executable = graph;
  return Result("cuGraphInstantiateWithFlags");
}
int cuGraphLaunch(void* executable, void*) {
  FakeDriver& fake = TheFakeDriver();
  for (const std::string& launch : fake.graphs.at(reinterpret_cast<std::size_t>(executable) - 1)) {
    Note("graph " + launch);
  }
  return Result("cuGraphLaunch");
}
int cuGraphExecDestroy(void*) { return 0; }

// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)
}  // extern "C"
