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
  // Every table of lop3 that has handlers of its own, and some that have none.
  for (int table = 0; table < 256; table += 2) {
    ExpectEqualBits("lop3.b32 %r10, %r5, %r6, %r7, " + std::to_string(table) + ";");
  }
  ExpectEqualBits("@%p1 lop3.b32 %r10, %r5, %r6, %r7, 0xea;");
  ExpectEqualBits("bfi.b32 %r10, %r5, %r6, %r7, %r1;");
  ExpectEqualBits("shr.u32 %r11, %r1, 3;\n@%p1 bfi.b32 %r10, %r5, %r6, %r11, %r8;");
  ExpectEqualBits("shl.b32 %r10, %r5, %r1;");
  ExpectEqualBits("shr.u32 %r10, %r5, %r1;");
  ExpectEqualBits("shr.s32 %r10, %r5, %r7;");
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

/// The whole warp runs two at once, lanes that a schedule has split one after the other.
TEST(Targets, MatrixInstructionsInARow) {
  const std::string mma = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 ";
  const std::string d = "{%f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17}";
  const std::string other = "{%f17, %f16, %f15, %f14, %f13, %f12, %f11, %f10}";
  const std::string start =
      "mul.lo.s32 %r5, %r1, 0x9e3779b1;\nmul.lo.s32 %r6, %r5, 0x85ebca6b;\n"
      "and.b32 %r11, %r5, 0xbfffbfff;\nand.b32 %r12, %r6, 0xbfffbfff;\n"
      "xor.b32 %r13, %r11, %r12;\nmov.u32 %r14, 0x3c003c00;\nmov.b32 %f10, %r1;\n";
  std::string rows = start;
  for (int i = 11; i < 18; ++i) {
    rows += "mov.b32 %f" + std::to_string(i) + ", %r" + std::to_string(i % 3 + 11) + ";\n";
  }
  const auto step = [&](const std::string& to, const std::string& a, const std::string& from) {
    return mma + to + ", {" + a + "}, {%r12, %r14}, " + from + ";\n";
  };
  const std::string end =
      "mov.b32 %r10, %f10;\nmov.b32 %r15, %f17;\nxor.b32 %r10, %r10, %r15;\n"
      "st.global.u32 [%rd1], %r10;";
  for (const std::string& body :
       {step(d, "%r11, %r12", d) + step(d, "%r13, %r14", d) + step(d, "%r12, %r13", d),
        step(d, "%r11, %r12", d) + step(other, "%r13, %r14", other),
        step(d, "%r11, %r12", d) + step(other, "%r13, %r14", d),
        step(d, "%r11, %r12", d) + "mov.b32 %r16, %f10;\nmov.b32 %r17, %f12;\n" +
            step(d, "%r16, %r17", d) + step(d, "%r16, %r14", d),
        step(d, "%r11, %r12", d) + "bra NEXT;\nNEXT:\n" + step(d, "%r13, %r14", d)}) {
    const auto results = OnEachTarget([&] { return RunWriter(rows + body + end, 64); });
    const Words apart = RunWriter(rows + body + end, 64, 3);
    for (const auto& [target, words] : results) {
      EXPECT_EQ(words, apart) << target << ": " << body;
    }
  }
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

/// Words, pairs and quads of lanes that are some distance apart, or anywhere, in shared and in
/// global memory, against the value that was put there.
TEST(Targets, LanesApart) {
  struct Access {
    std::uint32_t words;
    std::string vector, registers;
  };
  const Access accesses[] = {
      {1, "u32", "%r11"}, {2, "v2.u32", "{%r11, %r12}"}, {4, "v4.u32", "{%r11, %r12, %r13, %r14}"}};
  for (const Access& access : accesses) {
    for (const std::uint32_t stride : {4u, 8u, 12u, 16u, 32u, 48u, 64u, 128u}) {
      const std::uint32_t bytes = 4 * access.words;
      if (stride % bytes != 0) continue;
      // Thread t moves the words from 16 + t' * stride on, t' being t or some other order.
      for (const std::string& order :
           {std::string("mov.u32 %r5, %r1;\n"), std::string("xor.b32 %r5, %r1, 5;\n")}) {
        for (const std::string& space : {std::string("shared"), std::string("global")}) {
          const bool shared = space == "shared";
          std::string fill;
          std::string sum = "mov.u32 %r10, %r11;\n";
          for (std::uint32_t w = 0; w < 4; ++w) {
            fill += "mad.lo.s32 %r" + std::to_string(11 + w) + ", %r1, 1000, " + std::to_string(w) +
                    ";\n";
            if (w > 0 && w < access.words) {
              sum += "add.s32 %r10, %r10, %r" + std::to_string(11 + w) + ";\n";
            }
          }
          const std::string place = shared ? "[%r20+16]" : "[%rd3+4112]";
          const std::string body =
              order + "mul.lo.s32 %r6, %r5, " + std::to_string(stride) +
              ";\nmov.u32 %r7, tile;\nadd.s32 %r20, %r6, %r7;\ncvt.u64.u32 %rd4, %r6;\n"
              "add.s64 %rd3, %rd2, %rd4;\n" +
              fill + "st." + space + "." + access.vector + " " + place + ", " + access.registers +
              ";\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nbar.sync 0;\nld." + space + "." +
              access.vector + " " + access.registers + ", " + place + ";\n" + sum +
              "st.global.u32 [%rd1], %r10;";
          const std::string tile = ".shared .align 16 .b8 tile[16384];";
          const auto results = OnEachTarget([&] {
            Runner runner;
            const auto kernel = runner.Load(WriterText(body, tile));
            const auto out = runner.Upload(std::vector<std::uint32_t>(8192, 0), "out");
            runner.Run(kernel, {1, 1, 1}, {64, 1, 1}, 0, out);
            return runner.Download<std::uint32_t>(out, 64);
          });
          Words want;
          for (std::uint32_t t = 0; t < 64; ++t) {
            want.push_back(access.words * t * 1000 + access.words * (access.words - 1) / 2);
          }
          for (const auto& [target, words] : results) {
            ASSERT_EQ(words, want) << target << " " << space << " " << access.vector << " stride "
                                   << stride << " " << order;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace voltcheck::simulator::testing
