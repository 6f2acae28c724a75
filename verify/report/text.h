#ifndef VOLTCHECK_VERIFY_REPORT_TEXT_H_
#define VOLTCHECK_VERIFY_REPORT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace voltcheck::report {

/// Text of a run file as reports may hold it: valid UTF-8 of one line, at most `most` bytes.
/// Control characters become spaces; what is no UTF-8, no XML character, or turns the direction of
/// the text around it becomes U+FFFD.
std::string Clean(std::string_view text, std::size_t most = 4096);

/// As text or quoted attribute of HTML and XML.
std::string EscapeMarkup(std::string_view text);

/// As a code span of Markdown: nothing in it is markup, a link or a mention.
std::string MarkdownCode(std::string_view text);

/// As a field of CSV (RFC 4180). Text that a spreadsheet would take for a formula gets an
/// apostrophe in front.
std::string CsvField(std::string_view text);

/// Broken at spaces into lines of a terminal's 80 columns. The first one starts at column `first`,
/// the others are indented by `indent`; a word longer than a line keeps a line of its own.
std::string Wrap(std::string_view text, std::size_t first, std::size_t indent);

/// Three significant digits; "NaN" and "inf" by name.
std::string Figure(double value);
/// Five significant digits: more than any half has.
std::string Figure5(double value);
/// Nine significant digits, enough for every float32.
std::string Exact(double value);
/// 1234567 as "1,234,567".
std::string Grouped(std::uint64_t value);
/// "1 case", "2 cases".
std::string Count(std::uint64_t number, std::string_view one, std::string_view many = {});
/// Sixteen hexadecimal digits.
std::string Hex(std::uint64_t value);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_TEXT_H_
