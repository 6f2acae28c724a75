#ifndef VOLTCHECK_KERNELS_SWITCHES_H_
#define VOLTCHECK_KERNELS_SWITCHES_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace voltcheck::kernels {

/// The environment switches of the operator family that decide about routes. They are read once, at
/// start, and passed on as values: nothing below reads the environment, so the layer's gate and the
/// operator's gate cannot see different ones.
struct Switches {
  /// VLLM_SM70_AWQ_QWEN38_MOE_COMPACT_GROUPED_DECODE, the rollback switch of the grouped decode.
  bool grouped_decode = true;
  /// VLLM_SM70_AWQ_QWEN38_MOE_INDEXED_PREFILL.
  bool indexed_prefill = true;
  /// VLLM_SM70_AWQ_MOE_BATCHED_GEMM: whether GEMMs over several experts are allowed at all.
  bool batched_gemm = true;
  /// VLLM_SM70_AWQ_MOE_BATCHED_SINGLE_TOKEN_DENSE_W13, _EXACT_W2, _ACTIVE_EXACT_W2: experiments,
  /// each of which rules the grouped decode out.
  bool single_token_dense_w13 = false;
  bool exact_w2 = false;
  bool active_exact_w2 = false;
  bool operator==(const Switches&) const = default;
};

/// What a switch says. One table for every reader:
///
///   unset, empty              the default
///   0, 00, ... , false        off
///   any other number, true    on
///
/// Anything else throws Error (status 2): upstream one reader takes it for off and the other one
/// stops.
bool SwitchValue(std::string_view name, const std::optional<std::string>& text, bool by_default);

/// Reads all of them; `lookup` gives a variable's text, or nothing when it is unset.
Switches ReadSwitches(const std::function<std::optional<std::string>(std::string_view)>& lookup);

/// The same from the process's environment. For `main` alone.
Switches ReadSwitchesFromEnvironment();

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_SWITCHES_H_
