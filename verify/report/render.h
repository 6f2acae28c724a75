#ifndef VOLTCHECK_VERIFY_REPORT_RENDER_H_
#define VOLTCHECK_VERIFY_REPORT_RENDER_H_

#include <functional>
#include <string>
#include <string_view>

#include "verify/report/run_data.h"

namespace voltcheck::report {

enum class Format { kHtml, kMarkdown, kJunit, kJson, kCsv };
/// Names as the command line has them: html, md, junit, json, csv.
std::string_view ToString(Format format);
/// Throws Error (status 2) that lists the names.
Format ParseFormat(std::string_view text);

/// Takes the parts of a document, one after another.
using Sink = std::function<void(std::string_view part)>;

/// A run as a document, in parts: memory does not grow with the number of cases. Deterministic: the
/// same run gives the same bytes.
void Render(const RunData& run, Format format, const Sink& sink);
/// The same in one piece.
std::string Render(const RunData& run, Format format);

/// One file that needs nothing else: style, script, plotting library and data are inside, and its
/// content policy lets it load nothing.
std::string RenderHtml(const RunData& run);
/// For a comment on a pull request: at most 60 lines.
std::string RenderMarkdown(const RunData& run);
/// One test case per case and property; the form that Jenkins made and GitHub's and GitLab's
/// readers take.
void RenderJunit(const RunData& run, const Sink& sink);
/// `voltcheck.report/1`, docs/schemas/report.schema.json.
void RenderJson(const RunData& run, const Sink& sink);
/// One row per case, RFC 4180 with a header.
void RenderCsv(const RunData& run, const Sink& sink);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_RENDER_H_
