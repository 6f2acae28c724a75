#include "verify/report/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace voltcheck::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: what stands there is no UTF-8
};

// The code point at the front of `text`, which is not empty.
CodePoint Decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) {
    return {};
  }
  char32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) {
      return {};
    }
    value = (value << 6U) | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) {
    return {};
  }
  return {value, bytes};
}

bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

// Marks and overrides of direction, and what XML has no place for.
bool IsForbidden(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || (c & 0xFFFEU) == 0xFFFEU;
}

}  // namespace

std::string Clean(std::string_view text, std::size_t most) {
  std::string clean;
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (clean.size() + std::max(bytes, kReplacement.size()) > most) {
      return clean + "...";
    }
    if (point.bytes == 0 || IsForbidden(point.value)) {
      clean.append(kReplacement);
    } else if (IsControl(point.value)) {
      clean.push_back(' ');
    } else {
      clean.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return clean;
}

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string MarkdownCode(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool pad = !text.empty() && (text.front() == '`' || text.back() == '`');
  const std::string_view space = pad ? " " : "";
  return fence + std::string(space).append(text).append(space) + fence;
}

std::string CsvField(std::string_view text) {
  std::string field(
      !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos ? "'" : "");
  field.append(text);
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    return field;
  }
  std::string quoted = "\"";
  for (const char c : field) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

std::string Wrap(std::string_view text, std::size_t first, std::size_t indent) {
  constexpr std::size_t kColumns = 80;
  std::string wrapped;
  std::size_t column = first;
  bool at_start = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!at_start && column + 1 + word.size() > kColumns) {
      wrapped.append("\n").append(indent, ' ');
      column = indent;
      at_start = true;
    }
    wrapped.append(at_start ? "" : " ").append(word);
    column += word.size() + (at_start ? 0 : 1);
    at_start = false;
  }
  return wrapped;
}

namespace {

// Independent of the locale, unlike printf.
std::string WithDigits(double value, int digits) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  std::array<char, 64> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value,
                                    std::chars_format::general, digits);
  return {text.data(), result.ptr};
}

}  // namespace

std::string Figure(double value) { return WithDigits(value, 3); }

std::string Figure5(double value) { return WithDigits(value, 5); }

std::string Exact(double value) { return WithDigits(value, 9); }

std::string Grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

std::string Count(std::uint64_t number, std::string_view one, std::string_view many) {
  std::string text = Grouped(number) + " ";
  if (number == 1) {
    return text.append(one);
  }
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

std::string Hex(std::uint64_t value) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace voltcheck::report
