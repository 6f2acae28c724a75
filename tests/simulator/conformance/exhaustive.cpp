#include "exhaustive.h"

#include <tbb/parallel_for.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

#include "reference/arith/table_unit.h"

namespace voltcheck::conformance {
namespace {

using Model = std::uint64_t (*)(std::uint64_t input);

struct Unit {
  std::string name;
  bool wide;
  Model model;
};

template <float (*kFunction)(float)>
std::uint64_t Single(std::uint64_t input) {
  return std::bit_cast<std::uint32_t>(
      kFunction(std::bit_cast<float>(static_cast<std::uint32_t>(input))));
}
template <double (*kFunction)(double)>
std::uint64_t Double(std::uint64_t input) {
  return std::bit_cast<std::uint64_t>(kFunction(std::bit_cast<double>(input)));
}

std::vector<Unit> Units() {
  return {{"ex2.approx.ftz.f32", false, Single<arith::Ex2ApproxFtz>},
          {"ex2.approx.f32", false, Single<arith::Ex2Approx>},
          {"rcp.approx.ftz.f32", false, Single<arith::RcpApproxFtz>},
          {"rcp.approx.f32", false, Single<arith::RcpApprox>},
          {"sqrt.approx.ftz.f32", false, Single<arith::SqrtApproxFtz>},
          {"sqrt.approx.f32", false, Single<arith::SqrtApprox>},
          {"rsqrt.approx.ftz.f32", false, Single<arith::RsqrtApproxFtz>},
          {"rsqrt.approx.f32", false, Single<arith::RsqrtApprox>},
          {"lg2.approx.ftz.f32", false, Single<arith::Lg2ApproxFtz>},
          {"lg2.approx.f32", false, Single<arith::Lg2Approx>},
          {"sin.approx.ftz.f32", false, Single<arith::SinApprox>},
          {"sin.approx.f32", false, Single<arith::SinApprox>},
          {"cos.approx.ftz.f32", false, Single<arith::CosApprox>},
          {"cos.approx.f32", false, Single<arith::CosApprox>},
          {"rcp.approx.ftz.f64", true, Double<arith::RcpApproxFtz>},
          {"rsqrt.approx.ftz.f64", true, Double<arith::RsqrtApproxFtz>},
          {"rsqrt.approx.f64", true, Double<arith::RsqrtApprox>}};
}

constexpr std::uint64_t kInputs = std::uint64_t{1} << 32;
constexpr std::uint64_t kChunk = std::uint64_t{1} << 25;
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kLowFactor = 0x9E3779B9;  // spreads the high words over the low ones

std::uint64_t InputOf(const Unit& unit, std::uint64_t index) {
  return unit.wide ? index << 32 | static_cast<std::uint32_t>(index * kLowFactor) : index;
}

std::string KernelText(const Unit& unit) {
  const std::string input = unit.wide ? "  mul.lo.u32 %low, %index, " + std::to_string(kLowFactor) +
                                            ";\n  mov.b64 %x, {%low, %index};\n"
                                      : "  mov.b32 %x, %index;\n";
  const std::string bits = unit.wide ? "64" : "32";
  return ".version 6.5\n.target sm_70\n.address_size 64\n"
         ".visible .entry unit(.param .u64 results, .param .u32 first)\n{\n"
         "  .reg .b32 %index, %low, %block, %thread, %first;\n  .reg .b64 %at, %results;\n"
         "  .reg .f" +
         bits +
         " %x, %y;\n"
         "  ld.param.u64 %results, [results];\n  ld.param.u32 %first, [first];\n"
         "  mov.u32 %block, %ctaid.x;\n  mov.u32 %thread, %tid.x;\n"
         "  mad.lo.u32 %index, %block, " +
         std::to_string(kThreads) + ", %thread;\n  mad.wide.u32 %at, %index, " +
         (unit.wide ? "8" : "4") + ", %results;\n  add.u32 %index, %index, %first;\n" + input +
         "  " + unit.name + " %y, %x;\n  st.global.f" + bits + " [%at], %y;\n  ret;\n}\n";
}

/// How many results differ from the model's; the first one is printed.
std::uint64_t Differences(kernels::Device& device, const Unit& unit) {
  const std::uint64_t bytes = unit.wide ? 8 : 4;
  const std::uint32_t module = device.LoadModule({unit.name + ".ptx", KernelText(unit), {}});
  const kernels::KernelHandle kernel = device.FindKernel(module, "unit");
  const kernels::DeviceAddress results = device.Allocate(kChunk * bytes, "results");
  std::vector<std::byte> host(kChunk * bytes);
  std::uint64_t total = 0;
  for (std::uint64_t first = 0; first < kInputs; first += kChunk) {
    device.Run({kernel,
                {static_cast<std::uint32_t>(kChunk / kThreads), 1, 1},
                {kThreads, 1, 1},
                0,
                {kernels::ArgumentBytes(results),
                 kernels::ArgumentBytes(static_cast<std::uint32_t>(first))}});
    device.Synchronize();
    device.CopyFromDevice(host, results);
    std::atomic<std::uint64_t> differences = 0;
    std::atomic<std::uint64_t> earliest = kInputs;
    constexpr std::uint64_t kPiece = 1 << 16;
    tbb::parallel_for(std::uint64_t{0}, kChunk / kPiece, [&](std::uint64_t piece) {
      std::uint64_t found = 0;
      for (std::uint64_t i = piece * kPiece; i < (piece + 1) * kPiece; ++i) {
        std::uint64_t got = 0;
        std::memcpy(&got, host.data() + i * bytes, bytes);
        if (got != unit.model(InputOf(unit, first + i))) {
          ++found;
          std::uint64_t known = earliest;
          while (first + i < known && !earliest.compare_exchange_weak(known, first + i)) {
          }
        }
      }
      differences += found;
    });
    if (differences != 0 && total == 0) {
      std::uint64_t got = 0;
      std::memcpy(&got, host.data() + (earliest - first) * bytes, bytes);
      const std::uint64_t input = InputOf(unit, earliest);
      std::printf("%s(%016llx): device %016llx, model %016llx\n", unit.name.c_str(),
                  static_cast<unsigned long long>(input), static_cast<unsigned long long>(got),
                  static_cast<unsigned long long>(unit.model(input)));
    }
    total += differences;
  }
  device.Free(results);
  return total;
}

}  // namespace

int RunExhaustive(kernels::Device& device, const std::string& only) {
  int different = 0;
  for (const Unit& unit : Units()) {
    if (unit.name.find(only) == std::string::npos) {
      continue;
    }
    const std::uint64_t differences = Differences(device, unit);
    different += differences == 0 ? 0 : 1;
    std::cout << unit.name << ": " << differences << " of 2^32 differ" << std::endl;
  }
  return different;
}

}  // namespace voltcheck::conformance
