// Variables of modules and functions: spaces, types, sizes, alignment, initial bytes and
// relocations.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

Variable ParseVariable(const std::string& text) { return ParseItems(text).variables.at(0); }

template <typename T>
std::vector<T> Values(const Variable& variable) {
  std::vector<T> values(variable.initial.size() / sizeof(T));
  std::memcpy(values.data(), variable.initial.data(), values.size() * sizeof(T));
  return values;
}

TEST(PtxVariable, ScalarsTakeTheNaturalAlignment) {
  const Variable v = ParseVariable(".global .f64 x;");
  EXPECT_EQ(v.space, StateSpace::kGlobal);
  EXPECT_EQ(v.type, Type::kF64);
  EXPECT_EQ(v.alignment, 8U);
  EXPECT_EQ(v.bytes(), 8U);
  EXPECT_TRUE(v.initial.empty());
  EXPECT_EQ(v.location.line, 2U);
  EXPECT_EQ(v.location.column, 14U);
}

TEST(PtxVariable, VectorsAlignToTheirWholeSize) {
  const Variable v = ParseVariable(".global .v4 .f32 x[3];");
  EXPECT_EQ(v.vector, 4U);
  EXPECT_EQ(v.elements, 3U);
  EXPECT_EQ(v.bytes(), 48U);
  EXPECT_EQ(v.alignment, 16U);
}

TEST(PtxVariable, WrittenAlignmentWinsWhereverItStands) {
  EXPECT_EQ(ParseVariable(".global .align 64 .b8 x[3];").alignment, 64U);
  EXPECT_EQ(ParseVariable(".global .b8 .align 2 x[3];").alignment, 2U);
}

TEST(PtxVariable, DimensionsMultiply) {
  EXPECT_EQ(ParseVariable(".global .b16 x[3][5][7];").bytes(), 210U);
}

TEST(PtxVariable, OpenSharedArrayHasNoElements) {
  const Variable v = ParseVariable(".extern .shared .align 16 .b8 s[];");
  EXPECT_TRUE(v.external);
  EXPECT_EQ(v.elements, 0U);
  EXPECT_EQ(v.space, StateSpace::kShared);
}

TEST(PtxVariable, SeveralNamesShareSpecifiers) {
  const Module module = ParseItems(".global .u32 a, b[4], c = 7;");
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[1].elements, 4U);
  EXPECT_EQ(Values<std::uint32_t>(module.variables[2]), std::vector<std::uint32_t>{7});
}

TEST(PtxVariable, DefinitionReplacesExternalDeclaration) {
  const Module module = ParseItems(".extern .global .u32 a[]; .global .u32 a[4];");
  ASSERT_EQ(module.variables.size(), 1U);
  EXPECT_FALSE(module.variables[0].external);
  EXPECT_EQ(module.variables[0].elements, 4U);
}

TEST(PtxInitialiser, IntegersOfEveryBase) {
  const Variable v = ParseVariable(".global .s32 x[6] = {10, -10, 0x10, 010, 0b10, 5U};");
  EXPECT_EQ(Values<std::int32_t>(v), (std::vector<std::int32_t>{10, -10, 16, 8, 2, 5}));
}

TEST(PtxInitialiser, MissingValuesAreZeroInEveryRow) {
  const Variable v = ParseVariable(".global .s32 x[2][3] = {{1}, {2, 3}};");
  EXPECT_EQ(Values<std::int32_t>(v), (std::vector<std::int32_t>{1, 0, 0, 2, 3, 0}));
}

TEST(PtxInitialiser, OpenDimensionCountsItsRows) {
  const Variable v = ParseVariable(".global .s16 x[][2] = {{1, 2}, {3}, {4, 5}};");
  EXPECT_EQ(v.elements, 6U);
  EXPECT_EQ(Values<std::int16_t>(v), (std::vector<std::int16_t>{1, 2, 3, 0, 4, 5}));
}

TEST(PtxInitialiser, VectorComponentsAreTheInnermostBraces) {
  const Variable v = ParseVariable(".global .v2 .f32 x[2] = {{1.0, 0f40000000}, {-0.5}};");
  EXPECT_EQ(Values<float>(v), (std::vector<float>{1.0F, 2.0F, -0.5F, 0.0F}));
}

TEST(PtxInitialiser, FloatsRoundOnceAndPatternsStay) {
  const Variable v = ParseVariable(".const .f32 x[3] = {0.1, 0f7F800001, 0d3FB999999999999A};");
  EXPECT_EQ(Values<std::uint32_t>(v),
            (std::vector<std::uint32_t>{0x3DCCCCCD, 0x7F800001, 0x3DCCCCCD}));
}

TEST(PtxInitialiser, AddressesBecomeRelocations) {
  const Module module = ParseItems(
      ".global .b8 t[8]; .global .u64 p[3] = {generic(t)+2, t-4, 9}; .global .u64 q = t;");
  const Variable& p = module.variables[1];
  ASSERT_EQ(p.relocations.size(), 2U);
  EXPECT_EQ(p.relocations[0].symbol, "t");
  EXPECT_TRUE(p.relocations[0].generic);
  EXPECT_EQ(p.relocations[0].addend, 2);
  EXPECT_EQ(p.relocations[0].offset, 0U);
  EXPECT_EQ(p.relocations[0].bytes, 8U);
  EXPECT_FALSE(p.relocations[1].generic);
  EXPECT_EQ(p.relocations[1].addend, -4);
  EXPECT_EQ(p.relocations[1].offset, 8U);
  EXPECT_EQ(Values<std::uint64_t>(p), (std::vector<std::uint64_t>{0, 0, 9}));
  EXPECT_EQ(module.variables[2].relocations.at(0).symbol, "t");
}

TEST(PtxInitialiser, MasksSelectBytesOfAnAddress) {
  const Module module = ParseItems(
      ".global .b8 t[8]; .global .u8 p[3] = {0xff(t), 0xff00(t+4), 0xFF00000000(generic(t))};");
  const Variable& p = module.variables[1];
  ASSERT_EQ(p.relocations.size(), 3U);
  EXPECT_EQ(p.relocations[0].shift, 0U);
  EXPECT_EQ(p.relocations[1].shift, 8U);
  EXPECT_EQ(p.relocations[1].addend, 4);
  EXPECT_EQ(p.relocations[1].bytes, 1U);
  EXPECT_EQ(p.relocations[2].shift, 32U);
  EXPECT_TRUE(p.relocations[2].generic);
}

TEST(PtxInitialiser, SymbolsMayBeDeclaredLater) {
  const Module module = ParseItems(".global .u64 p = f; .func f { ret; }");
  EXPECT_EQ(module.variables[0].relocations.at(0).symbol, "f");
  EXPECT_NE(ItemError(".global .u64 p = nowhere;").find("test.ptx:2:18: 'nowhere' is not declared"),
            std::string::npos);
}

TEST(PtxFunction, ParametersKeepTypeSizeAndAlignment) {
  const Module module = ParseItems(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24], .param "
      ".f32 c)"
      "{ ret; }");
  const Function& k = module.functions.at(0);
  EXPECT_TRUE(k.entry);
  ASSERT_EQ(k.parameters.size(), 3U);
  EXPECT_EQ(k.parameters[0].bytes(), 8U);
  EXPECT_EQ(k.parameters[0].alignment, 8U) << "the alignment behind .ptr is the pointee's";
  EXPECT_EQ(k.parameters[1].bytes(), 24U);
  EXPECT_EQ(k.parameters[1].alignment, 8U);
  EXPECT_EQ(k.parameters[2].type, Type::kF32);
}

TEST(PtxFunction, TuningDirectives) {
  const Module module = ParseItems(
      ".entry a() .maxntid 16, 4, 2 .minnctapersm 2 .maxnreg 64 .pragma \"x\"; { ret; }"
      ".entry b() .reqntid 32, 2 { ret; }");
  EXPECT_EQ(module.functions[0].max_threads, 128U);
  EXPECT_EQ(module.functions[1].required_threads[0], 32U);
  EXPECT_EQ(module.functions[1].required_threads[1], 2U);
  EXPECT_EQ(module.functions[1].required_threads[2], 1U);
}

TEST(PtxFunction, DefinitionReplacesDeclaration) {
  const Module module = ParseItems(
      ".func (.param .b32 r) f(.param .b32 x); .func (.param .b32 r) f"
      "(.param .b32 x) { ret; } .extern .func g;");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_FALSE(module.functions[0].declaration);
  EXPECT_EQ(module.functions[0].returns.at(0).name, "r");
  EXPECT_TRUE(module.functions[1].declaration);
}

TEST(PtxFunction, RegisterRangesBecomeSingleRegisters) {
  const Function k = ParseBodyText(".reg .b16 %h<3>, one; .reg .v2 .f32 w;");
  EXPECT_EQ(VariableNamed(k.variables, "%h0").type, Type::kB16);
  EXPECT_EQ(VariableNamed(k.variables, "%h2").space, StateSpace::kRegister);
  EXPECT_EQ(VariableNamed(k.variables, "one").type, Type::kB16);
  EXPECT_EQ(VariableNamed(k.variables, "w").vector, 2U);
  EXPECT_THROW(VariableNamed(k.variables, "%h3"), std::out_of_range);
}

TEST(PtxFunction, GlobalsOfABodyMoveIntoTheModule) {
  const Module module = ParseItems(
      ".entry a() { .reg .b32 r; .global .u32 x = 3; ld.global.u32 r, [x]; }"
      ".entry b() { .reg .b32 r; .const .u32 x = 4; ld.const.u32 r, [x]; }");
  ASSERT_EQ(module.variables.size(), 2U);
  EXPECT_NE(module.variables[0].name, module.variables[1].name);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(module.functions[i].body.at(0).operands.at(1).elements.at(0).name,
              module.variables[i].name);
  }
}

TEST(PtxModule, HeaderAndFiles) {
  const Module module = ParseModule(
      "x.ptx",
      ".version 8.4\n.target sm_70, texmode_unified\n.address_size 64\n.file 3 \"a b.cu\", 1, 2");
  EXPECT_EQ(module.file, "x.ptx");
  EXPECT_EQ(module.version_major, 8U);
  EXPECT_EQ(module.version_minor, 4U);
  EXPECT_EQ(module.target, "sm_70");
  EXPECT_EQ(module.source_files.at(3), "a b.cu");
}

TEST(PtxModule, NewerVersionsAreTaken) {
  EXPECT_EQ(ParseModule("x", ".version 12.34 .target sm_120a").version_minor, 34U);
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
