// Gives names to what CMake put into the binary (page_assets.S).
#include "verify/report/html_parts.h"

extern "C" {
extern const char report_style[];
extern const char report_style_end[];
extern const char report_script[];
extern const char report_script_end[];
extern const char report_chart[];
extern const char report_chart_end[];
}

namespace voltcheck::report {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view PageStyle() { return Between(report_style, report_style_end); }
std::string_view PageScript() { return Between(report_script, report_script_end); }
std::string_view ChartLibrary() { return Between(report_chart, report_chart_end); }

}  // namespace voltcheck::report
