#include "verify/report/render.h"

#include <array>

#include "fixtures/case/error.h"

namespace voltcheck::report {
namespace {

struct Kind {
  Format format;
  std::string_view name;
  std::string (*render)(const RunData& run);
};
constexpr std::array<Kind, 5> kKinds{{
    {Format::kHtml, "html", RenderHtml},
    {Format::kMarkdown, "md", RenderMarkdown},
    {Format::kJunit, "junit", RenderJunit},
    {Format::kJson, "json", RenderJson},
    {Format::kCsv, "csv", RenderCsv},
}};

}  // namespace

std::string_view ToString(Format format) { return kKinds[static_cast<std::size_t>(format)].name; }

Format ParseFormat(std::string_view text) {
  for (const Kind& kind : kKinds) {
    if (kind.name == text) {
      return kind.format;
    }
  }
  throw BadInput("--format", Quote(text) + " is no format", "use html, md, junit, json or csv");
}

std::string Render(const RunData& run, Format format) {
  return kKinds[static_cast<std::size_t>(format)].render(run);
}

}  // namespace voltcheck::report
