// What a recipe comes to for a case.
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/temporary_folder.h"
#include "fixtures/generate.h"
#include "kernels/recipe/recipe.h"

namespace voltcheck::recipe {
namespace {

using kernels::BufferArgument;
using kernels::Plan;
using kernels::PlanLaunch;

Problem SmallProblem(const std::string& more = "") {
  return fixtures::Generate(ParseDescriptor("h=64,i=32,e=4,k=2,g=32,t=3" + more));
}

std::string StepText(const std::string& launches, const std::string& computes = "\"w13\"") {
  return R"({"schema": "voltcheck.recipe/1", "name": "t", "modules": ["a.ptx"],
    "buffers": [{"name": "scratch", "bytes": "8 * slots"}],
    "steps": [{"computes": [)" +
         computes + R"(], "launches": [)" + launches + "]}]}";
}

std::string LaunchText(const std::string& grid, const std::string& arguments,
                       const std::string& more = "") {
  return R"({"kernel": "f", "grid": )" + grid + R"(, "block": 32, "arguments": [)" + arguments +
         "]" + more + "}";
}

Plan PlanOf(const std::string& text, const Problem& problem) {
  return MakeRecipePlan(ReadRecipe("r.json", text), "r.json", problem);
}

std::vector<PlanLaunch> Foreign(const Plan& plan) {
  std::vector<PlanLaunch> launches;
  for (const PlanLaunch& launch : plan.launches) {
    if (launch.kernel == "a.ptx#f") {
      launches.push_back(launch);
    }
  }
  return launches;
}

TEST(RecipePlan, PutsTheLaunchesInThePlaceOfTheBuiltInOnes) {
  const Plan plan = PlanOf(StepText(LaunchText("[\"ceil(n / 48)\", \"slots\"]",
                                               "\"ptr:out\", \"ptr:weights + 4*n\", \"k\"")),
                           SmallProblem());
  const std::vector<PlanLaunch> launches = Foreign(plan);
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].stage, kernels::PlanStage::kW13);
  EXPECT_EQ(launches[0].grid, (kernels::Dim3{2, 6, 1}));
  EXPECT_EQ(std::get<BufferArgument>(launches[0].arguments[0]).buffer, "w13");
  EXPECT_EQ(std::get<BufferArgument>(launches[0].arguments[1]),
            (BufferArgument{"w13.qweight", 4 * 64}));
  EXPECT_EQ(std::get<std::int32_t>(launches[0].arguments[2]), 64);
  kernels::PlanStage last = kernels::PlanStage::kRepack;
  for (const PlanLaunch& launch : plan.launches) {
    EXPECT_NE(launch.stage == kernels::PlanStage::kW13, launch.kernel != "a.ptx#f");
    if (launch.kernel != "moe_gather") {
      EXPECT_GE(launch.stage, last);
      last = launch.stage;
    }
  }
  EXPECT_NE(plan.FindBuffer("scratch"), nullptr);
  EXPECT_NE(plan.FindBuffer("expert_slot"), nullptr);
}

TEST(RecipePlan, TensorsThatAFusedStepKeepsAreNotThere) {
  const std::string text = StepText(LaunchText("1", "\"ptr:input\", \"ptr:out\""),
                                    "\"w13\", \"silu\"], \"writes\": [\"silu\"");
  const Plan plan = PlanOf(text, SmallProblem());
  EXPECT_EQ(plan.FindBuffer("w13"), nullptr);
  ASSERT_EQ(Foreign(plan).size(), 1U);
  EXPECT_EQ(std::get<BufferArgument>(Foreign(plan)[0].arguments[0]).buffer, "permuted");
  EXPECT_EQ(std::get<BufferArgument>(Foreign(plan)[0].arguments[1]).buffer, "silu");
  EXPECT_THROW(PlanOf(text, SmallProblem(",stage=w13")), kernels::Declined);
}

TEST(RecipePlan, LoopsAndConditions) {
  const Plan plan =
      PlanOf(StepText(LaunchText("1", "\"e\"", R"(, "for": {"symbol": "e", "count": "experts"},
                                              "when": "e % 2 == 1")") +
                      "," + LaunchText("\"group - 32\"", "")),
             SmallProblem());
  const std::vector<PlanLaunch> launches = Foreign(plan);
  ASSERT_EQ(launches.size(), 2U);  // a grid of no block is no launch
  EXPECT_EQ(std::get<std::int32_t>(launches[0].arguments[0]), 1);
  EXPECT_EQ(std::get<std::int32_t>(launches[1].arguments[0]), 3);
}

TEST(RecipePlan, StructsAreLaidOutAsCDoes) {
  const Plan plan = PlanOf(
      StepText(LaunchText(
          "1", R"({"struct": ["u8:7", "ptr:input + 6", "u16:9", {"struct": ["k", "u8:1"]}]})")),
      SmallProblem());
  const auto argument = std::get<kernels::StructArgument>(Foreign(plan).at(0).arguments.at(0));
  struct Inner {
    std::int32_t k;
    std::uint8_t one;
  };
  struct Outer {
    std::uint8_t seven;
    const void* input;
    std::uint16_t nine;
    Inner inner;
  };
  ASSERT_EQ(argument.bytes.size(), sizeof(Outer));
  EXPECT_EQ(argument.bytes[0], std::byte{7});
  EXPECT_EQ(argument.bytes[offsetof(Outer, nine)], std::byte{9});
  EXPECT_EQ(argument.bytes[offsetof(Outer, inner)], std::byte{64});
  ASSERT_EQ(argument.pointers.size(), 1U);
  EXPECT_EQ(argument.pointers[0].offset, offsetof(Outer, input));
  EXPECT_EQ(argument.pointers[0].target, (BufferArgument{"permuted", 6}));
}

struct Bad {
  const char* launch;
  const char* why;
};
class BadPlans : public testing::TestWithParam<Bad> {};
TEST_P(BadPlans, AreContradictionsAndNoCasesToSkip) {
  try {
    PlanOf(StepText(GetParam().launch), SmallProblem());
    ADD_FAILURE();
  } catch (const kernels::Contradiction& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find(GetParam().why), std::string::npos) << line;
    EXPECT_EQ(line.rfind("r.json: /steps/0/launches/0", 0), 0U) << line;
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, BadPlans,
    testing::Values(
        Bad{R"({"kernel": "f", "grid": "m", "block": 32, "arguments": []})",
            "no value here for 'm'"},
        Bad{R"({"kernel": "f", "grid": "0 - 1", "block": 32, "arguments": []})", "not in 0.."},
        Bad{R"({"kernel": "f", "grid": 1, "block": 2048, "arguments": []})", "not in 1..1024"},
        Bad{R"({"kernel": "f", "grid": 1, "block": 1, "shared": 99999, "arguments": []})", "98304"},
        Bad{R"({"kernel": "f", "grid": 1, "block": 1, "arguments": ["ptr:w4"]})", "no buffer 'w4'"},
        Bad{R"({"kernel": "f", "grid": 1, "block": 1, "arguments": ["ptr:out + 99999999"]})",
            "not in 0.."},
        Bad{R"({"kernel": "f", "grid": 1, "block": 1, "arguments": ["4294967296"]})",
            "not in -2147"},
        Bad{R"({"kernel": "f", "grid": 1, "block": 1, "arguments": [],
                "for": {"symbol": "e", "count": "1000000"}})",
            "not in 0..65536"}));

TEST(RecipePlan, DeclinesWhatItsRequirementsLeaveOut) {
  std::string text = StepText(LaunchText("1", ""));
  text.insert(1, "\"requires\": [\"group == 64\"], ");
  EXPECT_THROW(PlanOf(text, SmallProblem()), kernels::Declined);
}

TEST(RecipeFiles, TheExampleLoadsAndDeclaresItsOrder) {
  const auto recipe = LoadRecipe(VOLTCHECK_RECIPE_EXAMPLE "/plain_wmma.json");
  const Problem problem = SmallProblem();
  EXPECT_TRUE(recipe->Computes(kernels::Part::kW13));
  EXPECT_FALSE(recipe->Computes(kernels::Part::kSilu));
  EXPECT_EQ(recipe->OrderOf(problem.c, kernels::Part::kW13).kind, DeclaredOrder::Kind::kMma);
  EXPECT_EQ(recipe->modules().size(), 1U);
  EXPECT_EQ(recipe->arguments().rfind(" --recipe plain_wmma.json@", 0), 0U);
}

TEST(RecipeFiles, MissingFilesAndEntriesAreNamed) {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const auto complaint = [&](const std::string& at) -> std::string {
    try {
      LoadRecipe(at);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(complaint(path).find("is no file"), std::string::npos);
  EXPECT_NE(complaint(folder.path().string()).find("is no file"), std::string::npos);
  std::ofstream(path) << StepText(LaunchText("1", ""));
  EXPECT_NE(complaint(path).find("a.ptx: is no file"), std::string::npos);
  std::ofstream(folder / "a.ptx") << ".version 6.0\n.target sm_70\n.visible .entry g() { ret; }\n";
  EXPECT_NE(complaint(path).find("a.ptx has no entry 'f'"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck::recipe
