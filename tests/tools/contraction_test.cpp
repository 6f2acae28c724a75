// `voltcheck exec --contraction`: a kernel whose bits depend on it, one whose bits do not, and one
// that leaves nothing to the assembler.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"

namespace voltcheck::tools {
namespace {

// out[i] = x[i] * y[i] - 1, in three ways.
std::string Kernel(const std::string& name, const std::string& multiply, const std::string& add) {
  return ".visible .entry " + name + R"((.param .u64 x, .param .u64 y, .param .u64 out)
{
  .reg .b32 %r1;
  .reg .f32 %f<5>;
  .reg .b64 %rd<5>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [out];
  add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
  )" + multiply +
         "\n  " + add + R"(
  st.global.f32 [%rd3], %f4;
  ret;
}
)";
}

class ContractionTest : public CommandTest {
 protected:
  ContractionTest() {
    WriteText(
        Path("k.ptx"),
        ".version 6.5\n.target sm_70\n.address_size 64\n" +
            Kernel("open", "mul.f32 %f3, %f1, %f2;", "add.f32 %f4, %f3, 0fBF800000;") +
            Kernel("fused", "mov.f32 %f3, %f1;", "fma.rn.f32 %f4, %f3, %f2, 0fBF800000;") +
            Kernel("rounded", "mul.rn.f32 %f3, %f1, %f2;", "add.rn.f32 %f4, %f3, 0fBF800000;"));
    std::vector<float> x;
    std::vector<float> y;
    for (int i = 1; i <= 32; ++i) {
      x.push_back(1.0F + static_cast<float>(i) * 0x1p-23F);
      y.push_back(1.0F - static_cast<float>(i) * 0x1p-24F);
    }
    WriteText(Path("inexact.bin"), Raw(x));
    WriteText(Path("y.bin"), Raw(y));
    WriteText(Path("exact.bin"), Raw(std::vector<float>(32, 2.0F)));
  }
  static std::string Raw(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  }
  Outcome Exec(const std::string& kernel, const std::string& x, const std::string& mode,
               const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"exec",
                                      "k.ptx",
                                      kernel,
                                      "--block",
                                      "32",
                                      "--arg",
                                      "in:" + x,
                                      "--arg",
                                      "in:y.bin",
                                      "--arg",
                                      "out:" + out + ":128",
                                      "--contraction",
                                      mode};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(ContractionTest, OnAndOffDiffer) {
  const Outcome off = Exec("open", "inexact.bin", "off", "off.bin");
  EXPECT_EQ(off.status, 0) << off.err;
  EXPECT_EQ(off.out, "");
  EXPECT_EQ(Exec("open", "inexact.bin", "on", "on.bin").out, "contraction: 1 pairs fused\n");
  EXPECT_NE(ReadText(Path("off.bin")), ReadText(Path("on.bin")));
  Exec("fused", "inexact.bin", "off", "fused.bin");
  Exec("rounded", "inexact.bin", "on", "rounded.bin");
  EXPECT_EQ(ReadText(Path("on.bin")), ReadText(Path("fused.bin")));
  EXPECT_EQ(ReadText(Path("off.bin")), ReadText(Path("rounded.bin")));
}

TEST_F(ContractionTest, BothNamesThePairAndAsksTheMachineCode) {
  Exec("open", "inexact.bin", "on", "on.bin");
  const Outcome both = Exec("open", "inexact.bin", "both", "both.bin");
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.out.find("outputs depend on it, in arguments 2\n"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("k.ptx:16 mul.f32 and line 17: fusing it alone changes an output"),
            std::string::npos)
      << both.out;
  // The toolkit that built the tests fuses the pair; without one the outputs are those of off.
  if (both.out.find("SM70 machine code: fused") != std::string::npos) {
    EXPECT_EQ(ReadText(Path("both.bin")), ReadText(Path("on.bin")));
  } else {
    EXPECT_NE(both.out.find("no machine code"), std::string::npos) << both.out;
    EXPECT_NE(ReadText(Path("both.bin")), ReadText(Path("on.bin")));
  }
}

TEST_F(ContractionTest, WithoutAToolkitTheReasonIsSaid) {
  Exec("open", "inexact.bin", "off", "off.bin");
  const Outcome both =
      Run({"exec", "k.ptx", "open", "--block", "32", "--arg", "in:inexact.bin", "--arg", "in:y.bin",
           "--arg", "out:both.bin:128", "--contraction", "both", "--json"},
          "VOLTCHECK_CUDA_BIN=/nowhere; export VOLTCHECK_CUDA_BIN;");
  EXPECT_EQ(both.status, 0) << both.err;
  const auto report = nlohmann::json::parse(both.out).at("contraction");
  EXPECT_EQ(report.at("used"), "off");
  EXPECT_EQ(report.at("assembler"), "");
  EXPECT_NE(report.at("reason"), "");
  EXPECT_EQ(report.at("different_arguments"), nlohmann::json::array({2}));
  EXPECT_EQ(report.at("pairs").at(0).at("multiply_line"), 16);
  EXPECT_EQ(report.at("pairs").at(0).at("changes_alone"), true);
  EXPECT_EQ(ReadText(Path("both.bin")), ReadText(Path("off.bin")));
}

TEST_F(ContractionTest, NoDifferenceIsSaidToo) {
  EXPECT_EQ(Exec("open", "exact.bin", "both", "out.bin").out,
            "contraction: no output bit depends on it (1 pairs)\n");
  EXPECT_EQ(Exec("fused", "inexact.bin", "both", "out.bin").out,
            "contraction: no output bit depends on it (0 pairs)\n");
  EXPECT_EQ(Exec("rounded", "inexact.bin", "both", "out.bin").out,
            "contraction: no output bit depends on it (0 pairs)\n");
}

TEST_F(ContractionTest, OtherModesAreRefused) {
  ExpectRefusal(Exec("open", "exact.bin", "maybe", "out.bin"), 2, "use on, off or both");
}

}  // namespace
}  // namespace voltcheck::tools
