#include "planted_faults.h"

#include <regex>
#include <stdexcept>

#include "kernels/kernel_set.h"

namespace voltcheck::properties::testing {
namespace {

bool IsGemm(const SeenLaunch& seen) { return seen.kernel.starts_with("grouped_gemm"); }

// Halves behind `address` that are NaN become 0.
void DropNans(const SeenLaunch& seen, std::uint64_t address, int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t at = address + 2 * static_cast<std::uint64_t>(i);
    if ((seen.Read<std::uint16_t>(at) & 0x7fff) > 0x7c00) {
      seen.Write(at, std::uint16_t{0});
    }
  }
}

Fault After(std::function<void(const SeenLaunch&)> after) {
  Fault fault;
  fault.after = std::move(after);
  return fault;
}

using Modules = std::function<std::vector<kernels::ModuleImage>()>;

// Every match of `pattern` in every built-in module that `modules` names replaced. Each of them
// must have one.
Modules Edited(const std::string& modules, const std::string& pattern,
               const std::string& replacement) {
  return [=] {
    std::vector<kernels::ModuleImage> edited;
    const std::regex regex(pattern);
    for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
      if (image.name.find(modules) == std::string::npos) {
        continue;
      }
      kernels::ModuleImage changed = image;
      changed.ptx = std::regex_replace(image.ptx, regex, replacement);
      changed.sm70_cubin = {};
      if (changed.ptx == image.ptx) {
        throw std::logic_error("this toolkit's PTX of " + image.name + " has no " + pattern);
      }
      edited.push_back(std::move(changed));
    }
    return edited;
  };
}

// A 64-bit product of 32-bit numbers, and the same computed in 32 bits.
constexpr const char* kWideProduct = R"(mul\.wide\.s32\s+(%rd\d+), (%r\d+), (%r\d+);)";
constexpr const char* kNarrowProduct =
    "{ .reg .b32 %vnarrow; mul.lo.s32 %vnarrow, $2, $3; cvt.s64.s32 $1, %vnarrow; }";

}  // namespace

std::vector<PlantedFault> PlantedFaults() {
  std::vector<PlantedFault> faults;
  const auto device = [&](const char* property, const char* name, Fault fault, const char* said) {
    faults.push_back({property, name, std::move(fault), {}, said});
  };
  const auto ptx = [&](const char* property, const char* name, Modules overrides,
                       const char* said) {
    faults.push_back({property, name, {}, std::move(overrides), said});
  };
  const auto flip_first_token = [](const SeenLaunch& seen) {
    if (seen.kernel == "moe_reduce") {
      seen.FlipHalf(seen.Pointer(0));
    }
  };
  const auto flip_first_row = [](const SeenLaunch& seen) {
    if (IsGemm(seen) && seen.Scalar<std::int32_t>(15) == 0) {
      seen.FlipHalf(seen.Pointer(0));
    }
  };

  device("token-permutation", "first-token", After(flip_first_token), "output of token");
  device("slot-layout", "first-row", After(flip_first_row), "of slot");
  device("expert-relabelling", "first-row", After(flip_first_row), "of slot");
  device("token-alone", "nine-tokens", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce" && seen.Scalar<std::int32_t>(5) > 8) {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "output of token");
  device("segment-split", "long-segment", After([](const SeenLaunch& seen) {
           const std::uint64_t offsets = IsGemm(seen) ? seen.Pointer(4) : 0;
           if (IsGemm(seen) && seen.Read<std::int32_t>(offsets + 4) > 1) {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "its segment is not cut");
  device("paths-agree", "offset-schedule", After([](const SeenLaunch& seen) {
           if (IsGemm(seen) && seen.Scalar<std::int32_t>(11) == -1) {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "another path");
  device("column-layouts", "halves", After([](const SeenLaunch& seen) {
           if (seen.kernel == "silu_mul_halves") {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "other column layout");
  device("metadata-forms", "three-bytes", After([](const SeenLaunch& seen) {
           if (seen.kernel.ends_with("_3b") && IsGemm(seen)) {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "other metadata form");

  const std::string load_weight = R"((ld\.global\.f32\s+(%f\d+), \[%rd\d+(?:\+\d+)?\];))";
  ptx("duplicate-slots", "weight-twice",
      Edited("moe_reduce", load_weight, "$1 mul.rn.f32 $2, $2, $2;"), "added up");
  ptx("zero-weight", "smallest-weight",
      Edited("moe_reduce", load_weight, "$1 max.f32 $2, $2, 0f3c000000;"), "whose weight is 0");
  ptx("linear-weights", "weight-twice",
      Edited("moe_reduce", load_weight, "$1 mul.rn.f32 $2, $2, $2;"), "router weights");
  // The accumulators start at 1/16 and not at 0.
  ptx("activation-scaling", "biased-sum",
      Edited("grouped_gemm", R"(mov\.f32(\s+%f\d+), 0f00000000;)", "mov.f32$1, 0f3d800000;"),
      "times 2^");
  ptx("unused-experts", "wrong-expert",
      Edited("grouped_gemm",
             R"((mul\.wide\.s32\s+(%rd\d+), (%r\d+), 4;\s+add\.s64\s+(%rd\d+), %rd\d+, \2;\s+)"
             R"(ld\.global\.nc\.u32\s+\3, \[\4\];))",
             "$1 and.b32 $3, $3, -2;"),
      "zero instead of NaN");
  // The second of two exits: rows that are not computed are written after all.
  ptx("untouched-memory", "uncomputed-rows",
      Edited("silu_mul", R"((setp\.ge\.s32\s+%p2, %r3, %r\d+;)\s+@%p2 bra\s+\S+)", "$1"),
      "rows are computed");
  device("untouched-memory", "row-too-many", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce") {
             const auto tokens = static_cast<std::uint64_t>(seen.Scalar<std::int32_t>(5));
             const auto hidden = static_cast<std::uint64_t>(seen.Scalar<std::int32_t>(7));
             seen.Write(seen.Pointer(0) + 2 * tokens * hidden, std::uint16_t{0});
           }
         }),
         "");
  device("inputs-unchanged", "index", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce") {
             seen.FlipHalf(seen.Pointer(3));
           }
         }),
         "inverse was changed");
  device("inputs-unchanged", "router-weight", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce") {
             seen.FlipHalf(seen.Pointer(2));
           }
         }),
         "input topk_weights was changed");
  {
    auto old = std::make_shared<std::map<const void*, std::uint16_t>>();
    Fault accumulates;
    accumulates.before = [old](const SeenLaunch& seen) {
      if (seen.kernel == "moe_reduce") {
        (*old)[&seen.device] = seen.Read<std::uint16_t>(seen.Pointer(0));
      }
      return true;
    };
    accumulates.after = [old](const SeenLaunch& seen) {
      if (seen.kernel == "moe_reduce" && (*old)[&seen.device] == 0x7fff) {
        seen.FlipHalf(seen.Pointer(0));
      }
    };
    device("poison", "reads-output", accumulates, "NaN before");
  }
  device("repeats", "third-run", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce" && seen.number % 7 == 3) {
             seen.FlipHalf(seen.Pointer(0));
           }
         }),
         "differs between run 1 and run");
  {
    // Once buffers have been used, every row is taken to be token 0's.
    auto used = std::make_shared<std::map<std::pair<const void*, std::uint64_t>, int>>();
    device("back-to-back", "stale-rows", After([used](const SeenLaunch& seen) {
             if (seen.kernel == "moe_permute" && ++(*used)[{&seen.device, seen.Pointer(3)}] > 1) {
               const std::vector<std::int32_t> first(
                   static_cast<std::size_t>(seen.Scalar<std::int32_t>(8)), 0);
               seen.device.CopyToDevice(seen.Pointer(3),
                                        std::as_bytes(std::span<const std::int32_t>(first)));
             }
           }),
           "number 2");
  }
  {
    Fault stale;
    stale.before = [](const SeenLaunch& seen) {
      return !(seen.replayed && seen.kernel == "moe_permute" && seen.number % 2 == 0);
    };
    device("replay-routes", "stale-rows", stale, "");
  }
  const auto drop_in_gemm = [](const SeenLaunch& seen) {
    if (IsGemm(seen) && seen.Scalar<std::int32_t>(15) == 0) {
      DropNans(seen, seen.Pointer(0), seen.Scalar<std::int32_t>(1));
    }
  };
  device("nan-token", "suppressed", After(drop_in_gemm), "NaN times anything");
  device("inf-times-zero", "suppressed", After(drop_in_gemm), "Inf times a weight of 0");
  device("zero-weight-nan", "suppressed", After([](const SeenLaunch& seen) {
           if (seen.kernel == "moe_reduce") {
             DropNans(seen, seen.Pointer(0),
                      seen.Scalar<std::int32_t>(5) * seen.Scalar<std::int32_t>(7));
           }
         }),
         "output of token");

  // The product of a row and a stride in 32 bits, in the kernels that take rows from memory.
  ptx("far-rows", "gather-32-bits", Edited("moe_gather", kWideProduct, kNarrowProduct), "");
  ptx("far-rows", "reduce-32-bits", Edited("moe_reduce", kWideProduct, kNarrowProduct), "");
  ptx("far-rows", "gemm-32-bits", Edited("grouped_gemm", kWideProduct, kNarrowProduct), "");
  // The product times four in 32 bits: a word's number instead of a 16-byte piece's.
  ptx("far-weight-tiles", "tile-32-bits",
      Edited("grouped_gemm", kWideProduct,
             "{ .reg .b32 %vnarrow; mul.lo.s32 %vnarrow, $2, $3; shl.b32 %vnarrow, %vnarrow, 2; "
             "cvt.s64.s32 $1, %vnarrow; shr.s64 $1, $1, 2; }"),
      "");
  return faults;
}

SearchOptions WithFault(const PlantedFault& fault) {
  SearchOptions options = MakeSearchOptions({});
  options.chosen = {&FindProperty(fault.property)};
  options.make_bench = [fault] {
    return std::make_unique<Bench>(
        [fault](const Bench::Wish& wish) -> std::unique_ptr<kernels::Device> {
          verify::DeviceOptions device;
          device.jobs = 1;
          device.schedule = wish.schedule;
          device.all_checks = wish.all_checks;
          return std::make_unique<FaultyDevice>(verify::MakeDevice(device, wish.numerics),
                                                fault.device);
        },
        fault.overrides ? fault.overrides() : std::vector<kernels::ModuleImage>(), 0);
  };
  return options;
}

}  // namespace voltcheck::properties::testing
