#ifndef VOLTCHECK_VERIFY_REPORT_HTML_PARTS_H_
#define VOLTCHECK_VERIFY_REPORT_HTML_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "verify/report/run_data.h"
#include "verify/report/summary.h"

namespace voltcheck::report {

/// The parts of the page, each a <section>, or empty where the run has nothing to show there.
std::string FailuresSection(const RunData& run);
std::string HeatMapSection(const RunData& run);
std::string DensitySection(const RunData& run);
std::string LogitsSection(const RunData& run);
std::string PropertiesSection(const RunData& run, const RunSummary& summary);
std::string FindingsSection(const RunData& run);
std::string MutantsSection(const RunData& run, const RunSummary& summary);
std::string ProvenanceSection(const RunData& run);

/// What the page's script draws: cases and charts, as JSON that may stand inside <script>.
/// `order` says which cases, in which order.
std::string PageData(const RunData& run, const std::vector<std::size_t>& order);

/// Small building blocks, all escaped.
std::string Element(std::string_view tag, std::string_view text);
std::string VerdictBadge(verify::Verdict verdict);
/// A command with a button that copies it.
std::string CopyLine(const std::string& command);
/// <tr> of cells; the first is a row header. Cells are markup.
std::string Row(const std::vector<std::string>& cells);
/// <thead> of column headers; names that start with '#' hold numbers.
std::string Head(const std::vector<std::string>& names);
/// A scrollable frame around a table with this caption.
std::string Table(std::string_view caption, const std::string& contents,
                  std::string_view css_class = "");

/// A whole page: style, content, data and scripts, under a policy that lets nothing else in. The
/// plotting library is in it when there is data to draw.
std::string Page(const std::string& title, const std::string& body, const std::string& data);

/// What CMake put into the binary.
std::string_view PageStyle();
std::string_view PageScript();
std::string_view ChartLibrary();

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_HTML_PARTS_H_
