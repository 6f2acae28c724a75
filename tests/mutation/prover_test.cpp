// Proofs that a mutant is equivalent, each beside a look-alike that is not and must not be proven.
#include "verify/mutation/proof/prover.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "kernels/plan.h"
#include "verify/mutation/killers.h"
#include "verify/mutation/proof/premises.h"

namespace voltcheck::mutation::proof {
namespace {

// Parameters and special registers are bounded for any kernel of this name: 1 <= slots, 32 <=
// width.
constexpr const char* kEntry = "moe_gather";

std::shared_ptr<const KernelText> Kernel(const std::string& body) {
  const std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry moe_gather(\n"
      ".param .u64 moe_gather_param_0, .param .u64 moe_gather_param_1,\n"
      ".param .u64 moe_gather_param_2, .param .u64 moe_gather_param_3,\n"
      ".param .u32 moe_gather_param_4, .param .u32 moe_gather_param_5)\n{\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .b32 %r<32>; .reg .b64 %d<9>;\n"
      ".shared .align 4 .b8 tile[512];\n"
      "ld.param.u64 %d1, [moe_gather_param_0];\nld.param.u32 %r1, [moe_gather_param_5];\n"
      "mov.u32 %r2, %tid.x;\n" +
      body + "\nret;\n}\n";
  return std::make_shared<KernelText>(kernels::ModuleImage{"t.ptx", text, {}}, kEntry);
}

// The proof for `from` replaced by `to`, once, in the body.
std::string Prove(const std::string& body, const std::string& from, const std::string& to) {
  const auto kernel = Kernel(body);
  const std::size_t at = kernel->text().find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return Prover(kernel).Prove({{at, at + from.size(), to}});
}

constexpr const char* kStore = "add.s64 %d2, %d1, 0;\nst.global.u32 [%d2], %r9;";

TEST(Prover, SignsOfWhatIsPositive) {
  const std::string body = std::string("shr.s32 %r9, %r1, 31;\n") + kStore;
  EXPECT_NE(Prove(body, "%r1, 31", "%r1, 30"), "");  // a width is below 2^30
  EXPECT_EQ(Prove(body, "%r1, 31", "%r1, 5"), "");   // but not below 2^5
  EXPECT_NE(Prove(body, "shr.s32", "shr.u32"), "");
  const std::string any =
      std::string("ld.global.u32 %r3, [%d1];\nshr.s32 %r9, %r3, 31;\n") + kStore;
  EXPECT_EQ(Prove(any, "shr.s32", "shr.u32"), "");  // what is loaded may be negative
}

TEST(Prover, MasksOfBitsThatAreZero) {
  const std::string body = std::string("shl.b32 %r3, %r2, 3;\nand.b32 %r9, %r3, 1016;\n") + kStore;
  EXPECT_NE(Prove(body, "1016", "1017"), "");  // eight times the thread's number
  EXPECT_EQ(Prove(body, "1016", "504"), "");   // thread 64 has the bit
}

TEST(Prover, ProductsThatAreExact) {
  const std::string nibble =
      "ld.global.u32 %r3, [%d1];\nmov.u32 %r4, 0x00f000f0;\nmov.u32 %r5, 0x64006400;\n"
      "lop3.b32 %r6, %r3, %r4, %r5, 0xea;\nmov.u32 %r7, 0x2c002c00;\nmov.u32 %r8, 0xd400d400;\n";
  const std::string fma = "fma.rn.f16x2 %r9, %r6, %r7, %r8;";
  const auto split = [](const std::string& a, const std::string& b, const std::string& c) {
    return "{ .reg .b32 %t; mul.rn.f16x2 %t, " + a + ", " + b + "; add.rn.f16x2 %r9, %t, " + c +
           "; }";
  };
  EXPECT_NE(Prove(nibble + fma + kStore, fma, split("%r6", "%r7", "%r8")), "");
  // By 1/3 instead of 1/16 the product rounds.
  const std::string third = "mov.u32 %r7, 0x35553555;\n";
  EXPECT_EQ(Prove(nibble + third + fma + kStore, fma, split("%r6", "%r7", "%r8")), "");
  std::string inexact = nibble;
  inexact.replace(inexact.find("0x2c002c00"), 10, "0x35553555");
  // Less 64 it rounds to the same step, fused or not; less 340 the sum keeps smaller ones.
  EXPECT_NE(Prove(inexact + fma + kStore, fma, split("%r6", "%r7", "%r8")), "");
  inexact.replace(inexact.find("0xd400d400"), 10, "0xdd50dd50");
  EXPECT_EQ(Prove(inexact + fma + kStore, fma, split("%r6", "%r7", "%r8")), "");
  // Any half: neither.
  const std::string any =
      "ld.global.u32 %r6, [%d1];\nld.global.u32 %r7, [%d1+4];\n"
      "ld.global.u32 %r8, [%d1+8];\n" +
      fma + kStore;
  EXPECT_EQ(Prove(any, fma, split("%r6", "%r7", "%r8")), "");
}

TEST(Prover, FunctionsOfOneHalfAreTriedWhole) {
  const std::string body =
      "ld.global.u16 %h1, [%d1];\ncvt.f32.f16 %f1, %h1;\nmov.f32 %f2, 0f3F800000;\n"
      "add.rn.f32 %f3, %f1, %f2;\ncvt.rn.f16.f32 %h2, %f3;\nst.global.u16 [%d1+2], %h2;";
  // Widened halves and 1 add up without rounding but far below it, where the half is 1 either way.
  EXPECT_EQ(Prove(body, "add.rn.f32", "add.rm.f32"), "");  // 1 - 2^-24: not so
  const std::string doubled =
      "ld.global.u16 %h1, [%d1];\ncvt.f32.f16 %f1, %h1;\nadd.rn.f32 %f3, %f1, %f1;\n"
      "cvt.rn.f16.f32 %h2, %f3;\nst.global.u16 [%d1+2], %h2;";
  EXPECT_NE(Prove(doubled, "add.rn.f32", "add.rz.f32"), "");
  EXPECT_EQ(Prove(doubled, "cvt.rn.f16.f32", "cvt.rz.f16.f32"), "");  // overflow to Inf or not
}

// Rows of a block that a warp may not have: what is summed for them is not stored.
const char* const kBlocks =
    "ld.param.u32 %r3, [moe_gather_param_4];\nmov.f32 %f1, 0f00000000;\nmov.u32 %r4, tile;\n"
    "setp.lt.s32 %p1, %r3, 2;\n@%p1 bra A;\n"
    "ld.shared.f32 %f2, [%r4+64];\nadd.f32 %f1, %f1, %f2;\n"
    "A:\nsetp.lt.s32 %p2, %r3, 2;\n@%p2 bra B;\nst.global.f32 [%d1], %f1;\nB:\n";

TEST(Prover, WorkThatNobodyStores) {
  EXPECT_NE(Prove(kBlocks, "@%p1 bra A;", ""), "");
  EXPECT_NE(Prove(kBlocks, "%p1, %r3, 2", "%p1, %r3, 1"), "");
  EXPECT_EQ(Prove(kBlocks, "%p1, %r3, 2", "%p1, %r3, 3"), "");  // too little work
  EXPECT_EQ(Prove(kBlocks, "@%p2 bra B;", ""), "");             // stored after all
  std::string outside = kBlocks;
  outside.replace(outside.find("%r4+64"), 6, "%r4+512");
  EXPECT_EQ(Prove(outside, "@%p1 bra A;", ""), "");  // reads behind the shared array
  std::string other = kBlocks;
  other.replace(other.find("%p2, %r3, 2"), 11, "%p2, %r3, 1");
  EXPECT_EQ(Prove(other, "@%p1 bra A;", ""), "");  // the store's guard is wider than the work's
}

TEST(Prover, LanesThatDiffer) {
  const std::string body =
      "setp.lt.u32 %p1, %r2, 16;\nmov.u32 %r3, 1;\nmov.u32 %r5, 2;\n@%p1 bra A;\nmov.u32 %r3, 5;\n"
      "A:\nshfl.sync.bfly.b32 %r6, %r3, 16, 31, -1;\nmov.u32 %r9, 0;\n@%p1 bra B;\n"
      "mov.u32 %r9, %r6;\nB:\n" +
      std::string(kStore);
  // Lanes from 16 on see what the others had: no lane's own guard hides that.
  EXPECT_EQ(Prove(body, "@%p1 bra A;", ""), "");
}

TEST(Prover, WhereNoLaunchGets) {
  const std::string body =
      std::string("mov.u32 %r9, 0;\nsetp.lt.s32 %p1, %r1, 32;\n@!%p1 bra A;\n") +
      "mov.u32 %r9, 7;\nA:\n" + kStore;
  EXPECT_NE(Prove(body, "%r9, 7", "%r9, 8"), "");  // the width is at least 32
  std::string reached = body;
  reached.replace(reached.find("%r1, 32"), 7, "%r1, 64");
  EXPECT_EQ(Prove(reached, "%r9, 7", "%r9, 8"), "");
}

TEST(Prover, ValuesOfAnotherRound) {
  // %r4 is what %r3 was a round ago: not the same number, though one is made from the other.
  const std::string body =
      "mov.u32 %r3, 0;\nmov.u32 %r9, 0;\nL:\nmov.u32 %r4, %r3;\nadd.s32 %r3, %r4, 1;\n"
      "add.s32 %r9, %r9, %r4;\nsetp.lt.s32 %p1, %r3, 4;\n@%p1 bra L;\n" +
      std::string(kStore);
  EXPECT_EQ(Prove(body, "add.s32 %r9, %r9, %r4;", "add.s32 %r9, %r9, %r3;"), "");
}

TEST(Prover, WhatALoopCountsStaysBelowItsBound) {
  const std::string body =
      "mov.u32 %r3, 0;\nL:\nshr.s32 %r9, %r3, 31;\nst.global.u32 [%d1], %r9;\n"
      "add.s32 %r3, %r3, 32;\nsetp.lt.s32 %p1, %r3, %r1;\n@%p1 bra L;\n";
  EXPECT_NE(Prove(body, "shr.s32", "shr.u32"), "");
  std::string endless = body;
  endless.replace(endless.find("setp.lt"), 7, "setp.ne");
  EXPECT_EQ(Prove(endless, "shr.s32", "shr.u32"), "");  // steps over its end, and on
}

TEST(Prover, WhichOfSeveralSetsIsRead) {
  const std::string body =
      "mov.u32 %r3, %r1;\nL:\nmov.u32 %r4, %r3;\nshr.s32 %r9, %r4, 31;\n"
      "st.global.u32 [%d1], %r9;\nmov.u32 %r3, -5;\nst.global.u32 [%d1+4], %r3;\n";
  EXPECT_NE(Prove(body, "shr.s32", "shr.u32"), "");  // the width alone gets there
  const std::string again = body + "setp.lt.s32 %p1, %r2, 64;\n@%p1 bra L;\n";
  EXPECT_EQ(Prove(again, "shr.s32", "shr.u32"), "");
}

TEST(Prover, BytesThatNobodyTakes) {
  const std::string body =
      std::string("mov.u32 %r4, 0;\nprmt.b32 %r9, %r1, %r4, 0x1010;\n") + kStore;
  EXPECT_NE(Prove(body, "%r4, 0;", "%r4, -1;"), "");
  std::string taken = body;
  taken.replace(taken.find("0x1010"), 6, "0x1410");
  EXPECT_EQ(Prove(taken, "%r4, 0;", "%r4, -1;"), "");
  std::string named = body;
  named.replace(named.find("0x1010"), 6, "%r5");
  EXPECT_NE(Prove("mov.u32 %r5, 4112;\n" + named, "%r4, 0;", "%r4, -1;"), "");
  EXPECT_EQ(Prove("mov.u32 %r5, 5136;\n" + named, "%r4, 0;", "%r4, -1;"), "");
  EXPECT_EQ(Prove("ld.global.u32 %r5, [%d1];\n" + named, "%r4, 0;", "%r4, -1;"), "");
}

TEST(Prover, WhoeverWaitsForAll) {
  const std::string body =
      "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra B;\nA:\nld.acquire.gpu.u32 %r3, [%d1];\n"
      "setp.eq.s32 %p2, %r3, 0;\n@%p2 bra A;\nB:\nbar.sync 0;\nst.global.u32 [%d1+4], %r1;\n";
  EXPECT_NE(Prove(body, "%r2, 0", "%r2, 1"), "");
  EXPECT_EQ(Prove(body, "%r2, 0", "%r2, 128"), "");  // nobody
  EXPECT_EQ(Prove(body, "@%p1 bra B;", ""), "");     // all, of whom some may come too late
  EXPECT_EQ(Prove(body, "@%p1 bra", "@!%p1 bra"), "");
  std::string apart = body;
  apart.replace(apart.find("bar.sync 0;\n"), 12, "");
  EXPECT_EQ(Prove(apart, "%r2, 0", "%r2, 1"), "");  // the others do not wait for whoever waits
  std::string own = body;
  own.replace(own.find("%r3, 0"), 6, "%r3, %r2");
  EXPECT_EQ(Prove(own, "%p1, %r2, 0", "%p1, %r2, 1"), "");  // each for something else
}

TEST(Prover, WhoeverTellsForAll) {
  const std::string body =
      "st.global.u32 [%d1+4], %r2;\nbar.sync 0;\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra B;\n"
      "st.release.gpu.u32 [%d1], %r1;\nB:\n";
  EXPECT_NE(Prove(body, "%r2, 0", "%r2, 1"), "");
  EXPECT_EQ(Prove(body, "@%p1 bra B;", ""), "");  // all, some when another has gone on
  std::string own = body;
  own.replace(own.find("[%d1], %r1"), 10, "[%d1], %r2");
  EXPECT_EQ(Prove(own, "%p1, %r2, 0", "%p1, %r2, 1"), "");
  std::string early = body;
  early.replace(early.find("bar.sync 0;\n"), 12, "");
  EXPECT_EQ(Prove(early, "%r2, 0", "%r2, 1"), "");  // thread 0 may not have stored yet
  EXPECT_EQ(Prove(body + "st.global.u32 [%d1+8], %r1;\n", "%r2, 0", "%r2, 1"), "");
}

// Every launch of every plan that the campaign makes keeps what proofs stand on.
TEST(Premises, HoldInEveryLaunch) {
  std::map<std::string, std::unique_ptr<Premises>> premises;
  std::size_t launches = 0;
  for (const char* entry : {"", "grouped_gemm_128x128x16_g32_4b", "grouped_gemm_128x256x16_g128_3b",
                            "grouped_gemm_8x256x64_g64_4b"}) {
    for (const Killer& killer : QuickKillers(entry)) {
      const kernels::Plan plan = kernels::MakePlan(fixtures::Generate(killer.c));
      for (const kernels::PlanLaunch& launch : plan.launches) {
        auto& known = premises[launch.kernel];
        known = known ? std::move(known) : std::make_unique<Premises>(launch.kernel);
        EXPECT_EQ(known->Broken(launch), "") << launch.kernel << ToDescriptor(killer.c);
        ++launches;
      }
    }
  }
  EXPECT_GT(launches, 500U);
}

TEST(Premises, SayWhatIsBroken) {
  kernels::PlanLaunch launch;
  launch.kernel = "moe_gather";
  launch.block = {128, 1, 1};
  launch.arguments = {std::int64_t{0}, std::int64_t{0}, std::int64_t{0},
                      std::int64_t{0}, std::int32_t{4}, std::int32_t{33}};
  EXPECT_EQ(Premises("moe_gather").Broken(launch), "param5 is 33");
  launch.arguments.back() = std::int32_t{64};
  EXPECT_EQ(Premises("moe_gather").Broken(launch), "");
  launch.block.x = 64;
  EXPECT_NE(Premises("moe_gather").Broken(launch), "");
}

}  // namespace
}  // namespace voltcheck::mutation::proof
