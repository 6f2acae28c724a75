#include "verify/properties/property.h"

#include <array>

#include "fixtures/case/error.h"
#include "verify/filter.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"

namespace voltcheck::properties {
namespace {

bool Always(const Case&) { return true; }
bool HasTokens(const Case& c) { return c.shape.tokens > 1; }
bool IsNotM1(const Case& c) { return c.path != Path::kM1; }
bool CanShuffle(const Case& c) { return c.path != Path::kDense; }
bool HasExperts(const Case& c) { return c.shape.experts > 1; }
bool HasSegments(const Case& c) { return c.path != Path::kM1 && c.path != Path::kDense; }
bool HasRoutes(const Case& c) { return c.shape.top_k > 1; }
/// Other routes of the same case can be generated, with the weights that the case has.
bool IsGenerated(const Case& c) { return c.data != Data::kFixture; }
/// At most this many experts can be used, so that their spread weights fit any address space.
bool HasTiles(const Case& c) {
  constexpr int kMostExperts = 16;
  return c.shape.experts <= kMostExperts && (c.w13_n() > 64 || c.w2_n() > 64);
}

constexpr std::array<Property, 25> kProperties{{
    {"token-permutation", "another order of the tokens gives each token the same bits", HasTokens,
     TokenPermutation},
    {"slot-layout", "where a slot lies in memory, sorted or not, changes no bit", CanShuffle,
     SlotLayouts},
    {"expert-relabelling", "other numbers for the experts change no bit", HasExperts,
     ExpertRelabelling},
    {"token-alone", "a token alone has the bits that it has in a batch, for the same tactic",
     HasTokens, TokenAlone},
    {"segment-split",
     "a segment cut into several ones, empty ones between them, gives the same bits", HasSegments,
     SegmentSplit},
    {"paths-agree",
     "segment loop, offset schedule, gathered rows and dense loop give the same bits", IsNotM1,
     PathsAgree},
    {"column-layouts", "interleaved and halved gate and up columns give the same bits", IsNotM1,
     ColumnLayouts},
    {"metadata-forms", "3-byte and 4-byte metadata give the same bits", Always, MetadataForms},
    {"duplicate-slots", "an expert named twice adds what it adds named once with both weights",
     HasRoutes, DuplicateSlotsAdd},
    {"zero-weight", "a route of weight 0 with a finite row adds nothing", Always,
     ZeroWeightAddsNothing},
    {"linear-weights", "the output is linear in the router weights", Always, LinearInWeights},
    {"activation-scaling", "a GEMM's input times 2^j gives its output times 2^j", Always,
     ActivationScaling},
    {"unused-experts", "experts that nobody routed to may hold NaN", Always, UnusedExperts},
    {"untouched-memory",
     "rows that are not computed and bytes around every buffer stay as they are", Always,
     UntouchedMemory},
    {"inputs-unchanged",
     "inputs stay as they are, all but the two index buffers declared as written", Always,
     InputsUnchanged},
    {"poison", "what outputs and workspaces hold before changes no bit", Always,
     PoisonChangesNothing},
    {"repeats", "20 runs on the same buffers give the same bits", Always, Repeats, true},
    {"schedules", "20 orders of CTAs, warps and lanes give the same bits", Always, Schedules, true,
     true},
    {"back-to-back", "a batch after another one on the same buffers gives the bits of a fresh run",
     IsGenerated, BackToBack},
    {"replay-routes", "launches captured for one routing give another routing its own bits",
     IsGenerated, ReplayOtherRoutes},
    {"nan-token", "a NaN activation makes all of its token NaN and no other token", Always,
     NanStaysWithItsToken},
    {"inf-times-zero",
     "an Inf activation gives NaN where its weight is 0, else the Inf of its sign", IsNotM1,
     InfTimesZero},
    {"zero-weight-nan", "a router weight of 0 does not hide a NaN row", Always, ZeroWeightKeepsNan},
    {"far-rows", "row numbers whose elements lie beyond 2^31 find the same rows", Always, FarRows,
     false, false, true},
    {"far-weight-tiles", "weight tiles more than 2^31 words apart are found", HasTiles,
     FarWeightTiles, false, true, true},
}};

/// Whether kernels that choose their order by the case choose the same for one token.
bool AddsTheSameAlone(const Case& c, const kernels::Implementation& foreign) {
  Case alone = c;
  alone.shape.tokens = 1;
  for (const kernels::Part part : {kernels::Part::kW13, kernels::Part::kW2}) {
    const DeclaredOrder order = foreign.OrderOf(c, part);
    if (foreign.Computes(part) &&
        (order.kind == DeclaredOrder::Kind::kUndeclared || order != foreign.OrderOf(alone, part))) {
      return false;
    }
  }
  return true;
}

/// Why the property is not asked; empty when it is.
std::string WhyNotAsked(const Property& property, const Case& c, Bench& bench) {
  if (!AppliesTo(property, c)) {
    return "says nothing about cases of this kind";
  }
  if (property.simulator_only && !bench.IsSimulator()) {
    return "needs the simulator";
  }
  const kernels::Implementation* foreign = bench.implementation();
  if (foreign != nullptr && property.built_in_only) {
    return "needs the built-in kernels' arguments";
  }
  if (foreign != nullptr && property.check == TokenAlone && !AddsTheSameAlone(c, *foreign)) {
    return "the kernels do not say that they add in the same order for one token";
  }
  return "";
}

}  // namespace

std::span<const Property> Properties() { return kProperties; }

const Property& FindProperty(std::string_view name) {
  std::string names;
  for (const Property& property : Properties()) {
    if (property.name == name) {
      return property;
    }
    names.append(names.empty() ? "" : ", ").append(property.name);
  }
  throw BadInput("property " + Quote(name), "no such property", "choose from " + names);
}

bool AppliesTo(const Property& property, const Case& c) {
  const bool has_plan = c.routing.kind != RoutingKind::kInvalid || c.path == Path::kM1;
  return c.stage == StageSelection::kAll && has_plan && property.applies(c);
}

PropertyResult CheckProperty(const Property& property, const Problem& problem, Bench& bench) {
  PropertyResult result;
  const std::string why = WhyNotAsked(property, problem.c, bench);
  if (!why.empty()) {
    result.holding = Holding::kNotApplicable;
    result.reason = why;
    return result;
  }
  try {
    property.check(problem, bench);
  } catch (const Breach& breach) {
    result = {Holding::kBroken, breach.reason, breach.tensor, breach.row,
              breach.col,       breach.got,    breach.want};
  } catch (const NothingToCompare& nothing) {
    result.holding = Holding::kNotApplicable;
    result.reason = nothing.reason;
  } catch (const kernels::Declined& declined) {
    result.holding = Holding::kNotApplicable;
    result.reason = verify::kDeclinedPrefix + std::string(declined.what());
  }
  return result;
}

}  // namespace voltcheck::properties
