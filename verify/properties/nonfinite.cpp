// NaN and Inf go where the arithmetic takes them, and nowhere else. The contract, which
// docs/properties.md states: 0 * NaN and 0 * Inf are NaN everywhere in the stage, in the GEMMs and
// in the reduction; nothing looks at a zero and skips it.
#include <cmath>

#include "reference/arith/half.h"
#include "reference/awq.h"
#include "reference/stage.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

constexpr std::uint16_t kNan = 0x7e00;
constexpr std::uint16_t kInfinity = 0x7c00;

bool IsNan(std::uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

/// One activation of one token, chosen by the case's seed.
struct Place {
  int token;
  int channel;
};
Place ChoosePlace(const Case& c) {
  const fixtures::CounterRandom random = ChoicesOf(c);
  return {static_cast<int>(random.Below(static_cast<std::uint64_t>(c.shape.tokens), 0)),
          static_cast<int>(random.Below(static_cast<std::uint64_t>(c.shape.hidden), 1))};
}

Problem WithActivation(const Problem& problem, const Place& place, std::uint16_t bits) {
  Problem changed = problem;
  changed.hidden[static_cast<std::size_t>(place.token) * problem.c.shape.hidden + place.channel] =
      bits;
  return changed;
}

/// The bits of all other tokens are those of `base`.
void ExpectOthersUnchanged(const StageRun& base, const StageRun& run, int token) {
  const Shape& shape = run.c.shape;
  std::vector<int> tokens;
  std::vector<int> slots;
  for (int t = 0; t < shape.tokens; ++t) {
    tokens.push_back(t == token ? -1 : t);
    for (int route = 0; route < shape.top_k; ++route) {
      slots.push_back(t == token ? -1 : t * shape.top_k + route);
    }
  }
  const std::string why = "the bits without the special value in token " + std::to_string(token);
  ExpectSameSlots(base, run, slots, why);
  ExpectSameTokens(base, run, tokens, why);
}

/// Every element of the token is NaN, in each stage, where it has rows at all.
void ExpectTokenNan(const StageRun& run, int token) {
  const Shape& shape = run.c.shape;
  const RowsBySlot rows(run);
  bool any = false;
  const auto expect = [](const char* tensor, const std::vector<std::uint16_t>& bits, int number,
                         int row, int cols) {
    for (int col = 0; col < cols && !bits.empty(); ++col) {
      const std::uint16_t got = bits[static_cast<std::size_t>(row) * cols + col];
      if (!IsNan(got)) {
        throw ElementBreach(tensor, number, col, got, kNan, "NaN times anything is NaN");
      }
    }
  };
  const std::vector<std::uint16_t> w13 = W13InCheckpointOrder(run);
  for (int slot = token * shape.top_k; slot < (token + 1) * shape.top_k; ++slot) {
    if (rows[slot] >= 0) {
      any = true;
      expect("w13", w13, slot, rows[slot], run.c.w13_n());
      expect("silu", run.out.silu, slot, rows[slot], shape.intermediate);
      expect("w2", run.out.w2, slot, rows[slot], shape.hidden);
    }
  }
  if (!any) {
    throw NothingToCompare{"no slot of the token is computed on this rank"};
  }
  expect("output", run.out.output, token, token, shape.hidden);
}

/// SiLU times up in a row whose gates and ups are all NaN or infinite: -Inf / (1 + exp(Inf)) is
/// NaN, so only a gate of +Inf and an up that is no NaN leave an Inf, of up's sign.
void ExpectSiluOfInfinities(const StageRun& run, const std::vector<std::uint16_t>& w13, int slot,
                            int row) {
  const int width = run.c.shape.intermediate;
  for (int col = 0; col < width && !run.out.silu.empty(); ++col) {
    const std::uint16_t* gate = &w13[static_cast<std::size_t>(row) * 2 * width + col];
    const std::uint16_t up = gate[width];
    const std::uint16_t got = run.out.silu[static_cast<std::size_t>(row) * width + col];
    const bool is_nan = *gate != kInfinity || IsNan(up);
    if (is_nan ? !IsNan(got) : got != up) {
      throw ElementBreach(
          "silu", slot, col, got, is_nan ? kNan : up,
          is_nan ? "SiLU of NaN or -Inf, or NaN times anything, is NaN" : "SiLU of Inf is Inf");
    }
  }
}

}  // namespace

void NanStaysWithItsToken(const Problem& problem, Bench& bench) {
  const Place place = ChoosePlace(problem.c);
  const StageRun run = bench.Run(WithActivation(problem, place, kNan));
  ExpectTokenNan(run, place.token);
  ExpectOthersUnchanged(bench.Run(problem), run, place.token);
}

void InfTimesZero(const Problem& problem, Bench& bench) {
  const Place place = ChoosePlace(problem.c);
  const StageRun run = bench.Run(WithActivation(problem, place, kInfinity));
  const Shape& shape = problem.c.shape;
  const RowsBySlot rows(run);
  const std::vector<std::uint16_t> w13 = W13InCheckpointOrder(run);
  bool any = false;
  for (int slot = place.token * shape.top_k; slot < (place.token + 1) * shape.top_k; ++slot) {
    if (rows[slot] < 0) {
      continue;
    }
    any = true;
    const int expert = problem.topk_ids[static_cast<std::size_t>(slot)];
    const AwqMatrix& m = reference::WeightsOf(problem, expert, reference::Gemm::kW13);
    const int group = place.channel / m.group;
    for (int col = 0; col < m.n; ++col) {
      const std::uint16_t weight =
          reference::ContractWeight(reference::AwqNibble(m.qweight.data(), m.n, place.channel, col),
                                    reference::AwqNibble(m.qzeros.data(), m.n, group, col),
                                    m.scales[static_cast<std::size_t>(group) * m.n + col]);
      const bool is_zero = (weight & 0x7fff) == 0;
      const std::uint16_t want =
          is_zero ? kNan : static_cast<std::uint16_t>(kInfinity | (weight & 0x8000));
      const std::uint16_t got = w13[static_cast<std::size_t>(rows[slot]) * m.n + col];
      if (is_zero ? !IsNan(got) : got != want) {
        throw ElementBreach("w13", slot, col, got, want,
                            is_zero ? "Inf times a weight of 0 is NaN"
                                    : "Inf times a weight of that sign, whatever is added to it");
      }
    }
    ExpectSiluOfInfinities(run, w13, slot, rows[slot]);
  }
  if (!any) {
    throw NothingToCompare{"no slot of the token is computed on this rank"};
  }
  ExpectOthersUnchanged(bench.Run(problem), run, place.token);
}

void ZeroWeightKeepsNan(const Problem& problem, Bench& bench) {
  const Place place = ChoosePlace(problem.c);
  Problem changed = WithActivation(problem, place, kNan);
  const auto top_k = static_cast<std::ptrdiff_t>(problem.c.shape.top_k);
  std::fill_n(changed.topk_weights.begin() + place.token * top_k, top_k, 0.0F);
  const StageRun run = bench.Run(changed);
  ExpectTokenNan(run, place.token);
  ExpectOthersUnchanged(bench.Run(problem), run, place.token);
}

}  // namespace voltcheck::properties
