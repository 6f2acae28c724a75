// Markdown, JUnit, JSON and CSV.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sample_run.h"
#include "verify/report/diff.h"
#include "verify/report/render.h"

namespace voltcheck::report {
namespace {

using verify::TemporaryFolder;
using verify::Verdict;

int Shell(const std::string& command) { return std::system((command + " >&2").c_str()); }

// A run in which everything occurs.
RunData FullRun() {
  RunData run = SampleRun(14, [](verify::CaseRecord& r) {
    const std::array<Verdict, verify::kVerdicts> all{
        Verdict::kPassed,  Verdict::kFailed,  Verdict::kNondeterministic, Verdict::kMistrusted,
        Verdict::kChecker, Verdict::kCrashed, Verdict::kSkipped,          Verdict::kUntested};
    r.verdict = all[r.c.seed % all.size()];
    r.reason = r.verdict == Verdict::kPassed ? "" : "why | not `1`\xE2\x80\xA8";
  });
  run.properties.push_back(
      Property("repeat", "t=1", Verdict::kFailed, "differs", "voltcheck replay --property repeat"));
  run.properties.push_back(Property("scale", "t=2", Verdict::kPassed));
  return run;
}

TEST(Markdown, HasOneTableFoldsAndAtMostSixtyLines) {
  const std::string text = RenderMarkdown(FullRun());
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60) << text;
  EXPECT_TRUE(text.starts_with("### Voltcheck FAILED: `suite synthetic`\n")) << text;
  std::size_t tables = 0;
  for (std::size_t at = text.find("|---"); at != std::string::npos;
       at = text.find("|---", at + 1)) {
    tables += text[at - 1] == '\n' ? 1 : 0;
  }
  EXPECT_EQ(tables, 1U);
  EXPECT_TRUE(Holds(text, ", kernels `mine.ptx` `")) << text;
  std::size_t open = 0;
  for (std::size_t at = text.find("<details>"); at != std::string::npos;
       at = text.find("<details>", at + 1)) {
    ++open;
  }
  EXPECT_EQ(open, 7U) << "six cases and one property";
  EXPECT_TRUE(Holds(text, "... and 6 more that did not pass"));
}

TEST(Markdown, SaysWhatAnInterruptedRunLacks) {
  RunData run = SampleRun(4);
  run.complete = false;
  run.attributes["planned"] = "48";
  const std::string text = RenderMarkdown(run);
  EXPECT_TRUE(Holds(text, "Voltcheck INCOMPLETE")) << text;
  EXPECT_TRUE(Holds(text, "all 4 cases that ran passed;")) << text;
  EXPECT_TRUE(Holds(text, "the run was interrupted: 44 of its 48 cases did not run")) << text;
  run.attributes["shard"] = "1/3";
  EXPECT_TRUE(Holds(RenderMarkdown(run), "the run was interrupted: cases are missing")) << text;
}

TEST(Markdown, EveryCaseFailingStaysWithinSixtyLines) {
  RunData run = SampleRun(60, [](verify::CaseRecord& r) { r.verdict = Verdict::kFailed; });
  for (int i = 0; i < 20; ++i) {
    run.properties.push_back(Property("p" + std::to_string(i), "t=1", Verdict::kFailed));
    run.nan_columns.push_back({"metrics/w2/own/rms" + std::to_string(i), 1, 0});
  }
  const std::string text = RenderMarkdown(run);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60) << text;
}

TEST(Junit, FitsTheSchema) {
  if (Shell("command -v xmllint") != 0) {
    GTEST_SKIP() << "xmllint (libxml2-utils) is not installed";
  }
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "junit.xml", Render(FullRun(), Format::kJunit));
  EXPECT_EQ(Shell("xmllint --noout --schema " VOLTCHECK_SOURCE_DIR "/docs/schemas/junit.xsd " +
                  (folder / "junit.xml")),
            0);
}

TEST(Junit, VerdictsBecomeWhatReadersKnow) {
  const std::string xml = Render(FullRun(), Format::kJunit);
  // 14 cases, each verdict in turn: 2 passed; failed, nondeterministic, mistrusted, checker twice
  // each; crashed twice, skipped and untested once, none of them allowed.
  EXPECT_TRUE(Holds(xml, "<testsuites name=\"voltcheck\" tests=\"16\" failures=\"9\" errors=\"4\""))
      << xml.substr(0, 300);
  EXPECT_TRUE(Holds(xml, "type=\"crashed\""));
  EXPECT_TRUE(Holds(xml, "repeat: voltcheck replay --case &#39;"));
  EXPECT_TRUE(Holds(xml, "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""))
      << "the properties";
}

bool HasJsonSchema() {
  return Shell(std::string(VOLTCHECK_PYTHON3) + " -c 'import jsonschema' 2>/dev/null") == 0;
}

bool FitsSchema(const std::string& json, const std::string& schema) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "document.json", json);
  return Shell(std::string(VOLTCHECK_PYTHON3) +
               " -c \"import json, jsonschema, sys; "
               "jsonschema.validate(json.load(open(sys.argv[1])), "
               "json.load(open(sys.argv[2])))\" " +
               (folder / "document.json") + " " VOLTCHECK_SOURCE_DIR "/docs/schemas/" + schema) ==
         0;
}

TEST(Json, HoldsWhatTheRunHolds) {
  const auto json = nlohmann::json::parse(Render(FullRun(), Format::kJson));
  EXPECT_EQ(json["cases"].size(), 14U);
  EXPECT_EQ(json["summary"]["verdicts"]["crashed"], 2);
  EXPECT_EQ(json["cases"][4]["stages"]["w2"]["hash"], "0000000000001004");
}

TEST(Json, FitsTheSchemasThatArePublished) {
  if (!HasJsonSchema()) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  const RunData run = FullRun();
  EXPECT_TRUE(FitsSchema(Render(run, Format::kJson), "report.schema.json"));
  RunData head = run;
  const auto edit = [&head](std::size_t i, const std::function<void(CaseFigures&)>& change) {
    CaseFigures c = head.cases[i];
    change(c);
    head.cases.Replace(i, std::move(c));
  };
  edit(0, [](CaseFigures& c) { c.verdict = Verdict::kCrashed; });
  edit(2, [](CaseFigures& c) { c.stages[0].hash = 1; });
  edit(3, [](CaseFigures& c) { c.descriptor = "t=9999"; });
  head.properties[1].verdict = Verdict::kFailed;
  const RunDiff diff = DiffRuns(run, head, "base", "head");
  EXPECT_TRUE(FitsSchema(DiffJson({run, head, diff}), "diff.schema.json"));
}

TEST(Csv, HasOneRowForEachCase) {
  const std::string csv = Render(FullRun(), Format::kCsv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 15);
  std::istringstream lines(csv);
  std::string head;
  std::getline(lines, head);
  EXPECT_TRUE(head.starts_with("case,descriptor,verdict,reason,")) << head;
  const auto columns = std::count(head.begin(), head.end(), ',');
  EXPECT_TRUE(Holds(head, ",logits_own_use,"));
  for (std::string line; std::getline(lines, line);) {
    // Commas within quotes are no separators.
    bool quoted = false;
    std::ptrdiff_t separators = 0;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      separators += c == ',' && !quoted ? 1 : 0;
    }
    EXPECT_EQ(separators, columns) << line;
  }
}

TEST(Documents, TheSameRunGivesTheSameBytes) {
  const RunData run = FullRun();
  for (const Format format :
       {Format::kHtml, Format::kMarkdown, Format::kJunit, Format::kJson, Format::kCsv}) {
    EXPECT_TRUE(Render(run, format) == Render(FullRun(), format)) << ToString(format);
    EXPECT_EQ(ParseFormat(ToString(format)), format);
  }
  EXPECT_TRUE(Holds(Refusal([] { ParseFormat("pdf"); }), "'pdf' is no format"));
}

}  // namespace
}  // namespace voltcheck::report
