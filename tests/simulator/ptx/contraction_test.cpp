// Which multiplications and additions may be fused, the fused text, and what the SM70 machine code
// says about them.
#include "kernels/simulator/ptx/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/simulator/ptx/machine_code.h"

namespace voltcheck::simulator::ptx {
namespace {

std::string Kernel(const std::string& body) {
  return ".version 6.5\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
         ".reg .pred %q; .reg .b64 %r<4>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b32 %h<9>;\n"
         "ld.param.u64 %r1, [p];\nld.global.f32 %f1, [%r1];\nld.global.f32 %f2, [%r1+4];\n"  // 7-9
         + body + "\nret;\n}\n";
}

/// "10+11 f32" for each pair.
std::vector<std::string> Pairs(const std::string& body) {
  std::vector<std::string> texts;
  for (const ContractionPair& pair : FindContractionPairs(ParseModule("k.ptx", Kernel(body)))) {
    texts.push_back(std::to_string(pair.multiply.line) + "+" + std::to_string(pair.add.line) + " " +
                    pair.type);
  }
  return texts;
}
using Texts = std::vector<std::string>;

TEST(ContractionPairs, EachTypeAndBothOperations) {
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"), Texts{"10+11 f32"});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f3;"), Texts{"10+11 f32"});
  EXPECT_EQ(Pairs("mul.f64 %d3, %d1, %d2;\nadd.f64 %d4, %d1, %d3;"), Texts{"10+11 f64"});
  EXPECT_EQ(Pairs("mul.f16x2 %h3, %h1, %h2;\nadd.f16x2 %h4, %h3, %h1;"), Texts{"10+11 f16x2"});
  EXPECT_EQ(Pairs("mul.ftz.f32 %f3, %f1, %f2;\nadd.ftz.sat.f32 %f4, %f3, %f1;"),
            Texts{"10+11 f32"});
}

TEST(ContractionPairs, NotWithARoundingModifierOrOtherFlags) {
  EXPECT_EQ(Pairs("mul.rn.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.rn.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("mul.sat.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("mul.ftz.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("mul.wide.u32 %r2, %h1, %h2;\nadd.u64 %r2, %r2, %r1;"), Texts{});
}

TEST(ContractionPairs, OnlyWhereTheProductHasOneUse) {
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f3;"), Texts{});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\nst.global.f32 [%r1], %f3;"),
            Texts{});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\nmov.f32 %f3, %f1;\n"
                  "st.global.f32 [%r1], %f3;"),
            Texts{"10+11 f32"});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f1;\nst.global.f32 [%r1], %f3;"),
            Texts{"10+11 f32"});
  // A use behind a branch counts, too.
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\n@%q bra far;\nret;\nfar:\n"
                  "st.global.f32 [%r1], %f3;"),
            Texts{});
}

TEST(ContractionPairs, OnlyInOnePieceWithUnchangedOperands) {
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nhere:\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nmov.f32 %f2, %f1;\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("@%q mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;"), Texts{});
  EXPECT_EQ(Pairs("@%q mul.f32 %f3, %f1, %f2;\n@%q add.f32 %f4, %f3, %f1;"), Texts{"10+11 f32"});
  EXPECT_EQ(Pairs("@%q mul.f32 %f3, %f1, %f2;\n@!%q add.f32 %f4, %f3, %f1;"), Texts{});
}

TEST(ContractionPairs, ASumOfTwoProductsFusesOne) {
  EXPECT_EQ(Pairs("mul.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f1;\nadd.f32 %f5, %f3, %f4;"),
            Texts{"10+12 f32"});
}

std::string Fused(const std::string& body) {
  const std::string text = Kernel(body);
  const std::string fused = FusePairs(text, FindContractionPairs(ParseModule("k.ptx", text)));
  ParseModule("fused.ptx", fused);
  EXPECT_EQ(std::count(fused.begin(), fused.end(), '\n'),
            std::count(text.begin(), text.end(), '\n'));
  return fused;
}

TEST(FusePairs, WritesTheFusedInstruction) {
  EXPECT_NE(Fused("mul.f32 %f3, %f1, 0f3F000000; // half, and more\nadd.ftz.f32 %f0, %f1, %f2;\n"
                  "add.f32 %f4, %f1,\n %f3;")
                .find("{ fma.rn.f32 %f4, %f1, 0f3F000000, %f1; }"),
            std::string::npos);
  EXPECT_NE(Fused("@!%q mul.f32 %f3, %f1, %f2;\n@!%q sub.f32 %f4, %f1, %f3;")
                .find("{ .reg .b32 %negated; @!%q neg.f32 %negated, %f1; "
                      "@!%q fma.rn.f32 %f4, %negated, %f2, %f1; }"),
            std::string::npos);
  EXPECT_NE(Fused("mul.f64 %d3, %d1, %d2; sub.f64 %d4, %d3, %d1;")
                .find("neg.f64 %negated, %d1; fma.rn.f64 %d4, %d1, %d2, %negated; }"),
            std::string::npos);
}

TEST(MachineCode, EveryInstructionGetsItsLine) {
  const std::string text = Kernel(
      ".loc 3 7 0\n{mul.f32 %f3, %f1, %f2;\n}\n@!%q add.f32 %f4, %f3,\n%f1; mov.f32 %f1, %f2;");
  const std::string numbered = NumberLines(text, ParseModule("k.ptx", text));
  EXPECT_EQ(numbered.find(".loc 3"), std::string::npos);
  EXPECT_NE(numbered.find("\n{\n.loc 1 11 1\nmul.f32"), std::string::npos) << numbered;
  EXPECT_NE(numbered.find("\n.loc 1 13 1\n@!%q add.f32 %f4, %f3,\n%f1; \n.loc 1 14 1\nmov.f32"),
            std::string::npos)
      << numbered;
}

TEST(MachineCode, ReadsTheListing) {
  const std::string listing =
      "\t//## File \"n.ptx\", line 10\n        /*0050*/  @P0 FMUL.FTZ R7, R5, R4 ;\n"
      "\t//## File \"n.ptx\", line 11\n        /*0060*/  FADD R4, R0, R5 ;\n"
      "\t//## File \"n.ptx\", line 13\n        /*0070*/  FFMA R4, R0, R5, R0 ;\n"
      "\t//## File \"n.ptx\", line 14\n        /*0080*/  HMUL2 R7, R5, R4 ;\n"
      "\t//## File \"n.ptx\", line 15\n        /*0090*/  HFMA2 R7, R5, 1, 1, R4 ;\n";
  const std::vector<ContractionPair> pairs = {{"k", {10, 1}, {11, 1}, "f32"},
                                              {"k", {12, 1}, {13, 1}, "f32"},
                                              {"k", {14, 1}, {15, 1}, "f16x2"},
                                              {"k", {16, 1}, {17, 1}, "f32"}};
  EXPECT_EQ(ReadListing(listing, pairs),
            (std::vector<Fusion>{Fusion::kSeparate, Fusion::kFused, Fusion::kSeparate,
                                 Fusion::kUnknown}));
}

TEST(MachineCode, TheToolkitFusesThesePairs) {
  // The rules of ContractionPairs against the toolkit's own assembler.
  const std::string text = Kernel(
      "mul.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f1;\nmul.rn.f32 %f5, %f4, %f2;\n"
      "add.f32 %f6, %f5, %f1;\nst.global.f32 [%r1], %f6;");
  const Module module = ParseModule("k.ptx", text);
  std::vector<ContractionPair> pairs = FindContractionPairs(module);
  ASSERT_EQ(pairs.size(), 1U);
  pairs.push_back({"k", {12, 1}, {13, 1}, "f32"});
  const MachineCode code = LookUpFusions(text, module, pairs);
  if (code.assembler.empty()) {
    GTEST_SKIP() << code.reason;
  }
  EXPECT_EQ(code.fusions, (std::vector<Fusion>{Fusion::kFused, Fusion::kSeparate}));
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
