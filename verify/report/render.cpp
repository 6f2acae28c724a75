#include "verify/report/render.h"

#include <array>

#include "fixtures/case/error.h"

namespace voltcheck::report {
namespace {

struct Kind {
  Format format;
  std::string_view name;
  void (*render)(const RunData& run, const Sink& sink);
};
// Their length has a bound.
void Html(const RunData& run, const Sink& sink) { sink(RenderHtml(run)); }
void Markdown(const RunData& run, const Sink& sink) { sink(RenderMarkdown(run)); }

constexpr std::array<Kind, 5> kKinds{{
    {Format::kHtml, "html", Html},
    {Format::kMarkdown, "md", Markdown},
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

void Render(const RunData& run, Format format, const Sink& sink) {
  kKinds[static_cast<std::size_t>(format)].render(run, sink);
}

std::string Render(const RunData& run, Format format) {
  std::string document;
  Render(run, format, [&document](std::string_view part) { document += part; });
  return document;
}

}  // namespace voltcheck::report
