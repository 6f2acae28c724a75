// `voltcheck report`: a run file as a document.
#include <filesystem>
#include <memory>

#include "tools/arguments.h"
#include "tools/document.h"
#include "verify/in_child.h"
#include "verify/report/render.h"

namespace voltcheck::tools {

ExitStatus Report(const Words& words) {
  Arguments arguments(
      "report RUN.h5 [--format html|md|junit|json|csv] [--out FILE]",
      "Makes a document of a run file: a page to look at, a comment for a pull request, or a file\n"
      "that other programs read. Status 0 when it was made, whatever the run says.");
  arguments.Positional("file", 1);
  arguments.Value("format", "html", "html, md, junit, json or csv");
  arguments.Value("out", "",
                  "file, or - for standard output (default: RUN.html in this folder for html, "
                  "else standard output)");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> files = arguments.Texts("file");
  if (files.empty()) {
    throw BadInput("voltcheck report", "needs a run file", "see 'voltcheck report --help'");
  }
  const std::string& file = files.front();
  const report::Format format = report::ParseFormat(arguments.Text("format"));
  std::string out = arguments.Text("out");
  if (out.empty()) {
    out = format == report::Format::kHtml ? std::filesystem::path(file).stem().string() + ".html"
                                          : "-";
  }
  std::unique_ptr<Document> document;
  verify::StreamFromChild(
      file,
      [&](const verify::ChildSink& sink) { report::Render(report::ReadRun(file), format, sink); },
      [&](std::string_view part) {
        if (document == nullptr) {  // a file that cannot be read leaves nothing behind
          document = std::make_unique<Document>(out);
        }
        document->Write(part);
      });
  document->Finish();
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
