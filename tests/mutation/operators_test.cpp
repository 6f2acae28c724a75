#include <gtest/gtest.h>

#include <set>
#include <string>

#include "verify/mutation/ptx_operators.h"

namespace voltcheck::mutation {
namespace {

constexpr const char* kHeader = ".version 7.8\n.target sm_70\n.address_size 64\n";

// A kernel with registers of every kind around `body`.
KernelText KernelWith(const std::string& body) {
  return KernelText({"t.ptx",
                     std::string(kHeader) +
                         ".visible .entry k(.param .u64 p)\n{\n"
                         ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .f32 %f<20>;\n"
                         ".reg .b64 %rd<8>; .shared .align 16 .b8 s[64];\n" +
                         body + "\nret;\n}\n",
                     {}},
                    "k");
}

// The texts that the operator makes, without what stays the same around the body.
std::set<std::string> Bodies(void (*find)(const KernelText&, PtxFaults&), const std::string& body) {
  const KernelText kernel = KernelWith(body);
  const std::string whole = kernel.text();
  const std::size_t begin = whole.find(body);
  const std::size_t tail = whole.size() - begin - body.size();
  PtxFaults faults;
  find(kernel, faults);
  std::set<std::string> bodies;
  for (const PtxFault& fault : faults) {
    const std::string text = Apply(whole, fault.edits);
    bodies.insert(text.substr(begin, text.size() - begin - tail));
  }
  return bodies;
}

using Texts = std::set<std::string>;

TEST(KernelText, FindsStatementsAndOperands) {
  const KernelText kernel = KernelWith(
      "@!%p1 st.shared.v2.u32 \t[%r1+8], {%r2, %r3};\nsetp.eq.or.s32 %p1|%p2, %r1, -3, !%p3;");
  EXPECT_EQ(kernel.View(kernel.Statement(0)), "@!%p1 st.shared.v2.u32 \t[%r1+8], {%r2, %r3};");
  EXPECT_EQ(kernel.View(kernel.Guard(0)), "@!%p1 ");
  EXPECT_EQ(kernel.View(kernel.Mnemonic(0)), "st.shared.v2.u32");
  EXPECT_EQ(kernel.OperandText(0, 0), "[%r1+8]");
  EXPECT_EQ(kernel.View(kernel.AddressBase(0, 0)), "%r1");
  EXPECT_EQ(kernel.OperandText(0, 1), "{%r2, %r3}");
  EXPECT_EQ(kernel.OperandText(1, 0), "%p1|%p2");
  EXPECT_EQ(kernel.OperandText(1, 2), "-3");
  EXPECT_EQ(kernel.OperandText(1, 3), "%p3");
}

TEST(KernelText, BlanksOtherEntriesAndKeepsLines) {
  const std::string ptx =
      std::string(kHeader) + ".visible .entry a()\n{\n  // }\n ret;\n}\n.entry b()\n{\n ret;\n}\n";
  const std::string only = OnlyEntry("t.ptx", ptx, "b");
  EXPECT_EQ(only.size(), ptx.size());
  EXPECT_EQ(only.find(".entry a"), std::string::npos);
  EXPECT_EQ(only.find(".entry b"), ptx.find(".entry b"));
  const KernelText kernel({"t.ptx", ptx, {}}, "b");
  EXPECT_EQ(kernel.body().front().location.line, 11U);
}

TEST(PtxOperator, Barriers) {
  const std::string body = "st.shared.u32 [%r1], %r2;\nbar.sync 0;\nld.shared.u32 %r3, [%r1];";
  EXPECT_EQ(Bodies(DropBarrier, body),
            (Texts{"st.shared.u32 [%r1], %r2;\n\nld.shared.u32 %r3, [%r1];"}));
  EXPECT_EQ(Bodies(MoveBarrier, body),
            (Texts{"st.shared.u32 [%r1], %r2;\n\nld.shared.u32 %r3, [%r1];\n\tbar.sync 0;\n\t",
                   "\n\tbar.sync 0;\n\tst.shared.u32 [%r1], %r2;\n\nld.shared.u32 %r3, [%r1];"}));
}

TEST(PtxOperator, MemoryOrder) {
  EXPECT_EQ(Bodies(WeakenMemoryOrder, "ld.acquire.gpu.b32 %r1, [%rd1];"),
            (Texts{"ld.relaxed.gpu.b32 %r1, [%rd1];"}));
  EXPECT_EQ(Bodies(WeakenMemoryOrder, "membar.gl;"), (Texts{""}));
}

TEST(PtxOperator, PredicatesAndBounds) {
  EXPECT_EQ(Bodies(DropPredicate, "@%p1 st.global.u32 [%rd1], %r1;"),
            (Texts{"st.global.u32 [%rd1], %r1;", "@!%p1 st.global.u32 [%rd1], %r1;"}));
  EXPECT_EQ(Bodies(DropPredicate, "L: @!%p1 bra L;"),
            (Texts{"L: bra L;", "L: ", "L: @%p1 bra L;"}));
  EXPECT_EQ(Bodies(WidenBound, "setp.ge.s32 %p1, %r1, %r2;"),
            (Texts{"setp.gt.s32 %p1, %r1, %r2;"}));
}

TEST(PtxOperator, Constants) {
  EXPECT_EQ(Bodies(OffByOne, "add.s32 %r1, %r2, 7;"),
            (Texts{"add.s32 %r1, %r2, 8;", "add.s32 %r1, %r2, 6;"}));
  EXPECT_EQ(Bodies(OffByOne, "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+-16];"),
            (Texts{"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"}));
  EXPECT_EQ(Bodies(OffByOne, "mov.f32 %f1, 0f3F800000;"), Texts{});
  EXPECT_EQ(Bodies(ShiftOrMask, "shl.b32 %r1, %r2, 3;"),
            (Texts{"shl.b32 %r1, %r2, 4;", "shl.b32 %r1, %r2, 2;"}));
  EXPECT_EQ(Bodies(ShiftOrMask, "and.b32 %r1, %r2, 12;"),
            (Texts{"and.b32 %r1, %r2, 13;", "and.b32 %r1, %r2, 4;"}));
}

TEST(PtxOperator, AddressesAndIndices) {
  EXPECT_EQ(Bodies(AddressRegister, "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2+4], %r1;"),
            (Texts{"ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;"}));
  EXPECT_EQ(Bodies(ThreadIndex, "mov.u32 %r1, %ctaid.z;"), (Texts{"mov.u32 %r1, %ctaid.y;"}));
  EXPECT_EQ(Bodies(ThreadIndex, "shfl.sync.bfly.b32 %r1, %r2, 2, 31, -1;").size(), 3U);
}

TEST(PtxOperator, Arithmetic) {
  EXPECT_EQ(Bodies(SwapOperands, "sub.s32 %r1, %r2, %r3;"), (Texts{"sub.s32 %r1, %r3, %r2;"}));
  EXPECT_EQ(Bodies(SwapOperands, "add.s32 %r1, %r2, %r3;"), Texts{});
  EXPECT_EQ(Bodies(ChangeRounding, "cvt.rn.f16.f32 %rs1, %f1;"),
            (Texts{"cvt.rz.f16.f32 %rs1, %f1;"}));
  EXPECT_EQ(Bodies(ChangeRounding, "add.f32 %f1, %f2, %f3;"), (Texts{"add.rz.f32 %f1, %f2, %f3;"}));
  EXPECT_EQ(Bodies(ChangeRounding, "{fma.rn.f16x2 %r1,%r2,%r3,%r4;\n}"), Texts{});
  EXPECT_EQ(Bodies(SplitFma, "fma.rn.f32 %f1, %f2, %f3, %f4;"),
            (Texts{"{ .reg .f32 %voltcheck_t; mul.rn.f32 %voltcheck_t, %f2, %f3; add.rn.f32 %f1, "
                   "%voltcheck_t, %f4; }"}));
  EXPECT_EQ(Bodies(HalfAccumulator, "fma.rn.f32 %f1, %f2, %f3, %f1;"),
            (Texts{"fma.rn.f32 %f1, %f2, %f3, %f1;\n\t{ .reg .b16 %voltcheck_h; cvt.rn.f16.f32 "
                   "%voltcheck_h, %f1; cvt.f32.f16 %f1, %voltcheck_h; }"}));
}

TEST(PtxOperator, TensorCore) {
  const std::string body =
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
      "{%r1, %r2}, {%r3, %r4}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};";
  EXPECT_EQ(Bodies(MmaLayout, body).size(), 3U);
  EXPECT_EQ(Bodies(SkipStep, body), (Texts{""}));
  EXPECT_EQ(Bodies(SwapOperands, body).size(), 1U);
  EXPECT_EQ(Bodies(HalfAccumulator, body).size(), 1U);
}

TEST(PtxOperator, DoublesTheStepOfALoopAlone) {
  EXPECT_EQ(Bodies(SkipStep, "add.s32 %r1, %r1, 4;"), Texts{});
  EXPECT_EQ(Bodies(SkipStep, "L: add.s32 %r1, %r1, 4;\n@%p1 bra L;"),
            (Texts{"L: add.s32 %r1, %r1, 8;\n@%p1 bra L;"}));
}

}  // namespace
}  // namespace voltcheck::mutation
