#include "kernels/simulator/program/matrix_pairs.h"

#include <algorithm>
#include <span>

#include "kernels/simulator/exec/registry.h"

namespace voltcheck::simulator {
namespace {

// Rows in the pool: D, A, B, C.
constexpr std::size_t kAccumulators = 8;
constexpr std::size_t kFactors = 4;

std::span<const Ref> Accumulators(const Program& program, const Instr& instr) {
  return {program.pool.data() + instr.aux, kAccumulators};
}
std::span<const Ref> Factors(const Program& program, const Instr& instr) {
  return {program.pool.data() + instr.aux + kAccumulators, kFactors};
}

bool IsInPlace(const Program& program, const Instr& instr) {
  const auto d = Accumulators(program, instr);
  return std::equal(d.begin(), d.end(), d.data() + kAccumulators + kFactors);
}

bool Has(std::span<const Ref> rows, Ref row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

bool AreDistinct(std::span<const Ref> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (Has(rows.first(i), rows[i])) {
      return false;
    }
  }
  return true;
}

/// `mma` is the handler of the instructions in question.
bool MayPair(const Program& program, const Instr& first, const Instr& second, Handler mma) {
  const auto is_candidate = [&](const Instr& instr) {
    return instr.handler[1] == mma && instr.guard == kTrue && IsInPlace(program, instr);
  };
  if (!is_candidate(first) || !is_candidate(second) || first.imm != second.imm) {
    return false;
  }
  const auto d = Accumulators(program, first);
  const auto same = Accumulators(program, second);
  const auto untouched = [&](std::span<const Ref> rows) {
    return std::none_of(rows.begin(), rows.end(), [&](Ref row) { return Has(d, row); });
  };
  return std::equal(d.begin(), d.end(), same.begin()) && AreDistinct(d) &&
         untouched(Factors(program, first)) && untouched(Factors(program, second));
}

}  // namespace

void PairMatrixInstructions(Program& program, const FlowGraph& graph) {
  const OpRegistry& registry = OpRegistry::Get();
  const Handler mma = registry.Find("@mma.m8n8k4.f32.f32")->full;
  const Handler first = registry.Find("@mma.first")->full;
  const Handler second = registry.Find("@mma.second")->full;
  for (const FlowBlock& block : graph.blocks) {
    for (std::uint32_t pc = block.begin; pc + 1 < block.end; ++pc) {
      if (MayPair(program, program.code[pc], program.code[pc + 1], mma)) {
        program.code[pc].handler[1] = first;
        program.code[++pc].handler[1] = second;
      }
    }
  }
}

}  // namespace voltcheck::simulator
