#ifndef VOLTCHECK_VERIFY_PROPERTY_RECORD_H_
#define VOLTCHECK_VERIFY_PROPERTY_RECORD_H_

#include <cstdint>
#include <string>

#include "verify/record.h"

namespace voltcheck::verify {

/// One property asked about one case (verify/properties): a row of `/properties` in the run file.
struct PropertyRecord {
  std::string property;     ///< its name
  std::string descriptor;   ///< the case; the smallest one that breaks it, when it is broken
  std::uint64_t seed = 0;   ///< of the draws; the descriptor alone reproduces the result
  std::uint64_t draw = 0;   ///< number of the draw, from 0
  bool regression = false;  ///< not drawn: from the file of counterexamples found earlier
  Verdict verdict = Verdict::kUntested;  ///< passed, failed or skipped
  std::string reason;                    ///< one line; empty when passed
  std::string reproduction;              ///< the command line that repeats it
  std::string drawn;  ///< failed: the descriptor as it was drawn, before it was made smaller
  std::uint64_t shrinks = 0;  ///< failed: smaller cases that broke it too, each from the last
  std::string tensor;         ///< failed: where; empty when that is no single element
  int row = -1;
  int col = -1;
  double got = 0;
  double want = 0;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_PROPERTY_RECORD_H_
