// Lane instructions per second and core on straight-line code, checkers off, beside plain C++ loops
// that do the same operations for each lane.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hwy/highway.h"
#include "kernels/simulator/simulator.h"
#include "reference/arith/half.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kBlocks = 16;
constexpr std::uint32_t kLanes = kThreads * kBlocks;
constexpr int kUnroll = 16;  ///< repetitions of a mix in the PTX loop
constexpr int kTurns = 16;   ///< of the PTX loop

/// What one thread computes with: the registers of the PTX below.
struct Thread {
  std::uint32_t r[8];
  float f[8];
  std::uint64_t d[4];
};

// A mix is PTX over %r0-7, %f0-7, %rd0-3 and the same in C++ over a Thread. %rd8 points at the
// thread's 16 bytes of global memory, %r8 at those in shared memory.
struct Integers {
  static constexpr const char* kPtx =
      "mad.lo.s32 %r0, %r1, %r2, %r3;\n"
      "xor.b32 %r1, %r1, %r0;\n"
      "shl.b32 %r4, %r0, 3;\n"
      "add.s32 %r2, %r2, %r4;\n"
      "lop3.b32 %r5, %r0, %r1, %r2, 0x96;\n"
      "shr.u32 %r6, %r5, 5;\n"
      "setp.lt.s32 %p0, %r6, %r1;\n"
      "selp.b32 %r3, %r2, %r6, %p0;\n"
      "min.s32 %r7, %r3, %r5;\n"
      "sub.s32 %r1, %r7, %r0;\n";
  static constexpr int kInstructions = 10;
  static void Plain(Thread& t, std::byte*, std::byte*) {
    std::uint32_t* r = t.r;
    r[0] = r[1] * r[2] + r[3];
    r[1] ^= r[0];
    r[4] = r[0] << 3;
    r[2] += r[4];
    r[5] = r[0] ^ r[1] ^ r[2];
    r[6] = r[5] >> 5;
    r[3] = static_cast<std::int32_t>(r[6]) < static_cast<std::int32_t>(r[1]) ? r[2] : r[6];
    r[7] = static_cast<std::uint32_t>(
        std::min(static_cast<std::int32_t>(r[3]), static_cast<std::int32_t>(r[5])));
    r[1] = r[7] - r[0];
  }
};

struct Floats {
  static constexpr const char* kPtx =
      "fma.rn.f32 %f0, %f1, %f2, %f3;\n"
      "mul.f32 %f4, %f0, %f1;\n"
      "add.f32 %f5, %f4, %f2;\n"
      "fma.rn.f32 %f3, %f5, %f1, %f0;\n"
      "max.f32 %f6, %f3, %f4;\n"
      "sub.f32 %f2, %f6, %f5;\n"
      "fma.rn.f32 %f7, %f2, %f1, %f6;\n"
      "min.f32 %f3, %f7, %f0;\n";
  static constexpr int kInstructions = 8;
  static void Plain(Thread& t, std::byte*, std::byte*) {
    float* f = t.f;
    f[0] = std::fma(f[1], f[2], f[3]);
    f[4] = f[0] * f[1];
    f[5] = f[4] + f[2];
    f[3] = std::fma(f[5], f[1], f[0]);
    f[6] = std::fmax(f[3], f[4]);
    f[2] = f[6] - f[5];
    f[7] = std::fma(f[2], f[1], f[6]);
    f[3] = std::fmin(f[7], f[0]);
  }
};

struct Halves {
  static constexpr const char* kPtx =
      "fma.rn.f16x2 %r0, %r1, %r2, %r3;\n"
      "mul.f16x2 %r4, %r0, %r1;\n"
      "add.f16x2 %r5, %r4, %r2;\n"
      "fma.rn.f16x2 %r3, %r5, %r1, %r0;\n"
      "sub.f16x2 %r2, %r3, %r5;\n";
  static constexpr int kInstructions = 5;
  template <typename F>
  static std::uint32_t Both(F f, std::uint32_t a, std::uint32_t b) {
    const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
    const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
    return f(low(a), low(b)) | static_cast<std::uint32_t>(f(high(a), high(b))) << 16;
  }
  static std::uint32_t Fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
    const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
    return arith::HalfFma(low(a), low(b), low(c)) |
           static_cast<std::uint32_t>(arith::HalfFma(high(a), high(b), high(c))) << 16;
  }
  static void Plain(Thread& t, std::byte*, std::byte*) {
    std::uint32_t* r = t.r;
    r[0] = Fma(r[1], r[2], r[3]);
    r[4] = Both(arith::HalfMul, r[0], r[1]);
    r[5] = Both(arith::HalfAdd, r[4], r[2]);
    r[3] = Fma(r[5], r[1], r[0]);
    r[2] = Both(arith::HalfSub, r[3], r[5]);
  }
};

struct Memory {
  static constexpr const char* kPtx =
      "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd8];\n"
      "st.shared.v4.u32 [%r8], {%r1, %r0, %r3, %r2};\n"
      "ld.shared.u32 %r4, [%r8+4];\n"
      "ld.global.u32 %r5, [%rd8+8];\n"
      "st.global.u32 [%rd8], %r4;\n"
      "ld.shared.v2.u32 {%r6, %r7}, [%r8+8];\n"
      "st.shared.u32 [%r8+4], %r5;\n"
      "st.global.v2.u32 [%rd8+8], {%r7, %r6};\n";
  static constexpr int kInstructions = 8;
  static void Plain(Thread& t, std::byte* global, std::byte* shared) {
    std::uint32_t* r = t.r;
    std::memcpy(r, global, 16);
    const std::uint32_t swapped[4] = {r[1], r[0], r[3], r[2]};
    std::memcpy(shared, swapped, 16);
    std::memcpy(&r[4], shared + 4, 4);
    std::memcpy(&r[5], global + 8, 4);
    std::memcpy(global, &r[4], 4);
    std::memcpy(&r[6], shared + 8, 8);
    std::memcpy(shared + 4, &r[5], 4);
    std::memcpy(global + 8, &r[7], 4);
    std::memcpy(global + 12, &r[6], 4);
  }
};

struct Addresses {
  static constexpr const char* kPtx =
      "mul.wide.u32 %rd0, %r0, 4;\n"
      "add.s64 %rd1, %rd1, %rd0;\n"
      "shr.u64 %rd2, %rd1, 7;\n"
      "cvt.u32.u64 %r1, %rd2;\n"
      "and.b32 %r2, %r1, 1023;\n"
      "cvt.u64.u32 %rd3, %r2;\n"
      "shl.b64 %rd0, %rd3, 4;\n"
      "mad.wide.s32 %rd1, %r2, 12, %rd0;\n"
      "add.s32 %r0, %r0, %r2;\n"
      "mov.u32 %r3, %r0;\n";
  static constexpr int kInstructions = 10;
  static void Plain(Thread& t, std::byte*, std::byte*) {
    std::uint32_t* r = t.r;
    std::uint64_t* d = t.d;
    d[0] = std::uint64_t{r[0]} * 4;
    d[1] += d[0];
    d[2] = d[1] >> 7;
    r[1] = static_cast<std::uint32_t>(d[2]);
    r[2] = r[1] & 1023;
    d[3] = r[2];
    d[0] = d[3] << 4;
    d[1] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(r[2])} * 12) + d[0];
    r[0] += r[2];
    r[3] = r[0];
  }
};

Thread StartOf(std::uint32_t lane) {
  Thread t;
  for (std::uint32_t i = 0; i < 8; ++i) {
    t.r[i] = lane + 0x3c003c00u + i;
    t.f[i] = static_cast<float>(lane + i) * 0x1p-12f;
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    t.d[i] = lane + i;
  }
  return t;
}

template <class Mix>
void Plain(benchmark::State& state) {
  std::vector<Thread> threads;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    threads.push_back(StartOf(lane));
  }
  std::vector<std::byte> global(kLanes * 16);
  std::vector<std::byte> shared(kLanes * 16);
  for (auto _ : state) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Thread t = threads[lane];
      for (int turn = 0; turn < kTurns * kUnroll; ++turn) {
        Mix::Plain(t, global.data() + lane * 16, shared.data() + lane * 16);
      }
      threads[lane] = t;
    }
    benchmark::ClobberMemory();
  }
  state.counters["lane/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kLanes * kTurns * kUnroll * Mix::kInstructions,
      benchmark::Counter::kIsRate);
}

template <class Mix>
std::string Kernel() {
  std::string text =
      ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 data)\n{\n"
      ".reg .pred %p<2>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"
      ".shared .align 16 .b8 tile[" +
      std::to_string(kThreads * 16) +
      "];\n"
      "ld.param.u64 %rd8, [data];\nmov.u32 %r9, %tid.x;\nmov.u32 %r10, %ctaid.x;\n"
      "mov.u32 %r11, %ntid.x;\nmad.lo.s32 %r12, %r10, %r11, %r9;\n"
      "mul.wide.u32 %rd9, %r12, 16;\nadd.s64 %rd8, %rd8, %rd9;\n"
      "mov.u32 %r8, tile;\nshl.b32 %r13, %r9, 4;\nadd.s32 %r8, %r8, %r13;\n";
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "add.s32 %r" + n + ", %r12, " + std::to_string(0x3c003c00 + i) + ";\n";
    text += "add.s32 %r14, %r12, " + n + ";\ncvt.rn.f32.u32 %f" + n + ", %r14;\nmul.f32 %f" + n +
            ", %f" + n + ", 0f39800000;\n";
  }
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    text += "cvt.u64.u32 %rd" + n + ", %r12;\nadd.s64 %rd" + n + ", %rd" + n + ", " + n + ";\n";
  }
  text += "mov.u32 %r15, 0;\nagain:\n";
  for (int i = 0; i < kUnroll; ++i) {
    text += Mix::kPtx;
  }
  return text + "add.s32 %r15, %r15, 1;\nsetp.lt.s32 %p1, %r15, " + std::to_string(kTurns) +
         ";\n@%p1 bra again;\nst.global.u32 [%rd8], %r3;\nret;\n}\n";
}

/// In a simulator that runs on one core with the instruction set `target`, 0 being the best.
template <class Mix>
void Simulated(benchmark::State& state, std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().DeInit();
  Options options;
  options.jobs = 1;
  options.checks.barriers = false;
  const std::unique_ptr<kernels::Device> device = MakeSimulator(options);
  const kernels::KernelHandle kernel =
      device->FindKernel(device->LoadModule({"mix.ptx", Kernel<Mix>(), {}}), "k");
  const kernels::DeviceAddress data = device->Allocate(kLanes * 16, "data");
  device->Fill(data, std::byte{0}, kLanes * 16);
  const kernels::Launch launch{
      kernel, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, {kernels::ArgumentBytes(data)}};
  for (auto _ : state) {
    device->Run(launch);
  }
  state.counters["lane/s"] = benchmark::Counter(
      static_cast<double>(device->TakeCounters().lane_instructions), benchmark::Counter::kIsRate);
  if (!device->TakeFindings().empty()) {
    state.SkipWithError("the kernel has findings");
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

template <class Mix>
void Register(const std::string& mix) {
  benchmark::RegisterBenchmark(("Plain/" + mix).c_str(), Plain<Mix>);
  benchmark::RegisterBenchmark(("Lanes/" + mix).c_str(), Simulated<Mix>, 0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const std::string name = "Lanes" + std::string(hwy::TargetName(target)) + "/" + mix;
    benchmark::RegisterBenchmark(name.c_str(), Simulated<Mix>, target);
  }
}

}  // namespace
}  // namespace voltcheck::simulator

int main(int argc, char** argv) {
  using namespace voltcheck::simulator;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  Register<Integers>("integer");
  Register<Floats>("f32");
  Register<Halves>("f16x2");
  Register<Memory>("memory");
  Register<Addresses>("address");
  benchmark::RunSpecifiedBenchmarks();
}
