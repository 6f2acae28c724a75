// Explanations of single elements: honest kernels, a planted fault, what is written of them.
#include "verify/explain/explain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/generate.h"
#include "kernels/kernel_set.h"
#include "verify/explain/write.h"

namespace voltcheck::explain {
namespace {

using verify::Stage;

constexpr const char* kCase =
    "h=128,i=64,e=4,k=2,g=32,t=3,w13=16x128x32/2,w2=16x128x32/1,head=40,seed=3";

const Problem& TheProblem() {
  static const Problem kProblem = fixtures::Generate(ParseDescriptor(kCase));
  return kProblem;
}

ExplainOptions Options() {
  ExplainOptions options;
  options.device_steps = 4;
  return options;
}

void ExpectWithin80Columns(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Explain, HonestKernelsFollowTheModelInEveryStage) {
  for (const Stage stage : verify::kStages) {
    SCOPED_TRACE(std::string(verify::ToString(stage)));
    const Explanation e = Explain(TheProblem(), stage, 1, 17, Options());
    ASSERT_TRUE(e.result.device && e.result.model && e.budget);
    EXPECT_EQ(*e.result.device, *e.result.model);
    EXPECT_EQ(e.departure, -1);
    EXPECT_FALSE(e.steps.empty());
    EXPECT_FALSE(e.routes.empty());
    EXPECT_LE(std::abs(*e.result.device - e.result.fp64), *e.budget);
    EXPECT_LE(std::abs(e.result.fp32 - e.result.fp64), 1e-2 * (1 + std::abs(e.result.fp64)));
    const std::string text = ToText(e);
    ExpectWithin80Columns(text);
    EXPECT_NE(text.find("to the last bit"), std::string::npos) << text;
  }
}

TEST(Explain, WhatEntersIsThePackedWeights) {
  const Explanation e = Explain(TheProblem(), Stage::kW13, 2, 9, Options());
  ASSERT_EQ(e.factors.size(), 128U);
  ASSERT_EQ(e.steps.size(), 32U);
  double sum = 0;
  for (const Factor& f : e.factors) {
    // Within the two roundings to half of the contract.
    const double ideal = (f.nibble - f.zero) * f.scale;
    EXPECT_NEAR(f.weight, ideal, 15 * f.scale * 0x1p-10);
    EXPECT_EQ(f.group, f.k / 32);
    EXPECT_EQ(f.word, 1);
    EXPECT_EQ(f.place, 4) << "column 1 of a word is its fifth nibble";
    sum += f.activation * f.weight;
  }
  EXPECT_NEAR(e.steps.back().sum.fp64, sum, 1e-12);
  EXPECT_EQ(e.steps[15].split, 0);
  EXPECT_EQ(e.steps[16].split, 1);
  ASSERT_TRUE(e.steps[15].sum.device) << "the end of a split is always asked";
  EXPECT_EQ(e.steps[15].sum.device, e.steps[15].model_half);
  const RowRoute& r = e.routes.at(0);
  EXPECT_EQ(r.token, r.slot / 2);
  EXPECT_EQ(TheProblem().topk_ids[static_cast<std::size_t>(r.slot)], r.expert);
  EXPECT_GE(r.row, r.segment_begin);
  EXPECT_LT(r.row, r.segment_end);
}

// The built-in kernels with a change to the module of the tile.
ExplainOptions Broken(const std::function<void(std::string& ptx)>& edit) {
  ExplainOptions options = Options();
  for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
    if (image.ptx.find(".entry grouped_gemm_16x128x32_g32_4b(") == std::string::npos) {
      continue;
    }
    kernels::ModuleImage broken{"broken.ptx", image.ptx, {}};
    edit(broken.ptx);
    options.device.overrides.push_back(broken);
  }
  EXPECT_EQ(options.device.overrides.size(), 1U);
  return options;
}

TEST(Explain, AMissingStepOfAHandBrokenKernelIsShown) {
  const ExplainOptions broken = Broken([](std::string& ptx) {
    const std::size_t at = ptx.find("\tmma.sync.");
    ptx.erase(at, ptx.find('\n', at) - at);
  });
  bool found = false;
  for (int col = 0; col < 64 && !found; col += 5) {
    const Explanation e = Explain(TheProblem(), Stage::kW13, 0, col, broken);
    if (*e.result.device == *e.result.model) {
      continue;  // the instruction does not reach this column
    }
    found = true;
    ASSERT_GE(e.departure, 0);
    const Step& step = e.steps[static_cast<std::size_t>(e.departure)];
    EXPECT_TRUE(step.differs);
    const std::string text = ToText(e);
    ExpectWithin80Columns(text);
    EXPECT_NE(text.find("they part at " + step.label), std::string::npos) << text;
    EXPECT_NE(text.find("what enters there"), std::string::npos);
    // Later stages inherit the fault, but follow the model on their own input.
    const Explanation silu = Explain(TheProblem(), Stage::kSilu, 0, 3, broken);
    EXPECT_EQ(silu.departure, -1);
  }
  EXPECT_TRUE(found);
}

TEST(Explain, AnErrorThatComesAndGoesIsToldWhereItFirstShows) {
  const ExplainOptions broken = Broken([](std::string& ptx) {
    const std::string nearest = "cvt.rn.f16.f32";
    for (std::size_t at = ptx.find(nearest); at != std::string::npos; at = ptx.find(nearest, at)) {
      ptx.replace(at, nearest.size(), "cvt.rz.f16.f32");
    }
  });
  int told = 0;
  for (int col = 0; col < 64; col += 3) {
    const Explanation e = Explain(TheProblem(), Stage::kW13, 0, col, broken);
    if (*e.result.device == *e.result.model) {
      continue;
    }
    ++told;
    ASSERT_GE(e.departure, 0);
    EXPECT_TRUE(e.steps[static_cast<std::size_t>(e.departure)].differs);
    for (int i = 0; i < e.departure; ++i) {
      EXPECT_FALSE(e.steps[static_cast<std::size_t>(i)].differs) << "column " << col;
    }
  }
  EXPECT_GT(told, 3);
}

TEST(Explain, ElementsOutsideAndStagesThatDidNotRun) {
  EXPECT_THROW(Explain(TheProblem(), Stage::kW13, 6, 0, Options()), Error);
  EXPECT_THROW(Explain(TheProblem(), Stage::kOutput, 0, 128, Options()), Error);
  const Problem w13 =
      fixtures::Generate(ParseDescriptor("h=64,i=32,e=4,k=2,g=32,t=2,w13=16x128x32/1,stage=w13"));
  EXPECT_THROW(Explain(w13, Stage::kW2, 0, 0, Options()), Error);
  EXPECT_THROW(Explain(w13, Stage::kLogits, 0, 0, Options()), Error);
}

TEST(Write, JsonAndPageHoldEverything) {
  const Explanation e = Explain(TheProblem(), Stage::kOutput, 2, 5, Options());
  const nlohmann::json json = nlohmann::json::parse(ToJson(e));
  EXPECT_EQ(json["schema"], "voltcheck.explain/1");
  EXPECT_EQ(json["steps"].size(), e.steps.size());
  EXPECT_EQ(json["routes"].size(), 2U);
  EXPECT_EQ(json["result"]["device"], *e.result.device);
  EXPECT_TRUE(json["departure"].is_null());
  const std::string page = ToHtml(e);
  EXPECT_NE(page.find("<canvas id=\"sums\""), std::string::npos);
  EXPECT_NE(page.find("Chart"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos) << "nothing is fetched";
}

TEST(WorstElement, ADifferenceInBitsComesFirst) {
  verify::StageRecord record;
  record.own.max_abs.row = 3;
  record.own.max_abs.col = 4;
  EXPECT_EQ(WorstElement(record), std::pair(3, 4));
  record.bits_differing = 1;
  record.first_difference.row = 1;
  record.first_difference.col = 2;
  EXPECT_EQ(WorstElement(record), std::pair(1, 2));
}

}  // namespace
}  // namespace voltcheck::explain
