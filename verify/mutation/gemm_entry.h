#ifndef VOLTCHECK_VERIFY_MUTATION_GEMM_ENTRY_H_
#define VOLTCHECK_VERIFY_MUTATION_GEMM_ENTRY_H_

#include <optional>
#include <string>
#include <string_view>

#include "fixtures/case/tactic.h"

namespace voltcheck::mutation {

/// What the name of a GEMM's entry says: "grouped_gemm_8x128x64_g32_4b".
struct GemmEntryName {
  Tile tile{16, 128, 32};
  int group = 32;
  std::string metadata = "4b";
};

/// Nothing for any other name.
std::optional<GemmEntryName> ParseGemmEntry(std::string_view entry);

/// Whether `text` is `pattern`, in which each `*` stands for any text.
bool FitsPattern(std::string_view pattern, std::string_view text);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_GEMM_ENTRY_H_
