#ifndef VOLTCHECK_VERIFY_REPORT_RENDER_H_
#define VOLTCHECK_VERIFY_REPORT_RENDER_H_

#include <string>
#include <string_view>

#include "verify/report/run_data.h"

namespace voltcheck::report {

enum class Format { kHtml, kMarkdown, kJunit, kJson, kCsv };
/// Names as the command line has them: html, md, junit, json, csv.
std::string_view ToString(Format format);
/// Throws Error (status 2) that lists the names.
Format ParseFormat(std::string_view text);

/// A run as a document. Deterministic: the same run gives the same bytes.
std::string Render(const RunData& run, Format format);

/// One file that needs nothing else: style, script, plotting library and data are inside, and its
/// content policy lets it load nothing.
std::string RenderHtml(const RunData& run);
/// For a comment on a pull request: at most 60 lines.
std::string RenderMarkdown(const RunData& run);
/// One test case per case and property; the form that Jenkins made and GitHub's and GitLab's
/// readers take.
std::string RenderJunit(const RunData& run);
/// `voltcheck.report/1`, docs/schemas/report.schema.json.
std::string RenderJson(const RunData& run);
/// One row per case, RFC 4180 with a header.
std::string RenderCsv(const RunData& run);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_RENDER_H_
