// Kernels of a tile that the suites hardly run, broken as by hand in their PTX: what `voltcheck
// gate` adds for a replaced entry must find each. An edit that does not apply fails the test.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>

#include "fixtures/generate.h"
#include "kernels/kernel_set.h"
#include "verify/case_runner.h"
#include "verify/properties/property.h"
#include "verify/properties/replaced_questions.h"
#include "verify/properties/search.h"
#include "verify/replaced_cases.h"

namespace voltcheck::properties {
namespace {

constexpr const char* kModule = "grouped_gemm_64x128x32_g64.ptx";
using Wanted = std::function<bool(const Case&)>;

bool HasSplits(const Case& c) { return c.w13.splits > 1; }

class HandBroken : public testing::Test {
 protected:
  // The module with every match of `pattern` replaced.
  static verify::DeviceOptions With(const std::string& module, const std::string& pattern,
                                    const std::string& replacement) {
    verify::DeviceOptions options;
    options.jobs = 1;
    for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
      if (image.name == module) {
        std::string ptx = std::regex_replace(image.ptx, std::regex(pattern), replacement);
        EXPECT_TRUE(ptx != image.ptx) << "this toolkit's PTX has no " << pattern;
        options.overrides.push_back({"changed.ptx", std::move(ptx), {}});
      }
    }
    EXPECT_EQ(options.overrides.size(), 1U);
    return options;
  }

  // What is said of the first added case that fits and does not pass; empty: all passed.
  static std::string FirstFinding(const verify::DeviceOptions& options, const Wanted& wanted) {
    std::vector<Case> cases;
    verify::AddHazardCases(verify::ReplacedEntries(options.overrides, {}), 0, cases);
    int run = 0;
    for (const Case& c : cases) {
      if (wanted(c)) {
        ++run;
        const verify::CaseRecord record = verify::RunCase(fixtures::Generate(c), options);
        if (record.verdict != verify::Verdict::kPassed) {
          return std::string(verify::ToString(record.verdict)) + ": " + record.reason;
        }
      }
    }
    EXPECT_GT(run, 0);
    return "";
  }

  // What the questions about the replaced entries find with one property; empty: it holds.
  static std::string Breach(const verify::DeviceOptions& options, const std::string& property) {
    Bench bench(options);
    for (const Regression& question :
         ReplacedQuestions(verify::ReplacedEntries(options.overrides, {}), 0)) {
      if (question.property == property) {
        const verify::PropertyRecord record = AskOnce(
            FindProperty(property), fixtures::Generate(question.c), bench, " --device simulator");
        if (record.verdict == verify::Verdict::kFailed) {
          return record.reason;
        }
        EXPECT_EQ(record.verdict, verify::Verdict::kPassed) << record.reason;
      }
    }
    return "";
  }
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(HandBroken, ARedundantBarrierPasses) {
  const auto options = With(kModule, "bar\\.sync \t0;", "bar.sync 0; bar.sync 0;");
  EXPECT_EQ(FirstFinding(options, HasSplits), "");
  EXPECT_EQ(Breach(options, "back-to-back"), "");
}

TEST_F(HandBroken, TheLockIsReleasedWithoutAFence) {
  EXPECT_SAYS(FirstFinding(With(kModule, "st\\.release\\.gpu", "st.relaxed.gpu"), HasSplits),
              "no release and acquire between");
}

TEST_F(HandBroken, EveryThreadPassesTheLockOn) {
  EXPECT_SAYS(
      FirstFinding(With(kModule, "@%p\\d+ bra[^\n]*(\n[^@]{1,700}?st\\.release)", "$1"), HasSplits),
      "only one of these stores lies before");
}

TEST_F(HandBroken, ScalesHaveNoSign) {
  const auto options =
      With(kModule, "(, 4112;\n\tprmt\\.b32 \t(%r\\d+), [^;]*;)", "$1 and.b32 $2, $2, 0x7fff7fff;");
  EXPECT_EQ(FirstFinding(options, [](const Case& c) { return c.data == Data::kInteger; }), "");
  EXPECT_SAYS(FirstFinding(options, [](const Case& c) { return c.data == Data::kSigned; }),
              "failed: w13: ");
}

// In the natural order of the blocks nobody waits, so only another order shows it.
TEST_F(HandBroken, SplitsAddAsTheyArrive) {
  const auto options =
      With(kModule, "(ld\\.acquire[^]{1,150}?setp\\.ne\\.s32[^\n]*\n)[^\n]*bra[^\n]*", "$1");
  EXPECT_SAYS(Breach(options, "schedules"), "no release and acquire between");
}

TEST_F(HandBroken, TheSumIsCutOffAndNotRounded) {
  EXPECT_SAYS(FirstFinding(With(kModule, "cvt\\.rn\\.f16\\.f32", "cvt.rz.f16.f32"),
                           [](const Case& c) { return c.data == Data::kTies; }),
              "failed: w13: ");
}

TEST_F(HandBroken, ARowTimesItsStrideIn32Bits) {
  const auto options =
      With(kModule, "mul\\.lo\\.s64 \t(%rd\\d+), (%rd\\d+), (%rd\\d+);",
           "{ .reg .b32 a, b; cvt.u32.u64 a, $2; cvt.u32.u64 b, $3; mul.lo.s32 a, a, b; "
           "cvt.s64.s32 $1, a; }");
  EXPECT_EQ(FirstFinding(options, [](const Case& c) { return c.data == Data::kTies; }), "");
  EXPECT_NE(Breach(options, "far-rows"), "");
}

// exp(-g) no larger than 2^125: a gate of -Inf gives a number and not NaN.
TEST_F(HandBroken, SiluClampsItsExponential) {
  const auto options =
      With("silu_mul.ptx", "(add\\.rn\\.f32 \t%f\\d+, %f\\d+, )(%f\\d+);\n([^]*?div)",
           "min.f32 $2, $2, 0f7E000000; $1$2;\n$3");
  EXPECT_SAYS(Breach(options, "inf-times-zero"), "SiLU of NaN or -Inf");
}

TEST_F(HandBroken, OneRowTooManyIsGathered) {
  const auto options = With("moe_gather.ptx", "setp\\.ge(\\.s32 \t%p2)", "setp.gt$1");
  EXPECT_SAYS(Breach(options, "untouched-memory"), "permuted row");
}

TEST_F(HandBroken, SlotNumbersOf16Bits) {
  const auto options = With("moe_permute.ptx", "ld\\.shared\\.u32 \t(%r\\d+), ([^;]*);",
                            "ld.shared.u32 $1, $2; shl.b32 $1, $1, 16; shr.s32 $1, $1, 16;");
  EXPECT_SAYS(FirstFinding(options, [](const Case& c) { return c.shape.slots() > 32768; }),
              "moe_permute");
  EXPECT_EQ(FirstFinding(options, [](const Case& c) { return c.path == Path::kM1; }), "");
}

}  // namespace
}  // namespace voltcheck::properties
