#ifndef VOLTCHECK_TESTS_FUZZ_REQUIRE_H_
#define VOLTCHECK_TESTS_FUZZ_REQUIRE_H_

#include <cstdlib>
#include <string>

#include "fixtures/case/error.h"

namespace voltcheck::fuzz {

/// Aborts, which a fuzzer reports, when a promise is broken.
inline void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Runs `read`, which may throw Error with status 2 and one line that begins with `prefix`, and
/// nothing else.
template <typename Read>
void ReadsOrRefuses(const std::string& prefix, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string line = error.what();
    Require(error.status() == ExitStatus::kBadInput);
    Require(line.rfind(prefix, 0) == 0);
    for (const char c : line) {
      Require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    }
  }
}

}  // namespace voltcheck::fuzz

#endif  // VOLTCHECK_TESTS_FUZZ_REQUIRE_H_
