#ifndef VOLTCHECK_VERIFY_PROPERTIES_BREACH_H_
#define VOLTCHECK_VERIFY_PROPERTIES_BREACH_H_

#include <cstdint>
#include <string>
#include <utility>

namespace voltcheck::properties {

/// Thrown by whatever notices that a property does not hold; CheckProperty turns it into a result.
struct Breach {
  explicit Breach(std::string why, std::string where = "", int at_row = -1, int at_col = -1,
                  double is = 0, double should_be = 0)
      : reason(std::move(why)),
        tensor(std::move(where)),
        row(at_row),
        col(at_col),
        got(is),
        want(should_be) {}

  std::string reason;  ///< one phrase; the place and both values stand in it where there are any
  std::string tensor;  ///< "w13", "silu", "w2", "output", or empty: no single element
  int row = -1;        ///< slot (token * k + route) of a stage's tensor, token of the output
  int col = -1;        ///< in checkpoint order for w13
  double got = 0;
  double want = 0;
};

/// Thrown when the tensors leave nothing to compare, for example because every value overflowed.
struct NothingToCompare {
  std::string reason;
};

/// A breach at one element: "w2 of slot 7 column 3: got 1.5 (0x3e00), want 1.25 (0x3d00); WHY".
Breach ElementBreach(const char* tensor, int row, int col, std::uint16_t got, std::uint16_t want,
                     const std::string& why);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_BREACH_H_
