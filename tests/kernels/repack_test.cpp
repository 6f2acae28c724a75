// Repacking on the device, bit for bit against the formulas of the packing.
#include <gtest/gtest.h>

#include "host_model.h"
#include "kernels/plan_parts.h"
#include "rig.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::MakeTestDevice;
using testing::PackedMetadata;
using testing::PackedWeights;
using testing::RandomMatrix;
using testing::Rig;
using testing::TestBits;

struct RepackCase {
  int k, n, group;
  bool interleave;
  Metadata metadata;
};

class Repack : public ::testing::TestWithParam<RepackCase> {};

TEST_P(Repack, EqualsTheFormulas) {
  const RepackCase& c = GetParam();
  TestBits bits(5);
  std::vector<AwqMatrix> matrices;
  WeightPart part{"w", {}, {}, 3, c.k, c.n, c.group, c.interleave, c.metadata};
  for (int e = 0; e < 3; ++e) {
    matrices.push_back(RandomMatrix(c.k, c.n, c.group, bits));
  }
  matrices[1].scales.assign(matrices[1].scales.size(), 0x0001);  // subnormal
  matrices[2].qzeros.assign(matrices[2].qzeros.size(), 0xf0f0f0f0U);
  for (int e = 0; e < 3; ++e) {
    part.ids.push_back(e);
    part.matrices.push_back(&matrices[static_cast<std::size_t>(e)]);
  }
  Plan plan;
  AddWeights(part, plan);
  const auto device = MakeTestDevice();
  const Rig rig(*device, plan);
  ASSERT_EQ(rig.complaints(), "");

  std::vector<std::uint32_t> weights;
  std::vector<std::uint8_t> metadata;
  for (const AwqMatrix& m : matrices) {
    const auto w = PackedWeights(m, c.interleave);
    weights.insert(weights.end(), w.begin(), w.end());
    const auto s = PackedMetadata(m, c.interleave, c.metadata);
    metadata.insert(metadata.end(), s.begin(), s.end());
  }
  EXPECT_EQ(rig.Get<std::uint32_t>("w.packed"), weights);
  EXPECT_EQ(rig.Get<std::uint8_t>("w.metadata"), metadata);
}

INSTANTIATE_TEST_SUITE_P(Device, Repack,
                         ::testing::Values(RepackCase{64, 64, 32, true, Metadata::k4Byte},
                                           RepackCase{64, 64, 32, true, Metadata::k3Byte},
                                           RepackCase{128, 64, 64, false, Metadata::k4Byte},
                                           RepackCase{128, 64, 128, false, Metadata::k3Byte},
                                           RepackCase{
                                               32, 40, 32, false,
                                               Metadata::k4Byte},  // the last tile is filled up
                                           RepackCase{32, 8, 32, false, Metadata::k3Byte},
                                           RepackCase{96, 48, 32, true, Metadata::k4Byte},
                                           RepackCase{160, 320, 32, true, Metadata::k3Byte}));

}  // namespace
}  // namespace voltcheck::kernels
