// Outputs of the foreign SM70 library, recorded on an H200 (golden/README.md beside the file): our
// repacking makes the same bytes, and our grouped GEMM the same output bits with every tactic.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "fixtures/safetensors.h"
#include "kernels/plan_parts.h"
#include "rig.h"

namespace voltcheck::kernels {
namespace {

using testing::MakeTestDevice;
using testing::Rig;

constexpr int kK = 256;
constexpr int kN = 320;
constexpr int kGroup = 32;
constexpr int kExperts = 8;
constexpr int kRows = 20;

template <typename T>
std::vector<T> Read(const fixtures::SafetensorsFile& file, const std::string& name) {
  const std::span<const std::byte> bytes = file.Get(name).bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Packs [rows, kN] nibbles eight columns to a word, as a checkpoint does.
std::vector<std::uint32_t> PackCheckpoint(const std::uint8_t* nibbles, int rows) {
  constexpr int kColumnOfNibble[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<std::uint32_t> words(static_cast<std::size_t>(rows) * kN / 8);
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (int i = 0; i < 8; ++i) {
      words[word] |= static_cast<std::uint32_t>(nibbles[8 * word + kColumnOfNibble[i]]) << (4 * i);
    }
  }
  return words;
}

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(VOLTCHECK_GOLDEN_DIR) + "/h200/grouped_u4_g32.safetensors";
    if (!std::filesystem::exists(path)) {
      std::fprintf(
          stderr,
          "\n*** NOT TESTED: %s is absent, so nothing was compared with the foreign library.\n"
          "*** Configure with -DVOLTCHECK_GOLDEN_DIR=/path/to/golden to test it.\n\n",
          path.c_str());
      GTEST_SKIP() << path << " is absent";
    }
    file_ = std::make_unique<fixtures::SafetensorsFile>(path);
    const auto q = Read<std::uint8_t>(*file_, "q");
    const auto zeros = Read<std::uint8_t>(*file_, "zeros");
    const auto scales = Read<std::uint16_t>(*file_, "scales");
    for (int e = 0; e < kExperts; ++e) {
      const std::size_t meta = static_cast<std::size_t>(e) * (kK / kGroup) * kN;
      experts_.push_back(
          {kK,
           kN,
           kGroup,
           PackCheckpoint(q.data() + static_cast<std::size_t>(e) * kK * kN, kK),
           PackCheckpoint(zeros.data() + meta, kK / kGroup),
           {scales.begin() + static_cast<std::ptrdiff_t>(meta),
            scales.begin() + static_cast<std::ptrdiff_t>(meta + (kK / kGroup) * kN)}});
    }
  }

  /// The library's launch: one segment for each expert, the empty ones included.
  Plan MakePlanFor(const Tactic& tactic, Metadata metadata) const {
    Plan plan;
    WeightPart weights{"gemm", {}, {}, kExperts, kK, kN, kGroup, false, metadata};
    for (int e = 0; e < kExperts; ++e) {
      weights.ids.push_back(e);
      weights.matrices.push_back(&experts_[static_cast<std::size_t>(e)]);
    }
    AddWeights(weights, plan);
    const auto input = Read<std::uint16_t>(*file_, "x");
    const auto offsets = Read<std::int32_t>(*file_, "expert_offsets");
    plan.buffers.push_back(
        {"input", 2 * input.size(), BufferSpec::Role::kInput, ContentsOf(input)});
    plan.buffers.push_back(
        {"first_row", 4 * offsets.size(), BufferSpec::Role::kInput, ContentsOf(offsets)});
    const std::vector<std::int32_t> ids{0, 1, 2, 3, 4, 5, 6, 7};
    plan.buffers.push_back(
        {"segment_expert", 4 * ids.size(), BufferSpec::Role::kInput, ContentsOf(ids)});
    plan.buffers.push_back({"out", 2 * kRows * kN, BufferSpec::Role::kOutput, {}});
    GemmPart gemm;
    gemm.name = "gemm";
    gemm.tactic = tactic;
    gemm.metadata = metadata;
    gemm.k = kK;
    gemm.n = kN;
    gemm.group = kGroup;
    gemm.slots = kRows;
    gemm.segments = kExperts;
    gemm.input = "input";
    gemm.output = "out";
    gemm.offsets = "first_row";
    gemm.segment_expert = "segment_expert";
    AddGemm(gemm, plan);
    return plan;
  }

  std::unique_ptr<fixtures::SafetensorsFile> file_;
  std::vector<AwqMatrix> experts_;
};

TEST_F(Golden, RepackingMakesTheForeignLibrarysBytes) {
  const auto device = MakeTestDevice(Numerics::kSm80Software);
  const Rig rig(*device, MakePlanFor({{8, 128, 64}, 1}, Metadata::k4Byte));
  ASSERT_EQ(rig.complaints(), "");
  EXPECT_EQ(rig.Get<std::int32_t>("gemm.packed"), Read<std::int32_t>(*file_, "packed_weight"));
  EXPECT_EQ(rig.Get<std::int32_t>("gemm.metadata"), Read<std::int32_t>(*file_, "packed_meta"));
}

TEST_F(Golden, EveryTacticMakesTheForeignLibrarysOutputBits) {
  for (const Tile& tile : TilesForGroup(kGroup)) {
    for (const int splits : {1, 2, 4}) {
      const Tactic tactic{tile, splits};
      ASSERT_EQ(WhyInfeasible(tactic, kK, kN, kGroup), "");
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        const auto device = MakeTestDevice(Numerics::kSm80Software);
        const Rig rig(*device, MakePlanFor(tactic, metadata));
        ASSERT_EQ(rig.complaints(), "") << ToString(tactic);
        EXPECT_EQ(rig.Get<std::uint16_t>("out"),
                  Read<std::uint16_t>(*file_, "y_splits" + std::to_string(splits)))
            << ToString(tactic);
      }
    }
  }
}

}  // namespace
}  // namespace voltcheck::kernels
