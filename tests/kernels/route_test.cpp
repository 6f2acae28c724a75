#include "kernels/route.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "fixtures/case/error.h"
#include "kernels/autotune.h"
#include "kernels/plan.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

constexpr const char* kRollback = "VLLM_SM70_AWQ_QWEN38_MOE_COMPACT_GROUPED_DECODE";

Switches WithVariable(const std::string& name, const std::optional<std::string>& text) {
  return ReadSwitches([&](std::string_view asked) -> std::optional<std::string> {
    return asked == name ? text : std::nullopt;
  });
}

TEST(SwitchTable, IsOneForEveryReader) {
  const std::map<std::string, bool> table{{"", true},  {"0", false},     {"00", false}, {"1", true},
                                          {"2", true}, {"false", false}, {"true", true}};
  EXPECT_TRUE(WithVariable(kRollback, std::nullopt).grouped_decode);
  for (const auto& [text, on] : table) {
    const Switches switches = WithVariable(kRollback, text);
    EXPECT_EQ(switches.grouped_decode, on) << '"' << text << '"';
    // Both gates see the same value.
    EXPECT_EQ(AdmitsGroupedDecode({}, 4, switches), on) << '"' << text << '"';
    EXPECT_EQ(OperatorAdmitsGrouped(40, 2560, 320, 32, switches), on) << '"' << text << '"';
    EXPECT_EQ(OperatorAdmitsGrouped(40, 160, 2560, 32, switches), on) << '"' << text << '"';
  }
}

TEST(SwitchTable, RefusesWhatReadersWouldTakeDifferently) {
  for (const char* text : {"off", "no", "-", "0x1", " 1", "1 ", "False"}) {
    try {
      WithVariable(kRollback, text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kBadInput);
      EXPECT_NE(std::string(error.what()).find(kRollback), std::string::npos);
    }
  }
}

TEST(SwitchTable, EveryVariableHasItsSwitch) {
  EXPECT_FALSE(WithVariable("VLLM_SM70_AWQ_QWEN38_MOE_INDEXED_PREFILL", "0").indexed_prefill);
  EXPECT_FALSE(WithVariable("VLLM_SM70_AWQ_MOE_BATCHED_GEMM", "0").batched_gemm);
  EXPECT_TRUE(
      WithVariable("VLLM_SM70_AWQ_MOE_BATCHED_SINGLE_TOKEN_DENSE_W13", "1").single_token_dense_w13);
  EXPECT_TRUE(WithVariable("VLLM_SM70_AWQ_MOE_BATCHED_EXACT_W2", "1").exact_w2);
  EXPECT_TRUE(WithVariable("VLLM_SM70_AWQ_MOE_BATCHED_ACTIVE_EXACT_W2", "1").active_exact_w2);
}

TEST(RouteFor, TheContractsLayerAtTheBoundaries) {
  const std::map<int, Route> routes{{1, Route::kSingleToken},   {2, Route::kGroupedDecode},
                                    {8, Route::kGroupedDecode}, {9, Route::kPerExpert},
                                    {127, Route::kPerExpert},   {128, Route::kIndexedPrefill}};
  for (const auto& [tokens, route] : routes) {
    EXPECT_EQ(RouteFor({}, tokens, {}), route)
        << tokens << " tokens: " << ToString(RouteFor({}, tokens, {}));
  }
}

TEST(RouteFor, RollbackRestoresTheOldRouteOnBothGates) {
  const Switches off = WithVariable(kRollback, "0");
  for (const int tokens : {1, 2, 8, 9, 127, 128}) {
    EXPECT_FALSE(AdmitsGroupedDecode({}, tokens, off));
    EXPECT_FALSE(OperatorAdmitsGrouped(10 * tokens, 2560, 320, 32, off));
    EXPECT_FALSE(OperatorAdmitsGrouped(10 * tokens, 160, 2560, 32, off));
    const Route expected = tokens == 1     ? Route::kSingleToken
                           : tokens == 128 ? Route::kIndexedPrefill
                                           : Route::kPerExpert;
    EXPECT_EQ(RouteFor({}, tokens, off), expected) << tokens;
  }
  EXPECT_TRUE(GroupedDecodeWarmup({}, off).empty());
}

TEST(RouteFor, UnmatchedContractsKeepTheirRoute) {
  std::vector<LayerContract> others(8);
  others[0].tensor_parallel = 2;
  others[1].experts = 256;
  others[2].top_k = 8;
  others[3].hidden = 2048;
  others[4].intermediate = 128;
  others[5].checkpoint_group = 16;
  others[6].hidden = 2592;
  others[7].top_k = 11;
  for (const LayerContract& layer : others) {
    for (const int tokens : {2, 8, 9, 127, 128}) {
      EXPECT_EQ(RouteFor(layer, tokens, {}), Route::kPerExpert);
    }
    EXPECT_EQ(RouteFor(layer, 1, {}), Route::kSingleToken);
  }
  Switches loop;
  loop.batched_gemm = false;
  EXPECT_EQ(RouteFor({}, 4, loop), Route::kDense);
}

TEST(RouteFor, AnEffectiveGroupAdmitsDecodeButNotIndexedPrefill) {
  LayerContract layer;
  layer.checkpoint_group = 128;  // 160 is no multiple of 128 or 64
  EXPECT_EQ(EffectiveGroup(layer), 32);
  EXPECT_EQ(RouteFor(layer, 4, {}), Route::kGroupedDecode);
  EXPECT_EQ(RouteFor(layer, 128, {}), Route::kPerExpert);
  layer.intermediate = 128;
  EXPECT_EQ(EffectiveGroup(layer), 128);
  layer.intermediate = 80;
  EXPECT_EQ(EffectiveGroup(layer), 0);
}

rc::Gen<LayerContract> AnyLayer() {
  return rc::gen::build<LayerContract>(
      rc::gen::set(&LayerContract::tensor_parallel, rc::gen::element(4, 4, 4, 1, 2, 8)),
      rc::gen::set(&LayerContract::experts, rc::gen::element(512, 512, 512, 256, 513)),
      rc::gen::set(&LayerContract::top_k, rc::gen::element(10, 10, 10, 8, 1)),
      rc::gen::set(&LayerContract::hidden, rc::gen::element(2560, 2560, 2560, 2048, 2592)),
      rc::gen::set(&LayerContract::intermediate, rc::gen::element(160, 160, 160, 128, 320)),
      rc::gen::set(&LayerContract::checkpoint_group, rc::gen::element(32, 32, 64, 128, 16)));
}
rc::Gen<Switches> AnySwitches() {
  const auto mostly = [](bool usual) { return rc::gen::element(usual, usual, usual, !usual); };
  return rc::gen::build<Switches>(rc::gen::set(&Switches::grouped_decode, mostly(true)),
                                  rc::gen::set(&Switches::indexed_prefill, mostly(true)),
                                  rc::gen::set(&Switches::batched_gemm, mostly(true)),
                                  rc::gen::set(&Switches::single_token_dense_w13, mostly(false)),
                                  rc::gen::set(&Switches::exact_w2, mostly(false)),
                                  rc::gen::set(&Switches::active_exact_w2, mostly(false)));
}
rc::Gen<int> AnyTokens() { return rc::gen::element(1, 2, 3, 7, 8, 9, 64, 127, 128, 129, 4096); }

}  // namespace
}  // namespace voltcheck::kernels

namespace rc {
void showValue(const voltcheck::kernels::LayerContract& layer, std::ostream& os) {
  os << "tp=" << layer.tensor_parallel << " e=" << layer.experts << " k=" << layer.top_k
     << " h=" << layer.hidden << " i=" << layer.intermediate << " g=" << layer.checkpoint_group;
}
void showValue(const voltcheck::kernels::Switches& s, std::ostream& os) {
  os << "grouped=" << s.grouped_decode << " indexed=" << s.indexed_prefill
     << " batched=" << s.batched_gemm << " experiments=" << s.single_token_dense_w13 << s.exact_w2
     << s.active_exact_w2;
}
}  // namespace rc

namespace voltcheck::kernels {
namespace {

RC_GTEST_PROP(RouteProperty, DecodeAndPrefillNeverBothAdmit, ()) {
  const LayerContract layer = *AnyLayer();
  const Switches switches = *AnySwitches();
  const int tokens = *AnyTokens();
  RC_ASSERT(!(AdmitsGroupedDecode(layer, tokens, switches) &&
              AdmitsIndexedPrefill(layer, tokens, switches)));
}

RC_GTEST_PROP(RouteProperty, OneTokenKeepsItsRoute, ()) {
  RC_ASSERT(RouteFor(*AnyLayer(), 1, *AnySwitches()) == Route::kSingleToken);
}

RC_GTEST_PROP(RouteProperty, WhatTheLayerAdmitsTheOperatorAdmits, ()) {
  const LayerContract layer = *AnyLayer();
  const Switches switches = *AnySwitches();
  const int tokens = *AnyTokens();
  if (AdmitsGroupedDecode(layer, tokens, switches)) {
    const int slots = tokens * layer.top_k;
    const int group = EffectiveGroup(layer);
    RC_ASSERT(OperatorAdmitsGrouped(slots, layer.hidden, 2 * layer.intermediate, group, switches));
    RC_ASSERT(OperatorAdmitsGrouped(slots, layer.intermediate, layer.hidden, group, switches));
  }
}

RC_GTEST_PROP(RouteProperty, WarmupCoversExactlyWhatIsAdmitted, ()) {
  const LayerContract layer = *AnyLayer();
  const Switches switches = *AnySwitches();
  const std::vector<int> warmup = GroupedDecodeWarmup(layer, switches);
  for (int tokens = 1; tokens <= 130; ++tokens) {
    RC_ASSERT((std::find(warmup.begin(), warmup.end(), tokens) != warmup.end()) ==
              AdmitsGroupedDecode(layer, tokens, switches));
  }
}

RC_GTEST_PROP(RouteProperty, RollbackTouchesNothingElse, ()) {
  const LayerContract layer = *AnyLayer();
  Switches on = *AnySwitches();
  on.grouped_decode = true;
  Switches off = on;
  off.grouped_decode = false;
  const int tokens = *AnyTokens();
  const Route before = RouteFor(layer, tokens, off);
  RC_ASSERT(before != Route::kGroupedDecode);
  RC_ASSERT(RouteFor(layer, tokens, on) == Route::kGroupedDecode ||
            RouteFor(layer, tokens, on) == before);
}

// The warmup's plan, whose routing is made up, against the plans of real routings: the same
// launches.
TEST(Warmup, LaunchesExactlyWhatReplayLaunches) {
  const LayerContract layer{4, 512, 10, 2560, 160, 32};
  for (const int tokens : GroupedDecodeWarmup(layer, {})) {
    Case c;
    // Widths are cut down, since weights are of no interest here; everything that launches depend
    // on stays.
    c.shape = {64, 32, 16, layer.top_k, 32, tokens};
    c.path = PathOf(RouteFor(layer, tokens, {}));
    c.w13 = c.w2 = {{16, 128, 32}, 1};
    const std::vector<std::int32_t> made_up(static_cast<std::size_t>(c.shape.slots()), 0);
    const std::vector<PlanLaunch> warmup =
        MakePlan(testing::MakeProblem(c, made_up)).StageLaunches();
    for (const std::uint64_t seed : {1, 2, 3}) {
      c.seed = seed;
      EXPECT_EQ(MakePlan(testing::MakeProblem(c)).StageLaunches(), warmup) << tokens << " tokens";
    }
  }
}

// A measurement that prefers another tile for each M and group count.
Tactic Measured(const GemmRequest& request) {
  const std::span<const Tile> tiles = TilesForGroup(request.group);
  return {tiles[static_cast<std::size_t>(request.m + 3 * request.groups) % tiles.size()], 1};
}

const GemmRequest kDecode{20, 320, 2560, 32, 20};

TEST(Autotune, PitfallDefaultEntryStopsMeasuring) {
  TunerRules rules;
  rules.default_entry_stops_measuring = true;
  rules.capture_takes_default = true;
  const auto found = FindHistoryDependence(
      {{kDecode, CallMode::kEager}, {kDecode, CallMode::kCapture}}, rules, Measured);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].request, kDecode);
}

TEST(Autotune, PitfallReuseOfTheNextLargerM) {
  TunerRules rules;
  rules.reuse_next_larger_m = true;
  GemmRequest larger = kDecode;
  larger.m = 30;
  const auto found = FindHistoryDependence({{kDecode}, {larger}}, rules, Measured);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].request, kDecode);
  EXPECT_NE(Describe(found[0]).find("m20"), std::string::npos);
}

TEST(Autotune, PitfallCacheForgetsTheGroupCount) {
  TunerRules rules;
  rules.cache_forgets_groups = true;
  GemmRequest single = kDecode;
  single.groups = 1;
  EXPECT_EQ(FindHistoryDependence({{kDecode}, {single}}, rules, Measured).size(), 2U)
      << "whichever ran first decides for both";
}

TEST(Autotune, PitfallUnseenInCaptureTakesTheDefault) {
  TunerRules rules;
  rules.capture_takes_default = true;
  EXPECT_EQ(FindHistoryDependence({{kDecode, CallMode::kCapture}, {kDecode, CallMode::kEager}},
                                  rules, Measured)
                .size(),
            1U);
  // Without the pitfall the capture is refused instead.
  EXPECT_FALSE(ChooseTactic({kDecode, CallMode::kCapture}, {}, {}, Measured).tactic);
}

TEST(Autotune, OffMeansTheDefaultRuleWithoutState) {
  TunerRules rules = TunerRules::Upstream();
  rules.tune = false;
  const TunerChoice choice = ChooseTactic({kDecode}, rules, {}, Measured);
  EXPECT_EQ(choice.tactic, DefaultTactic(20, 2560, 320, 32));
  EXPECT_TRUE(choice.next.empty());
}

TEST(Autotune, RefusesTooManyCalls) {
  EXPECT_THROW(FindHistoryDependence(std::vector<TunerCall>(8), {}, Measured), Error);
}

RC_GTEST_PROP(AutotuneProperty, WarmupAndReplayChooseOneTacticInEveryOrder, ()) {
  const int count = *rc::gen::inRange(1, 6);
  std::vector<TunerCall> calls;
  for (int i = 0; i < count; ++i) {
    GemmRequest request = kDecode;
    request.m = *rc::gen::element(10, 20, 30, 80);
    request.groups = *rc::gen::element(1, request.m);
    calls.push_back({request, *rc::gen::element(CallMode::kEager, CallMode::kCapture)});
  }
  RC_ASSERT(FindHistoryDependence(calls, {}, Measured).empty());
}

}  // namespace
}  // namespace voltcheck::kernels
