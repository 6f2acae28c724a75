// Names: nested scopes, renaming, labels, tables of branch targets.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

TEST(PtxScope, HiddenVariablesGetNamesOfTheirOwn) {
  const Function k = ParseBodyText(
      ".reg .b32 t; x t; { .reg .f32 t; x t; { .reg .f64 t; x t; } x t; } x t; { .reg .b16 t; x t; "
      "}");
  const std::string outer = k.body[0].operands[0].name;
  const std::string middle = k.body[1].operands[0].name;
  const std::string inner = k.body[2].operands[0].name;
  const std::string sibling = k.body[5].operands[0].name;
  EXPECT_EQ(outer, "t");
  EXPECT_EQ((std::set<std::string>{outer, middle, inner, sibling}.size()), 4U);
  EXPECT_EQ(k.body[3].operands[0].name, middle);
  EXPECT_EQ(k.body[4].operands[0].name, outer);
  EXPECT_EQ(VariableNamed(k.variables, middle).type, Type::kF32);
  EXPECT_EQ(VariableNamed(k.variables, inner).type, Type::kF64);
  EXPECT_EQ(VariableNamed(k.variables, sibling).type, Type::kB16);
}

TEST(PtxScope, RenamingReachesEveryOperandForm) {
  const Function k = ParseBodyText(
      "{ .reg .b32 t; .reg .pred p; } { .reg .b32 t; .reg .pred p;"
      "@p x t, {t}, [t+4], !p, p|p, t.b0; }");
  const Instruction& x = k.body[0];
  EXPECT_EQ(x.guard, "p#2");
  EXPECT_EQ(x.operands[0].name, "t#1");
  EXPECT_EQ(x.operands[1].elements.at(0).name, "t#1");
  EXPECT_EQ(x.operands[2].elements.at(0).name, "t#1");
  EXPECT_EQ(x.operands[3].name, "p#2");
  EXPECT_EQ(x.operands[4].elements.at(1).name, "p#2");
  EXPECT_EQ(x.operands[5].name, "t#1.b0");
}

TEST(PtxScope, LocalsDoNotTouchTheModulesNames) {
  const Module module = ParseItems(
      ".global .u32 x; .entry k() { .reg .b64 r; mov.u64 r, x; { .reg .u32 x; mov.u32 x, 3; } }");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.body[0].operands[1].name, "x");
  EXPECT_NE(k.body[1].operands[0].name, "x");
  EXPECT_EQ(VariableNamed(k.variables, k.body[1].operands[0].name).type, Type::kU32);
}

TEST(PtxScope, LabelsBelongToTheirBlock) {
  const Function k = ParseBodyText("L: { bra L; L: ret; } { L: bra L; } bra L;");
  EXPECT_EQ(k.labels.at("L"), 0U);
  const std::string first = k.body[0].operands[0].name;
  const std::string second = k.body[2].operands[0].name;
  EXPECT_EQ(k.labels.at(first), 1U) << "a label further down in the same block wins";
  EXPECT_EQ(k.labels.at(second), 2U);
  EXPECT_EQ(k.body[3].operands[0].name, "L");
}

TEST(PtxScope, LabelAtTheEndPointsBehindTheBody) {
  const Function k = ParseBodyText("bra end; ret; end:");
  EXPECT_EQ(k.labels.at("end"), 2U);
}

TEST(PtxScope, BranchTargetsResolveForwardAndRename) {
  const Function k = ParseBodyText(
      "A: { t: .branchtargets A, B; brx.idx %r1, t; A: ret; } { t: .branchtargets A; brx.idx %r1, "
      "t; } B:");
  const std::string first = k.body[0].operands[1].name;
  const std::string second = k.body[2].operands[1].name;
  ASSERT_EQ(k.branch_targets.at(first).size(), 2U);
  EXPECT_EQ(k.labels.at(k.branch_targets.at(first)[0]), 1U);
  EXPECT_EQ(k.labels.at(k.branch_targets.at(first)[1]), 3U);
  EXPECT_EQ(k.branch_targets.at(second).at(0), "A");
}

TEST(PtxScope, RecursionAndAliases) {
  const Module module =
      ParseItems(".func f { call f; ret; } .func g; .entry k() { call g; ret; } .alias g, f;");
  EXPECT_EQ(FunctionNamed(module, "f").body[0].operands[0].name, "f");
  EXPECT_EQ(FunctionNamed(module, "k").body[0].operands[0].name, "f");
}

TEST(PtxScope, CallTargets) {
  const Module module =
      ParseItems(".func f { ret; } .entry k() { .reg .b64 r; t: .calltargets f; call r, t; }");
  EXPECT_EQ(module.functions[1].call_targets.at("t").at(0), "f");
  EXPECT_EQ(module.functions[1].body[0].operands[1].name, "t");
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
