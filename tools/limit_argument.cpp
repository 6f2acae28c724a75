#include "tools/limit_argument.h"

#include <charconv>
#include <cmath>

#include "fixtures/case/error.h"

namespace voltcheck::tools {

double ParseFigureLimit(const std::string& where, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || !(value >= 0) ||
      !std::isfinite(value)) {
    throw BadInput(where, "cannot be " + Quote(text), "give a number, 0 or more");
  }
  return value;
}

}  // namespace voltcheck::tools
