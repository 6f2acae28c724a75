// `voltcheck diff`: what changed between two run files.
#include "verify/report/diff.h"

#include <memory>

#include "tools/arguments.h"
#include "tools/document.h"
#include "verify/in_child.h"

namespace voltcheck::tools {
namespace {

// What --fail-on asks for.
enum class FailOn { kNothing, kRegression, kAnyBit };

FailOn ParseFailOn(const std::string& text) {
  if (text.empty()) {
    return FailOn::kNothing;
  }
  if (text == "regression") {
    return FailOn::kRegression;
  }
  if (text == "any-bit") {
    return FailOn::kAnyBit;
  }
  throw BadInput("--fail-on", Quote(text) + " is not known here", "use regression or any-bit");
}

using Render = void (*)(const report::DiffInput& input, const report::Sink& sink);

// Documents of bounded length come in one part.
template <std::string (*kMake)(const report::DiffInput&)>
void Whole(const report::DiffInput& input, const report::Sink& sink) {
  sink(kMake(input));
}

Render ParseFormat(const std::string& text) {
  if (text == "text") {
    return Whole<report::DiffText>;
  }
  if (text == "json") {
    return report::DiffJson;
  }
  if (text == "md") {
    return Whole<report::DiffMarkdown>;
  }
  if (text == "html") {
    return Whole<report::DiffHtml>;
  }
  throw BadInput("--format", Quote(text) + " is no format", "use text, json, html or md");
}

bool Fails(const report::RunDiff& diff, FailOn fail_on) {
  return fail_on != FailOn::kNothing &&
         (diff.regressed() || (fail_on == FailOn::kAnyBit && !diff.bit_equal()));
}

report::RunData ReadAlone(const std::string& file) {
  report::ReadOptions options;
  options.most_windows = 0;
  options.most_findings = 0;
  return report::ReadRun(file, options);
}

}  // namespace

ExitStatus Diff(const Words& words) {
  Arguments arguments(
      "diff BASE.h5 HEAD.h5 [--fail-on regression|any-bit] [options]",
      "Says what changed between two runs: verdicts, bits, budget use, tactics, cases that are "
      "new\n"
      "or gone, and whether two runs of the same are bit-equal. Cases match by descriptor.");
  arguments.Positional("file", 2);
  arguments.Value("fail-on", "",
                  "status 1 on a regression, or on any-bit that differs (default: status 0)");
  arguments.Value("format", "text", "text, json, html or md");
  arguments.Flag("json", "the same as --format json");
  arguments.Value("out", "-", "file, or - for standard output");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> files = arguments.Texts("file");
  if (files.size() != 2) {
    throw BadInput("voltcheck diff", "needs two run files", "see 'voltcheck diff --help'");
  }
  const FailOn fail_on = ParseFailOn(arguments.Text("fail-on"));
  const Render render =
      ParseFormat(arguments.Has("json") ? std::string("json") : arguments.Text("format"));
  // The child sends the verdict in front of the document.
  bool fails = false;
  std::unique_ptr<Document> document;
  verify::StreamFromChild(
      files[0] + " or " + files[1],
      [&](const verify::ChildSink& sink) {
        const report::RunData base = ReadAlone(files[0]);
        const report::RunData head = ReadAlone(files[1]);
        const report::RunDiff diff = report::DiffRuns(base, head, files[0], files[1]);
        sink(Fails(diff, fail_on) ? "1" : "0");
        render({base, head, diff}, sink);
      },
      [&](std::string_view part) {
        if (document == nullptr) {  // files that cannot be read leave nothing behind
          fails = part.front() == '1';
          part.remove_prefix(1);
          document = std::make_unique<Document>(arguments.Text("out"));
        }
        document->Write(part);
      });
  document->Finish();
  return fails ? ExitStatus::kFailed : ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
