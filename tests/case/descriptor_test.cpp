#include "fixtures/case/descriptor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "arbitrary_case.h"
#include "fixtures/case/error.h"
#include "fixtures/case/keys.h"
#include "fixtures/case/problem.h"

namespace voltcheck {
namespace {

std::string LineOf(std::string_view text) {
  try {
    ParseDescriptor(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

RC_GTEST_PROP(Descriptor, ParseAndPrintAreInverse, ()) {
  const Case c = testing::ArbitraryCase();
  ValidateCase(c);
  const std::string text = ToDescriptor(c);
  RC_ASSERT(ParseDescriptor(text) == c);
  RC_ASSERT(ToDescriptor(ParseDescriptor(text)) == text);
}

// Whatever the text, it is parsed or refused with one printable line.
RC_GTEST_PROP(Descriptor, AnyTextIsParsedOrRefusedInOneLine, ()) {
  const std::string key = *rc::gen::element<std::string>("h", "i", "e", "k", "g", "t", "routing",
                                                         "w13", "ep", "fixture", "seed", "x", "");
  const std::string value = *rc::gen::arbitrary<std::string>();
  try {
    ValidateCase(ParseDescriptor(key + "=" + value));
  } catch (const Error& error) {
    const std::string line = error.what();
    RC_ASSERT(!line.empty());
    RC_ASSERT(std::none_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }));
  }
}

TEST(Descriptor, TheExampleOfTheDesign) {
  const std::string text =
      "h=2560,i=160,e=512,k=10,g=32,t=8,routing=zipf:1.1,layout=sorted,path=offset,meta=4b,"
      "cols=interleaved,w13=8x256x64/4,w2=64x128x32/1,data=normal,numerics=v100,seed=42";
  const Case c = ParseDescriptor(text);
  EXPECT_EQ(ToDescriptor(c), text);
  EXPECT_EQ(c.shape.slots(), 80);
  EXPECT_EQ(c.w13_n(), 320);
  EXPECT_EQ(c.routing.kind, RoutingKind::kZipf);
  EXPECT_EQ(c.seed, 42u);
}

TEST(Descriptor, EmptyTextIsTheDefaultCase) {
  EXPECT_EQ(ToDescriptor(ParseDescriptor("")),
            "h=256,i=64,e=16,k=4,g=32,t=8,routing=uniform,layout=sorted,path=offset,meta=4b,"
            "cols=interleaved,w13=8x128x64/1,w2=8x128x64/1,data=normal,numerics=v100,seed=1");
}

TEST(Descriptor, TacticsLeftOutFollowTheSizes) {
  const Case c = ParseDescriptor("h=2560,i=160");
  EXPECT_EQ(ToString(c.w13), "8x128x64/1");
  EXPECT_EQ(ToString(c.w2), "16x128x32/1");
}

TEST(Descriptor, OptionalKeysStandOnlyWhenTheyMatter) {
  EXPECT_TRUE(ToDescriptor(ParseDescriptor("stage=w2,ep=1/4")).ends_with(",stage=w2,ep=1/4"));
  const std::string fixture = ToDescriptor(ParseDescriptor("fixture=abc@0123456789ab"));
  EXPECT_TRUE(fixture.ends_with(",data=fixture,numerics=v100,seed=1,fixture=abc@0123456789ab"));
  EXPECT_EQ(fixture.find("routing"), std::string::npos);
}

TEST(Descriptor, UnusedRoutingFieldsDoNotCount) {
  Case a = ParseDescriptor("routing=one:3");
  Case b = a;
  b.routing.zipf_exponent = 7;
  EXPECT_EQ(a, b);
  b.routing.expert = 4;
  EXPECT_FALSE(a == b);
}

struct Refusal {
  const char* text;
  const char* line;
};
class Refusals : public ::testing::TestWithParam<Refusal> {};
TEST_P(Refusals, SayWhatIsWrongAndWhatToDo) { EXPECT_EQ(LineOf(GetParam().text), GetParam().line); }
INSTANTIATE_TEST_SUITE_P(
    Descriptor, Refusals,
    ::testing::Values(
        Refusal{"q=1",
                "descriptor: unknown key 'q'; the keys are h, i, e, k, g, t, routing, layout, "
                "path, meta, cols, w13, w2, data, numerics, seed, stage, head, ep, fixture"},
        Refusal{"h", "descriptor: item 'h' has no '='; write key=value,key=value"},
        Refusal{"h=64,,i=32", "descriptor: item '' has no '='; write key=value,key=value"},
        Refusal{"h=64,", "descriptor: ends with a comma; remove it or write the missing key=value"},
        Refusal{"h=64,h=64", "descriptor key h: stands twice; keep one of them"},
        Refusal{"h=abc",
                "descriptor key h: cannot be 'abc'; allowed: a multiple of 8 and of the group, up "
                "to 65536"},
        Refusal{"t=1.5", "descriptor key t: cannot be '1.5'; allowed: a whole number, 1..65536"},
        Refusal{"t= 1", "descriptor key t: cannot be ' 1'; allowed: a whole number, 1..65536"},
        Refusal{"t=", "descriptor key t: cannot be ''; allowed: a whole number, 1..65536"},
        Refusal{"t=99999999999",
                "descriptor key t: cannot be '99999999999'; allowed: a whole number, 1..65536"},
        Refusal{"t=0", "descriptor key t: 0 is out of range; allowed: 1..65536"},
        Refusal{"t=-8", "descriptor key t: -8 is out of range; allowed: 1..65536"},
        Refusal{"h=65568", "descriptor key h: 65568 is out of range; allowed: 1..65536"},
        Refusal{"k=65,e=100", "descriptor key k: 65 is out of range; allowed: 1..64"},
        Refusal{"g=48", "descriptor key g: 48 is no group size; allowed: 32, 64 or 128"},
        Refusal{"h=100", "descriptor key h: 100 is not a multiple of the group g = 32; use 128"},
        Refusal{"i=160,g=64",
                "descriptor key i: 160 is not a multiple of the group g = 64; use 192"},
        Refusal{"k=5,e=4",
                "descriptor key k: 5 routes are more than the experts, e = 4; lower k or raise e"},
        Refusal{"h=65536,i=65536",
                "descriptor key h: one expert of h x 2i = 65536 x 131072 is larger than 2^28 "
                "weights; lower h or i"},
        Refusal{"t=65536,k=64,e=64",
                "descriptor key t: t * k * max(h, 2i) is more than 2^28 elements; lower t, k, h or "
                "i"},
        Refusal{"routing=round",
                "descriptor key routing: cannot be 'round'; allowed: uniform, zipf:EXPONENT, "
                "one:EXPERT, distinct, duplicate, hole:first|middle|last|most, softmax or "
                "invalid:ID"},
        Refusal{"routing=zipf:17",
                "descriptor key routing: the exponent of zipf:17 is out of range; allowed: 0..16"},
        Refusal{"routing=zipf:nan",
                "descriptor key routing: the exponent of zipf:nan is out of range; allowed: "
                "0..16"},
        Refusal{"routing=one:16",
                "descriptor key routing: one:16 names no expert; allowed: one:0..one:15"},
        Refusal{"routing=one:-1",
                "descriptor key routing: one:-1 names no expert; allowed: one:0..one:15"},
        Refusal{"routing=invalid:3",
                "descriptor key routing: invalid:3 names an expert that exists; give an id outside "
                "0..15"},
        Refusal{"routing=invalid:3000000000",
                "descriptor key routing: invalid:3000000000 is no int32; give an id of 32 bits"},
        Refusal{"routing=duplicate,k=1", "descriptor key routing: duplicate needs k >= 2; raise k"},
        Refusal{"routing=hole:first,k=4,e=4",
                "descriptor key routing: hole:first leaves fewer than k experts; lower k or raise "
                "e"},
        Refusal{"layout=random",
                "descriptor key layout: cannot be 'random'; allowed: sorted or shuffled"},
        Refusal{"path=fast",
                "descriptor key path: cannot be 'fast'; allowed: segment, offset, dense, m1 or "
                "indexed"},
        Refusal{"path=m1,t=2",
                "descriptor key path: m1 is the single-token route, but t = 2; set t=1"},
        Refusal{"meta=5b", "descriptor key meta: cannot be '5b'; allowed: 4b or 3b"},
        Refusal{"cols=rows",
                "descriptor key cols: cannot be 'rows'; allowed: interleaved or halves"},
        Refusal{"w13=8x128",
                "descriptor key w13: cannot be '8x128'; allowed: CTA_MxCTA_NxCTA_K/SPLITS, for "
                "example 8x128x64/4"},
        Refusal{"i=160,w2=8x128x64/1",
                "descriptor key w2: 8x128x64/1 is infeasible: K = 160 is not a multiple of CTA_K = "
                "64; feasible tiles: 128x128x16, 64x128x32, 32x128x32, 16x128x32"},
        Refusal{"w13=16x128x32/9",
                "descriptor key w13: 16x128x32/9 is infeasible: 9 splits are more than the 8 "
                "chunks of 32 rows in K = 256; feasible tiles: 128x128x16, 64x128x32, 32x128x32, "
                "16x128x32, 8x128x64, 8x256x64"},
        Refusal{"data=zeros",
                "descriptor key data: cannot be 'zeros'; allowed: normal, integer, onehot, "
                "subnormal, extreme, ties, signed, gates or fixture"},
        Refusal{"data=fixture", "descriptor key data: fixture needs a fixture; add fixture=NAME"},
        Refusal{"data=normal,fixture=a",
                "descriptor key fixture: stands beside data=normal; leave data out"},
        Refusal{"routing=softmax,fixture=a",
                "descriptor key routing: cannot stand beside data=fixture, which brings its own; "
                "leave routing out"},
        Refusal{"fixture=../a",
                "descriptor key fixture: '../a' is no fixture name; use letters, digits, '_', '-' "
                "and '.', no leading '.'"},
        Refusal{"fixture=a@12",
                "descriptor key fixture: '12' is no fixture hash; give the first 12 lower-case hex "
                "digits of the fixture's hash"},
        Refusal{"fixture=",
                "descriptor key fixture: cannot be ''; allowed: NAME or NAME@HASH with the first "
                "12 hex digits of the fixture's hash"},
        Refusal{"numerics=sm100",
                "descriptor key numerics: cannot be 'sm100'; allowed: v100, sm75, sm80-software or "
                "sm90"},
        Refusal{"seed=-1",
                "descriptor key seed: cannot be '-1'; allowed: a whole number, "
                "0..18446744073709551615"},
        Refusal{"stage=w3",
                "descriptor key stage: cannot be 'w3'; allowed: all, w13, silu, w2 or output"},
        Refusal{"ep=4/4",
                "descriptor key ep: 4/4 is no rank of at most e ranks; write RANK/RANKS with 0 <= "
                "RANK < RANKS <= e"},
        Refusal{"ep=1",
                "descriptor key ep: cannot be '1'; allowed: RANK/RANKS with RANK < RANKS, for "
                "example 0/4"}));

TEST(Descriptor, LongAndUnprintableTextIsQuotedShort) {
  const std::string line = LineOf(std::string("t=\n\x01") + std::string(500, 'x'));
  EXPECT_EQ(line, "descriptor key t: cannot be '??" + std::string(58, 'x') +
                      "...'; allowed: a whole number, 1..65536");
}

TEST(Descriptor, NumericsNames) {
  EXPECT_EQ(ParseNumerics("sm80-software"), Numerics::kSm80Software);
  EXPECT_THROW(ParseNumerics("V100"), Error);
}

TEST(Descriptor, KeysAreDistinctAndDescribed) {
  std::set<std::string_view> names;
  for (const DescriptorKey& key : DescriptorKeys()) {
    EXPECT_TRUE(names.insert(key.name).second);
    EXPECT_FALSE(key.allowed.empty());
  }
  EXPECT_EQ(names.size(), 20u);
}

TEST(Problem, FindsExpertsById) {
  Problem p;
  for (const int id : {1, 4, 9}) {
    auto expert = std::make_shared<ExpertWeights>();
    expert->id = id;
    p.experts.push_back(expert);
  }
  EXPECT_EQ(p.FindExpert(4), p.experts[1].get());
  EXPECT_EQ(p.FindExpert(9), p.experts[2].get());
  for (const int id : {-1, 0, 2, 10}) {
    EXPECT_EQ(p.FindExpert(id), nullptr);
  }
}

}  // namespace
}  // namespace voltcheck
