#include "kernels/switches.h"

#include <algorithm>
#include <cstdlib>

#include "fixtures/case/error.h"

namespace voltcheck::kernels {

bool SwitchValue(std::string_view name, const std::optional<std::string>& text, bool by_default) {
  if (!text || text->empty()) {
    return by_default;
  }
  if (*text == "true" || *text == "false") {
    return *text == "true";
  }
  const bool number =
      std::all_of(text->begin(), text->end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) {
    throw BadInput(std::string(name) + "=" + *text, "is neither a number nor true or false",
                   "set it to 0 or 1");
  }
  return std::any_of(text->begin(), text->end(), [](char c) { return c != '0'; });
}

Switches ReadSwitches(const std::function<std::optional<std::string>(std::string_view)>& lookup) {
  Switches switches;
  const auto read = [&](std::string_view name, bool& value) {
    value = SwitchValue(name, lookup(name), value);
  };
  read("VLLM_SM70_AWQ_QWEN38_MOE_COMPACT_GROUPED_DECODE", switches.grouped_decode);
  read("VLLM_SM70_AWQ_QWEN38_MOE_INDEXED_PREFILL", switches.indexed_prefill);
  read("VLLM_SM70_AWQ_MOE_BATCHED_GEMM", switches.batched_gemm);
  read("VLLM_SM70_AWQ_MOE_BATCHED_SINGLE_TOKEN_DENSE_W13", switches.single_token_dense_w13);
  read("VLLM_SM70_AWQ_MOE_BATCHED_EXACT_W2", switches.exact_w2);
  read("VLLM_SM70_AWQ_MOE_BATCHED_ACTIVE_EXACT_W2", switches.active_exact_w2);
  return switches;
}

Switches ReadSwitchesFromEnvironment() {
  return ReadSwitches([](std::string_view name) -> std::optional<std::string> {
    const char* text = std::getenv(std::string(name).c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  });
}

}  // namespace voltcheck::kernels
