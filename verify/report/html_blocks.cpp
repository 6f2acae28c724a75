// The building blocks of pages.
#include <array>

#include "fixtures/sha256.h"
#include "verify/report/html_parts.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

std::string Base64OfHex(const std::string& hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group =
          (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kDigits[(group >> (18 - 6 * k)) & 0x3FU];
    }
  }
  return text;
}

// The source expression that lets exactly this text be used.
std::string Policy(std::string_view text) {
  fixtures::Sha256 sha;
  sha.Update(text);
  return "'sha256-" + Base64OfHex(sha.Hex()) + "'";
}

}  // namespace

std::string Element(std::string_view tag, std::string_view text) {
  return std::string("<")
             .append(tag)
             .append(">")
             .append(EscapeMarkup(text))
             .append("</")
             .append(tag.substr(0, tag.find(' '))) +
         ">";
}

std::string VerdictBadge(verify::Verdict verdict) {
  const int gravity = Gravity(verdict);
  const std::string kind = gravity == 0                                   ? "pass"
                           : gravity >= Gravity(verify::Verdict::kFailed) ? "fail"
                                                                          : "warn";
  return Element("span class=\"badge " + kind + "\"", verify::ToString(verdict));
}

std::string CopyLine(const std::string& command) {
  return "<div class=\"copy\"><code>" + EscapeMarkup(command) +
         "</code><button type=\"button\" class=\"copy-button\">Copy</button></div>";
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    row += i == 0 ? "<th scope=\"row\">" + cells[i] + "</th>" : "<td>" + cells[i] + "</td>";
  }
  return row + "</tr>\n";
}

std::string Head(const std::vector<std::string>& names) {
  std::string head = "<thead><tr>";
  for (const std::string& name : names) {
    const bool is_number = name.starts_with("#");
    head += is_number ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">";
    head += EscapeMarkup(is_number ? name.substr(1) : name) + "</th>";
  }
  return head + "</tr></thead>\n";
}

std::string Table(std::string_view caption, const std::string& contents,
                  std::string_view css_class) {
  const std::string label = EscapeMarkup(caption);
  return "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + label +
         "\"><table class=\"" + std::string(css_class) + "\"><caption>" + label + "</caption>\n" +
         contents + "</table></div>\n";
}

std::string Page(const std::string& title, const std::string& body, const std::string& data) {
  std::string policy = Policy(PageScript());
  std::string scripts;
  if (!data.empty()) {
    policy += " " + Policy(ChartLibrary());
    scripts = "<script type=\"application/json\" id=\"data\">" + data + "</script>\n<script>" +
              std::string(ChartLibrary()) + "</script>\n";
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
         Policy(PageStyle()) + "; script-src " + policy + "\">\n<title>" + EscapeMarkup(title) +
         "</title>\n<style>" + std::string(PageStyle()) + "</style>\n</head>\n<body>\n" + body +
         scripts + "<script>" + std::string(PageScript()) + "</script>\n</body>\n</html>\n";
}

}  // namespace voltcheck::report
