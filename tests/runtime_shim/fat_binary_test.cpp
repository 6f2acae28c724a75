// The container of device code, and what the PTX in it needs from the driver.
#include "kernels/runtime_shim/core/fat_binary.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "fixtures/case/error.h"
#include "kernels/runtime_shim/core/cubin.h"
#include "kernels/runtime_shim/core/occupancy.h"
#include "kernels/runtime_shim/core/program_file.h"
#include "kernels/runtime_shim/core/ptx_support.h"

namespace voltcheck::shim {
namespace {

std::vector<FatImage> Images(const std::string& program) {
  return ReadProgramFile(VOLTCHECK_PROGRAMS "/" + program).images;
}

TEST(FatBinary, PtxComesOutTheSameFromEveryForm) {
  const std::vector<FatImage> plain = Images("uncompressed");
  const std::vector<FatImage> compressed = Images("errors");
  const std::vector<FatImage> both = Images("with_sass");
  ASSERT_NE(ChoosePtx(plain), nullptr);
  ASSERT_NE(ChoosePtx(compressed), nullptr);
  ASSERT_NE(ChoosePtx(both), nullptr);
  EXPECT_EQ(ChoosePtx(plain)->bytes, ChoosePtx(compressed)->bytes);
  EXPECT_EQ(ChoosePtx(plain)->bytes, ChoosePtx(both)->bytes);
  EXPECT_NE(ChoosePtx(plain)->bytes.find(".target sm_70"), std::string::npos);
  EXPECT_EQ(DescribeImages(both), "PTX for compute_70 and SASS for sm_70");
}

TEST(FatBinary, NewerPtxIsNotChosen) {
  EXPECT_EQ(ChoosePtx(Images("newer")), nullptr);
  EXPECT_EQ(ChoosePtx(Images("only_sass")), nullptr);
}

/// A fat binary with one compressed image of PTX for compute_70, as nvcc writes it.
std::vector<std::byte> Compressed(std::uint64_t flag, const std::vector<char>& payload,
                                  std::uint64_t size) {
  const std::uint64_t padded = (payload.size() + 7) / 8 * 8;
  std::vector<std::byte> whole(16 + 64 + padded);
  const auto put = [&whole](std::size_t at, auto value) {
    std::memcpy(whole.data() + at, &value, sizeof(value));
  };
  put(0, kFatMagic);
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{64 + padded});
  put(16, std::uint16_t{1});  // PTX
  put(20, std::uint32_t{64});
  put(24, padded);
  put(32, static_cast<std::uint32_t>(payload.size()));
  put(44, std::uint32_t{70});
  put(56, flag);
  put(72, size);
  std::memcpy(whole.data() + 80, payload.data(), payload.size());
  return whole;
}

// nvcc 11 compresses with LZ4, nvcc 12.4 and later with Zstandard.
TEST(FatBinary, Lz4AndZstandardComeOutTheSame) {
  constexpr std::uint64_t kLz4Flag = 0x2000;
  constexpr std::uint64_t kZstandardFlag = 0x8000;
  std::string ptx = ".version 8.4\n.target sm_70\n";
  for (int i = 0; i < 100; ++i) {
    ptx += "// line " + std::to_string(i % 7) + "\n";
  }
  std::vector<char> lz4(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(ptx.size()))));
  lz4.resize(static_cast<std::size_t>(LZ4_compress_default(
      ptx.data(), lz4.data(), static_cast<int>(ptx.size()), static_cast<int>(lz4.size()))));
  std::vector<char> zstd(ZSTD_compressBound(ptx.size()));
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), ptx.data(), ptx.size(), 19));
  ASSERT_LT(zstd.size(), ptx.size());
  for (const auto& [flag, payload] : {std::pair(kLz4Flag, lz4), std::pair(kZstandardFlag, zstd)}) {
    const std::vector<FatImage> images = ReadFatBinary("x", Compressed(flag, payload, ptx.size()));
    ASSERT_EQ(images.size(), 1U);
    EXPECT_EQ(images[0].kind, FatImage::Kind::kPtx);
    EXPECT_EQ(images[0].bytes, ptx);
    ASSERT_NE(ChoosePtx(images), nullptr);
    std::vector<char> damaged = payload;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    damaged.resize(damaged.size() - 3);
    EXPECT_THROW(ReadFatBinary("x", Compressed(flag, damaged, ptx.size())), Error);
    EXPECT_THROW(ReadFatBinary("x", Compressed(flag, payload, ptx.size() + 1)), Error);
    EXPECT_THROW(ReadFatBinary("x", Compressed(flag, payload, std::uint64_t{1} << 40)), Error);
  }
}

TEST(Cubin, MachineCodeIsTheCodeAndNothingElse) {
  std::string code;  // the program's own; nvcc adds an image without kernels
  for (const FatImage& image : Images("with_sass")) {
    if (image.kind == FatImage::Kind::kElf) {
      code += MachineCode(image.bytes);
      EXPECT_LT(MachineCode(image.bytes).size(), image.bytes.size());
      EXPECT_EQ(MachineCode(image.bytes.substr(0, 100)), "");
    }
  }
  EXPECT_NE(code.find("_Z5WritePii"), std::string::npos);
  EXPECT_EQ(MachineCode("no cubin"), "");
}

TEST(FatBinary, DamageIsRefusedWhereverItLies) {
  // One entry of 64 bytes of header and 8 of PTX, without compression.
  std::vector<std::byte> whole(16 + 64 + 8);
  const auto put = [&whole](std::size_t at, auto value) {
    std::memcpy(whole.data() + at, &value, sizeof(value));
  };
  put(0, kFatMagic);
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{72});
  put(16, std::uint16_t{1});
  put(20, std::uint32_t{64});
  put(24, std::uint64_t{8});
  put(44, std::uint32_t{70});
  std::memcpy(whole.data() + 80, "ptx", 3);
  const std::vector<FatImage> images = ReadFatBinary("x", whole);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].bytes, "ptx");
  EXPECT_EQ(images[0].architecture, 70u);

  EXPECT_THROW(ReadFatBinary("x", std::span(whole).first(40)), Error);
  put(24, std::uint64_t{1} << 60);  // longer than the container
  EXPECT_THROW(ReadFatBinary("x", whole), Error);
  put(24, std::uint64_t{8});
  put(56, std::uint64_t{0x2000});  // said to be compressed
  put(32, std::uint32_t{8});
  put(72, std::uint64_t{100});
  EXPECT_THROW(ReadFatBinary("x", whole), Error);
  put(0, std::uint32_t{0});
  EXPECT_THROW(ReadFatBinary("x", whole), Error);
}

TEST(PtxSupport, LinesKeepTheirNumbersAndTheDriversRegistersBecomeLoads) {
  const std::string ptx =
      ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<3>;\nmov.u32 %r1, %envreg2;\nmov.u32 %r2, %envreg1;\nret;\n}\n";
  const std::string ready = WithSupport(ptx);
  EXPECT_EQ(std::count(ready.begin(), ready.end(), '\n'), std::count(ptx.begin(), ptx.end(), '\n'));
  EXPECT_NE(ready.find("ld.global.u32  %r1, [voltcheck_envreg+8];"), std::string::npos) << ready;
  EXPECT_EQ(ready.find("%envreg"), std::string::npos);
  EXPECT_EQ(WithSupport(ptx.substr(0, 40)), ptx.substr(0, 40));
}

TEST(Occupancy, IsAV100s) {
  EXPECT_EQ(BlocksPerMultiprocessor(1024, 32, 0), 2);
  EXPECT_EQ(BlocksPerMultiprocessor(1024, 64, 0), 1);
  EXPECT_EQ(BlocksPerMultiprocessor(1024, 65, 0), 0);
  EXPECT_EQ(BlocksPerMultiprocessor(256, 255, 0), 1);
  EXPECT_EQ(BlocksPerMultiprocessor(32, 16, 0), 32);
  EXPECT_EQ(BlocksPerMultiprocessor(128, 32, 48 * 1024), 2);
  EXPECT_EQ(BlocksPerMultiprocessor(128, 32, 48 * 1024 + 1), 1);
  EXPECT_EQ(BlocksPerMultiprocessor(128, 32, 96 * 1024), 1);
}

TEST(Occupancy, RegistersComeOutOfTheCubin) {
  int registers = 0;  // the program's linked device code holds an image without kernels as well
  for (const FatImage& image : Images("with_sass")) {
    if (image.kind == FatImage::Kind::kElf) {
      registers = std::max(registers, RegistersInCubin(image.bytes, "_Z5WritePii"));
      EXPECT_EQ(RegistersInCubin(image.bytes, "absent"), 0);
      EXPECT_EQ(RegistersInCubin(image.bytes.substr(0, 100), "_Z5WritePii"), 0);
    }
  }
  EXPECT_GT(registers, 0);
}

}  // namespace
}  // namespace voltcheck::shim
