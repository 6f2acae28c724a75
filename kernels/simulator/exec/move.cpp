// Packing and unpacking, predicate logic, clocks, isspacep, activemask, fences.
#include "kernels/simulator/exec/observer.h"
#include "kernels/simulator/exec/scalar.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

/// Predicate logic: op[0] = f(op[1], op[2]) on whole masks.
template <typename F>
void PredicateMap(ExecContext& context, const Instr& instr) {
  const std::uint32_t a = *context.Row<const std::uint32_t>(instr.op[1]);
  const std::uint32_t b = *context.Row<const std::uint32_t>(instr.op[2]);
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  *out = (*out & ~context.mask) | (F::Run(a, b) & context.mask);
}
struct PredicateMove {
  static std::uint32_t Run(std::uint32_t a, std::uint32_t) { return a; }
};
struct PredicateNot {
  static std::uint32_t Run(std::uint32_t a, std::uint32_t) { return ~a; }
};
struct PredicateAnd {
  static std::uint32_t Run(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct PredicateOr {
  static std::uint32_t Run(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct PredicateXor {
  static std::uint32_t Run(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};
template <typename F>
OpEntry PredicateEntry(std::string key, std::string pattern) {
  return {std::move(key), std::move(pattern), PredicateMap<F>, PredicateMap<F>};
}

std::uint32_t Pack2x16(std::uint16_t a, std::uint16_t b) { return a | std::uint32_t{b} << 16; }
std::uint64_t Pack2x32(std::uint32_t a, std::uint32_t b) { return a | std::uint64_t{b} << 32; }
std::uint64_t Pack4x16(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
  return Pack2x32(Pack2x16(a, b), Pack2x16(c, d));
}

/// Splits op[kParts] into op[0], op[1], ...
template <typename Whole, typename Part, int kParts>
void Unpack(ExecContext& context, const Instr& instr) {
  const Whole* in = context.Row<const Whole>(instr.op[kParts]);
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) == 0) {
      continue;
    }
    const Whole value = in[lane];
    for (int part = 0; part < kParts; ++part) {
      context.Row<std::uint32_t>(instr.op[part])[lane] =
          static_cast<Part>(value >> (8 * sizeof(Part) * static_cast<unsigned>(part)));
    }
  }
}

void Clock(ExecContext& context, const Instr& instr) {
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  // Instructions before this one, and one: two readings never agree.
  const auto executed = context.clock + static_cast<std::uint64_t>(&instr - context.run) + 1;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) != 0) {
      out[lane] = executed;
    }
  }
}

void IsSpace(ExecContext& context, const Instr& instr) {
  const std::uint64_t* in = context.Row<const std::uint64_t>(instr.op[1]);
  const auto within = [](std::uint64_t address, std::uint64_t base) {
    return address - base < kWindowBytes;
  };
  std::uint32_t bits = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t address = in[lane];
    const bool shared = within(address, kSharedWindow);
    const bool local = within(address, kLocalWindow);
    const bool constant = within(address, kConstWindow);
    const bool param = within(address, kParamWindow);
    bool is = false;
    switch (static_cast<Space>(instr.imm)) {
      case Space::kShared:
        is = shared;
        break;
      case Space::kLocal:
        is = local;
        break;
      case Space::kConst:
        is = constant;
        break;
      case Space::kParam:
        is = param;
        break;
      default:
        is = !shared && !local && !constant && !param;
    }
    bits |= static_cast<std::uint32_t>(is) << lane;
  }
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  *out = (*out & ~context.mask) | (bits & context.mask);
}

void ActiveMask(ExecContext& context, const Instr& instr) {
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) != 0) {
      out[lane] = context.mask;
    }
  }
}

void Fence(ExecContext& context, const Instr& instr) {
  if (context.observer != nullptr) {
    context.observer->OnFence(context, instr);
  }
}

}  // namespace

void AppendMoveOps(OpList& list) {
  list.push_back(PredicateEntry<PredicateMove>("@mov.pred", "p=p"));
  list.push_back(PredicateEntry<PredicateNot>("not.pred", "p=p"));
  list.push_back(PredicateEntry<PredicateAnd>("and.pred", "p=pp"));
  list.push_back(PredicateEntry<PredicateOr>("or.pred", "p=pp"));
  list.push_back(PredicateEntry<PredicateXor>("xor.pred", "p=pp"));
  list.push_back(ScalarEntry<Pack2x16>("@pack.2x16", ""));
  list.push_back(ScalarEntry<Pack2x32>("@pack.2x32", ""));
  list.push_back(ScalarEntry<Pack4x16>("@pack.4x16", ""));
  const Handler halves = Unpack<std::uint32_t, std::uint16_t, 2>;
  const Handler words = Unpack<std::uint64_t, std::uint32_t, 2>;
  const Handler quarters = Unpack<std::uint64_t, std::uint16_t, 4>;
  list.push_back({"@unpack.2x16", "", halves, halves});
  list.push_back({"@unpack.2x32", "", words, words});
  list.push_back({"@unpack.4x16", "", quarters, quarters});
  list.push_back({"@clock", "", Clock, Clock});
  list.push_back({"@isspacep", "", IsSpace, IsSpace});
  list.push_back({"@activemask", "", ActiveMask, ActiveMask});
  list.push_back({"@fence", "", Fence, Fence});
}

}  // namespace voltcheck::simulator
