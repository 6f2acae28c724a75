// The activation kernel on every half there is.
#include <gtest/gtest.h>

#include <cmath>

#include "host_model.h"
#include "kernels/plan_parts.h"
#include "reference/arith/half.h"
#include "rig.h"

namespace voltcheck::kernels {
namespace {

using testing::Halves;
using testing::MakeTestDevice;
using testing::Rig;

constexpr int kRows = 64;
constexpr int kColumns = 1024;  // 64 * 1024 gates: all of them

Halves RunSilu(bool interleaved, std::uint16_t up) {
  Halves gate_up(2 * kRows * kColumns);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const int base = row * 2 * kColumns;
      const int gate_at = interleaved ? base + 2 * column : base + column;
      const int up_at = interleaved ? gate_at + 1 : gate_at + kColumns;
      gate_up[static_cast<std::size_t>(gate_at)] =
          static_cast<std::uint16_t>(row * kColumns + column);
      gate_up[static_cast<std::size_t>(up_at)] = up;
    }
  }
  Plan plan;
  plan.buffers.push_back(
      {"gate_up", 2 * gate_up.size(), BufferSpec::Role::kInput, ContentsOf(gate_up)});
  plan.buffers.push_back(
      {"rows", 4, BufferSpec::Role::kInput, ContentsOf(std::vector<std::int32_t>{kRows})});
  plan.buffers.push_back({"out", 2 * kRows * kColumns, BufferSpec::Role::kOutput, {}});
  plan.launches.push_back({PlanStage::kSilu,
                           interleaved ? "silu_mul_interleaved" : "silu_mul_halves",
                           {BlocksFor(kRows * kColumns / 8, 128), 1, 1},
                           {128, 1, 1},
                           0,
                           {At("out"), At("gate_up"), At("rows"), kRows, kColumns}});
  const auto device = MakeTestDevice();
  const Rig rig(*device, plan);
  EXPECT_EQ(rig.complaints(), "");
  return rig.Get<std::uint16_t>("out");
}

TEST(Silu, EveryGateIsRoundedTwice) {
  for (const std::uint16_t up : {0x3c00, 0xc100, 0x0001}) {  // 1, -2.5, the smallest subnormal
    const Halves out = RunSilu(true, up);
    EXPECT_EQ(RunSilu(false, up), out) << "the column layouts differ";
    for (int gate = 0; gate < 65536; ++gate) {
      const auto bits = static_cast<std::uint16_t>(gate);
      const float g = arith::HalfToFloat(bits);
      const float got = arith::HalfToFloat(out[static_cast<std::size_t>(gate)]);
      if (std::isnan(g) || g == -INFINITY) {
        ASSERT_TRUE(std::isnan(got)) << gate;  // -inf / (1 + inf)
      } else if (g == INFINITY) {
        ASSERT_EQ(got, up == 0xc100 ? -INFINITY : INFINITY);
      } else {
        ASSERT_TRUE(testing::IsSiluMul(bits, up, out[static_cast<std::size_t>(gate)]))
            << "gate " << g << " gives " << got;
      }
    }
  }
}

}  // namespace
}  // namespace voltcheck::kernels
