// The driver's interface: a context, a module from PTX text, functions, variables, launches both
// ways, streams, events, a captured graph, errors.
#include <cuda.h>

#include "check.h"

#define DRIVER(call)                                                          \
  do {                                                                        \
    const CUresult driver_status = (call);                                    \
    if (driver_status != CUDA_SUCCESS) {                                      \
      const char* driver_name = "?";                                          \
      cuGetErrorName(driver_status, &driver_name);                            \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, driver_name); \
      std::exit(9);                                                           \
    }                                                                         \
  } while (false)

const char kPtx[] = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .global .align 4 .u32 total;
.visible .entry Multiply(.param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  ld.const.u32 %r6, [factor];
  mul.lo.u32 %r7, %r5, %r6;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r7;
  red.global.add.u32 [total], 1;
done:
  ret;
}
)";

int main() {
  CUcontext none = nullptr;
  std::printf("before cuInit: %d\n", cuCtxGetCurrent(&none) == CUDA_ERROR_NOT_INITIALIZED);
  DRIVER(cuInit(0));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  CUcontext context;
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, kPtx));
  CUfunction multiply;
  DRIVER(cuModuleGetFunction(&multiply, module, "Multiply"));
  CUdeviceptr factor, total, out;
  size_t bytes = 0;
  DRIVER(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  DRIVER(cuModuleGetGlobal(&total, nullptr, module, "total"));
  std::printf("factor has %zu bytes\n", bytes);
  unsigned five = 5, n = 100;
  DRIVER(cuMemcpyHtoD(factor, &five, 4));
  DRIVER(cuMemAlloc(&out, n * 4));
  DRIVER(cuMemsetD32(out, 7, n));

  CUstream stream;
  CUevent begin, end;
  DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  DRIVER(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  DRIVER(cuEventCreate(&end, CU_EVENT_DEFAULT));
  void* arguments[] = {&out, &n};
  DRIVER(cuEventRecord(begin, stream));
  DRIVER(cuLaunchKernel(multiply, 4, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
  DRIVER(cuEventRecord(end, stream));
  DRIVER(cuEventSynchronize(end));
  float milliseconds = 0;
  DRIVER(cuEventElapsedTime(&milliseconds, begin, end));
  std::printf("timed %d\n", milliseconds > 0);
  std::vector<unsigned> got(n), want(n);
  DRIVER(cuMemcpyDtoH(got.data(), out, n * 4));
  for (unsigned i = 0; i < n; ++i) {
    want[i] = 5 * i;
  }
  Compare("multiplied", got, want);

  struct {
    CUdeviceptr out;
    unsigned n;
  } packed = {out, 10};
  size_t packed_bytes = 12;  // the parameters' own bytes, without the struct's padding
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &packed_bytes, CU_LAUNCH_PARAM_END};
  DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  DRIVER(cuLaunchKernel(multiply, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra));
  CUgraph graph;
  CUgraphExec exec;
  DRIVER(cuStreamEndCapture(stream, &graph));
  DRIVER(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    DRIVER(cuGraphLaunch(exec, stream));
  }
  DRIVER(cuStreamSynchronize(stream));
  unsigned count = 0;
  DRIVER(cuMemcpyDtoH(&count, total, 4));
  std::printf("total %u\n", count);

  CUfunction missing;
  const char* name = nullptr;
  cuGetErrorName(cuModuleGetFunction(&missing, module, "Missing"), &name);
  std::printf("missing: %s\n", name);
  cuGetErrorName(cuLaunchKernel(multiply, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr),
                 &name);
  std::printf("too many threads: %s\n", name);
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuStreamDestroy(stream));
  DRIVER(cuMemFree(out));
  DRIVER(cuModuleUnload(module));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return 0;
}
