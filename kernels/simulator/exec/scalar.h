#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_SCALAR_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_SCALAR_H_

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/exec/registry.h"

namespace voltcheck::simulator {

/// An integer immediate operand (pattern letter i).
struct ImmediateOperand {
  std::int64_t value;
};

/// How a value of type T lies in a row: 8- and 16-bit integers zero-extended in 32-bit cells.
template <typename T>
struct Cell {
  using Type =
      std::conditional_t<sizeof(T) == 8, T, std::conditional_t<sizeof(T) == 4, T, std::uint32_t>>;
  static T Read(const Type* row, std::uint32_t lane) { return static_cast<T>(row[lane]); }
  static void Write(Type* row, std::uint32_t lane, T value) {
    if constexpr (sizeof(T) < 4) {
      row[lane] = static_cast<std::make_unsigned_t<T>>(value);
    } else {
      row[lane] = value;
    }
  }
};

template <typename T, std::size_t kOperand>
struct ScalarSource {
  const typename Cell<T>::Type* row;
  ScalarSource(const ExecContext& context, const Instr& instr)
      : row(context.Row<const typename Cell<T>::Type>(instr.op[kOperand])) {}
  T Get(std::uint32_t lane) const { return Cell<T>::Read(row, lane); }
};
template <std::size_t kOperand>
struct ScalarSource<bool, kOperand> {
  std::uint32_t bits;
  ScalarSource(const ExecContext& context, const Instr& instr)
      : bits(*context.Row<const std::uint32_t>(instr.op[kOperand])) {}
  bool Get(std::uint32_t lane) const { return (bits >> lane & 1) != 0; }
};
template <std::size_t kOperand>
struct ScalarSource<ImmediateOperand, kOperand> {
  std::int64_t value;
  ScalarSource(const ExecContext&, const Instr& instr) : value(instr.imm) {}
  ImmediateOperand Get(std::uint32_t) const { return {value}; }
};

template <auto kFunction, typename Signature>
struct ScalarOp;

template <auto kFunction, typename R, typename... A>
struct ScalarOp<kFunction, R (*)(A...)> {
  template <std::size_t... kIndex>
  static void Loop(ExecContext& context, const Instr& instr, std::index_sequence<kIndex...>) {
    const std::tuple<ScalarSource<A, kIndex + 1>...> sources(
        ScalarSource<A, kIndex + 1>(context, instr)...);
    const std::uint32_t mask = context.mask;
    if constexpr (std::is_same_v<R, bool>) {
      std::uint32_t bits = 0;
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        if ((mask >> lane & 1) != 0) {
          bits |= static_cast<std::uint32_t>(kFunction(std::get<kIndex>(sources).Get(lane)...))
                  << lane;
        }
      }
      std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
      *out = (*out & ~mask) | bits;
    } else {
      auto* out = context.Row<typename Cell<R>::Type>(instr.op[0]);
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        if ((mask >> lane & 1) != 0) {
          Cell<R>::Write(out, lane, kFunction(std::get<kIndex>(sources).Get(lane)...));
        }
      }
    }
  }
  static void Run(ExecContext& context, const Instr& instr) {
    Loop(context, instr, std::make_index_sequence<sizeof...(A)>());
  }
};

/// An instruction given by what it does to one lane: R f(A...). Operands are rows of the argument
/// types (bool: predicates), op[0] the result.
template <auto kFunction>
OpEntry ScalarEntry(std::string key, std::string pattern) {
  const Handler handler = ScalarOp<kFunction, decltype(kFunction)>::Run;
  return {std::move(key), std::move(pattern), handler, handler};
}

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_SCALAR_H_
