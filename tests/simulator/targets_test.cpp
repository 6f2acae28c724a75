// The same bits with every instruction set that this processor has.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hwy/highway.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

using Words = std::vector<std::uint32_t>;

/// What `run` gives for each instruction set.
template <typename F>
std::map<std::string, Words> OnEachTarget(const F& run) {
  std::map<std::string, Words> results;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    results[hwy::TargetName(target)] = run();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  return results;
}

/// `body` makes %r10 from hostile bits in %r5, %r6 and %r7.
void ExpectEqualBits(const std::string& body) {
  // Multiplying by odd constants spreads the thread numbers over all bit patterns.
  const std::string start =
      "mul.lo.s32 %r5, %r1, 0x9e3779b1;\nxor.b32 %r6, %r5, 0x7f800000;\n"
      "mul.lo.s32 %r7, %r6, 0x85ebca6b;\nmov.b32 %f5, %r5;\nmov.b32 %f6, %r6;\n"
      "mov.b32 %f7, %r7;\nand.b32 %r8, %r1, 3;\nsetp.ne.s32 %p1, %r8, 0;\nmov.u32 %r10, 7;\n";
  const auto results =
      OnEachTarget([&] { return RunWriter(start + body + "\nst.global.u32 [%rd1], %r10;", 1024); });
  for (const auto& [target, words] : results) {
    EXPECT_EQ(words, results.begin()->second)
        << target << " against " << results.begin()->first << ": " << body;
  }
}

TEST(Targets, Integers) {
  ExpectEqualBits("mad.lo.s32 %r10, %r5, %r6, %r7;");
  ExpectEqualBits("lop3.b32 %r10, %r5, %r6, %r7, 0xca;");
  ExpectEqualBits("prmt.b32 %r10, %r5, %r6, 0x7531;");
  ExpectEqualBits("@%p1 shr.s32 %r10, %r5, %r8;");
  ExpectEqualBits("setp.lt.u32 %p2, %r5, %r6;\n@%p1 selp.b32 %r10, %r5, %r7, %p2;");
  ExpectEqualBits("mul.wide.s32 %rd4, %r5, %r6;\nshr.u64 %rd5, %rd4, 17;\ncvt.u32.u64 %r10, %rd5;");
}

TEST(Targets, Floats) {
  ExpectEqualBits("fma.rn.f32 %f10, %f5, %f6, %f7;\nmov.b32 %r10, %f10;");
  ExpectEqualBits("mul.ftz.f32 %f10, %f5, %f6;\n@%p1 mov.b32 %r10, %f10;");
  ExpectEqualBits("div.rn.f32 %f10, %f5, %f6;\nmov.b32 %r10, %f10;");
  ExpectEqualBits("max.f32 %f10, %f5, %f6;\nmov.b32 %r10, %f10;");
  ExpectEqualBits("add.sat.f32 %f10, %f5, %f6;\nmov.b32 %r10, %f10;");
}

TEST(Targets, Halves) {
  for (const char* const operation : {"add", "sub", "mul", "min.ftz", "max"}) {
    ExpectEqualBits(std::string(operation) + ".f16x2 %r10, %r5, %r6;");
    ExpectEqualBits("@%p1 " + std::string(operation) + ".f16x2 %r10, %r5, %r6;");
  }
  ExpectEqualBits("fma.rn.f16x2 %r10, %r5, %r6, %r7;");
  ExpectEqualBits("@%p1 fma.rn.ftz.sat.f16x2 %r10, %r5, %r6, %r7;");
  ExpectEqualBits("cvt.rn.f16.f32 %rs1, %f5;\ncvt.u32.u16 %r10, %rs1;");
}

TEST(Targets, MatrixInstruction) {
  ExpectEqualBits(
      "mov.b32 %f1, %r8;\nand.b32 %r11, %r5, 0xbfffbfff;\nand.b32 %r12, %r7, 0xbfffbfff;\n"
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f10, %f11, %f12, %f13, %f14, %f15, %f16, "
      "%f17}, {%r11, %r12}, {%r12, %r11}, {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};\n"
      "mov.b32 %r10, %f13;");
}

/// Every form of a load and a store: side by side, with gaps, all at one place, some lanes only.
TEST(Targets, Memory) {
  const std::string shared = ".shared .align 16 .b8 tile[32768];";
  const std::string place =
      "mov.u32 %r20, tile;\nshl.b32 %r21, %r1, 4;\nadd.s32 %r22, %r20, %r21;\n";
  const auto on_each = [&](const std::string& body) {
    const auto results = OnEachTarget(
        [&] { return RunWriter(place + body + "\nst.global.u32 [%rd1], %r10;", 1024, 0, shared); });
    for (const auto& [target, words] : results) {
      EXPECT_EQ(words, results.begin()->second) << target << ": " << body;
    }
    return results.begin()->second;
  };
  const Words four = on_each(
      "add.s32 %r5, %r1, 1;\nadd.s32 %r6, %r1, 2;\nadd.s32 %r7, %r1, 4;\nst.shared.v4.u32 [%r22], "
      "{%r1, %r5, %r6, %r7};\nld.shared.v2.u32 {%r11, %r12}, [%r22+8];\nld.shared.u32 %r13, "
      "[%r22+4];\nld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r22];\nmad.lo.s32 %r10, %r11, 1000, "
      "%r12;\nmad.lo.s32 %r10, %r13, 1000000, %r10;\nadd.s32 %r10, %r10, %r17;");
  const Words pairs = on_each(
      "shl.b32 %r23, %r1, 3;\nadd.s32 %r24, %r20, %r23;\nst.shared.v2.u32 [%r24], {%r1, "
      "%r21};\nld.shared.v2.u32 {%r11, %r12}, [%r24];\nld.shared.u64 %rd5, [%r24];\nshr.u64 %rd6, "
      "%rd5, 32;\ncvt.u32.u64 %r13, %rd6;\nadd.s32 %r10, %r11, %r12;\nadd.s32 %r10, %r10, %r13;");
  const Words same = on_each(
      "st.shared.u32 [%r22], %r1;\nbar.sync 0;\n"
      "ld.shared.u32 %r11, [tile+160];\nld.shared.v2.u32 {%r12, %r13}, [tile+32];\n"
      "add.s32 %r10, %r11, %r12;");
  for (std::uint32_t thread = 0; thread < 1024; ++thread) {
    ASSERT_EQ(four[thread], (thread + 2) * 1000 + thread + 4 + (thread + 1) * 1000000 + thread + 4);
    ASSERT_EQ(pairs[thread], thread + 2 * 16 * thread);
    ASSERT_EQ(same[thread], 10u + 2u);
  }
}

}  // namespace
}  // namespace voltcheck::simulator::testing
