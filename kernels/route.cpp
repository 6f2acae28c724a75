#include "kernels/route.h"

namespace voltcheck::kernels {
namespace {

constexpr LayerContract kContract{};  // the one shape that the narrow routes are made for
constexpr int kGroup = 32;
constexpr int kGroupedMinTokens = 2;
constexpr int kGroupedMaxTokens = 8;
constexpr int kIndexedMinTokens = 128;

bool HasContractShape(const LayerContract& layer) {
  return layer.tensor_parallel == kContract.tensor_parallel && layer.experts == kContract.experts &&
         layer.hidden == kContract.hidden && layer.intermediate == kContract.intermediate;
}

}  // namespace

int EffectiveGroup(const LayerContract& layer) {
  int group = layer.checkpoint_group;
  while (group >= kGroup && (layer.hidden % group != 0 || layer.intermediate % group != 0)) {
    group /= 2;
  }
  return group >= kGroup ? group : 0;
}

std::string ToString(Route route) {
  switch (route) {
    case Route::kSingleToken:
      return "single-token";
    case Route::kIndexedPrefill:
      return "indexed-prefill";
    case Route::kGroupedDecode:
      return "grouped-decode";
    case Route::kPerExpert:
      return "per-expert";
    case Route::kDense:
      return "dense";
  }
  return "";
}

bool IsGroupedDecodeLayer(const LayerContract& layer, const Switches& switches) {
  return switches.grouped_decode && HasContractShape(layer) && EffectiveGroup(layer) == kGroup;
}

bool AdmitsGroupedDecode(const LayerContract& layer, int tokens, const Switches& switches) {
  return IsGroupedDecodeLayer(layer, switches) && switches.batched_gemm &&
         tokens >= kGroupedMinTokens && tokens <= kGroupedMaxTokens &&
         layer.top_k == kContract.top_k && !switches.single_token_dense_w13 && !switches.exact_w2 &&
         !switches.active_exact_w2;
}

bool OperatorAdmitsGrouped(int slots, int k, int n, int group, const Switches& switches) {
  const int top_k = kContract.top_k;
  const bool w13 = k == kContract.hidden && n == 2 * kContract.intermediate;
  const bool w2 = k == kContract.intermediate && n == kContract.hidden;
  return switches.grouped_decode && !switches.exact_w2 && group == kGroup &&
         slots >= kGroupedMinTokens * top_k && slots <= kGroupedMaxTokens * top_k &&
         slots % top_k == 0 && (w13 || w2);
}

bool AdmitsIndexedPrefill(const LayerContract& layer, int tokens, const Switches& switches) {
  return switches.indexed_prefill && HasContractShape(layer) && layer.checkpoint_group == kGroup &&
         layer.top_k == kContract.top_k && tokens >= kIndexedMinTokens;
}

Route RouteFor(const LayerContract& layer, int tokens, const Switches& switches) {
  if (tokens == 1) {
    return Route::kSingleToken;
  }
  if (AdmitsIndexedPrefill(layer, tokens, switches)) {
    return Route::kIndexedPrefill;
  }
  if (AdmitsGroupedDecode(layer, tokens, switches)) {
    return Route::kGroupedDecode;
  }
  return switches.batched_gemm ? Route::kPerExpert : Route::kDense;
}

Path PathOf(Route route) {
  switch (route) {
    case Route::kSingleToken:
      return Path::kM1;
    case Route::kIndexedPrefill:
      return Path::kIndexed;
    case Route::kGroupedDecode:
      return Path::kOffset;
    case Route::kPerExpert:
      return Path::kSegment;
    case Route::kDense:
      break;
  }
  return Path::kDense;
}

std::vector<int> GroupedDecodeWarmup(const LayerContract& layer, const Switches& switches) {
  std::vector<int> tokens;
  for (int t = kGroupedMinTokens; t <= kGroupedMaxTokens; ++t) {
    if (AdmitsGroupedDecode(layer, t, switches)) {
      tokens.push_back(t);
    }
  }
  return tokens;
}

}  // namespace voltcheck::kernels
