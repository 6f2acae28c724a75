// Run files come from strangers: whatever their texts hold, documents keep their form.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sample_run.h"
#include "verify/report/diff.h"
#include "verify/report/render.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::TemporaryFolder;

const std::vector<std::string>& Attacks() {
  static const std::vector<std::string> kAttacks{
      "</script><script>document.title='owned'</script>",
      "<img src=x onerror=\"document.title='owned'\">",
      "\"><svg/onload=document.title='owned'>",
      "<!--<script>",
      "]]><x>",
      "&lt;b&gt; & \"' `|\n| a | b |\n\n# head\n\n[x](http://example.invalid) @everyone",
      "=cmd|' /C calc'!A0,\"\r\n2,3",
      // NOLINTNEXTLINE(misc-misleading-bidirectional): misleading on purpose
      "\x01\x02\xFF\xFE\xC0\x80 \xE2\x80\xAEgnp.exe\xEF\xBF\xBF",
      "t=1',$(touch owned)",
      std::string(3000, 'A'),
  };
  return kAttacks;
}

std::string Attack(std::size_t i) { return Attacks()[i % Attacks().size()]; }

RunData HostileRun() {
  RunData run = SampleRun(
      20,
      [](verify::CaseRecord& r) {
        r.verdict = verify::Verdict::kFailed;
        r.reason = Attack(r.c.seed + 1);
        r.descriptor = Attack(r.c.seed).substr(0, 200);
        for (kernels::Finding& f : r.findings) {
          f.checker = f.kernel = f.message = f.file = f.source = Attack(r.c.seed + 2);
        }
      },
      [](verify::RunProvenance& p) {
        p.device.name = Attack(0);
        p.device.driver = Attack(1);
        p.kernels_hash = Attack(2);
        p.commit = Attack(3);
        p.arguments = "gate --suite " + Attack(0) + " --device " + Attack(1);
      });
  // The model's texts are clean, as the reader leaves them.
  const auto clean = [](std::size_t i) { return Clean(Attack(i)); };
  for (std::size_t i = 0; i < Attacks().size(); ++i) {
    run.properties.push_back(
        Property(clean(i), clean(i), verify::Verdict::kFailed, clean(i), clean(i)));
    run.mutants.push_back({clean(i), clean(i), clean(i), clean(i), "survived", clean(i), 3, -1, 1});
  }
  return run;
}

bool CheckPage(const std::string& html) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "page.html", html);
  return std::system((std::string(VOLTCHECK_PYTHON3) +
                      " " VOLTCHECK_SOURCE_DIR "/tests/report/check_page.py " +
                      (folder / "page.html"))
                         .c_str()) == 0;
}

TEST(Hostile, PagesHoldNoElementThatTheFileBrought) {
  RunData run = HostileRun();
  EXPECT_TRUE(CheckPage(RenderHtml(run)));
  run.has_mutants = true;
  EXPECT_TRUE(CheckPage(RenderHtml(run)));
  const RunDiff diff = DiffRuns(run, run, "a", "b");
  EXPECT_TRUE(CheckPage(DiffHtml({run, run, diff})));
}

TEST(Hostile, NothingHappensInABrowser) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "page.html", RenderHtml(HostileRun()));
  const int status = std::system((std::string(VOLTCHECK_PYTHON3) +
                                  " " VOLTCHECK_SOURCE_DIR "/tests/report/check_browser.py " +
                                  (folder / "page.html") + " hostile")
                                     .c_str());
  constexpr int kNoBrowser = 77;
  if (WEXITSTATUS(status) == kNoBrowser) {
    GTEST_SKIP() << "no chromium is installed";
  }
  EXPECT_EQ(status, 0);
}

TEST(Hostile, XmlAndJsonKeepTheirForm) {
  const RunData run = HostileRun();
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "junit.xml", Render(run, Format::kJunit));
  EXPECT_EQ(
      std::system(
          (std::string(VOLTCHECK_PYTHON3) +
           " -c \"import sys, xml.etree.ElementTree as t; "
           "r = t.parse(sys.argv[1]).getroot(); "
           "sys.exit(len(r.findall('.//testcase')) != 30 or r.find('.//script') is not None)\" " +
           (folder / "junit.xml"))
              .c_str()),
      0);
  EXPECT_EQ(nlohmann::json::parse(Render(run, Format::kJson))["cases"].size(), 20U);
}

TEST(Hostile, CsvHasARowForEachCaseAndNoFormula) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "run.csv", Render(HostileRun(), Format::kCsv));
  EXPECT_EQ(
      std::system(
          (std::string(VOLTCHECK_PYTHON3) +
           " -c \"import csv, sys; "
           "rows = list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8'))); "
           "bad = [f for r in rows[1:] for f in (r[1], r[3]) if f[:1] in ('=', '+', '-', '@')]; "
           "sys.exit(len(rows) != 21 or any(len(r) != len(rows[0]) for r in rows) or "
           "bool(bad))\" " +
           (folder / "run.csv"))
              .c_str()),
      0);
}

TEST(Hostile, MarkdownKeepsForeignTextInCode) {
  const std::string text = RenderMarkdown(HostileRun());
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_FALSE(Holds(text, "\n# head"));
  EXPECT_FALSE(Holds(text, "\n| a | b |"));
  for (const char* line : {"<b>failed</b> <code>case"}) {
    EXPECT_TRUE(Holds(text, line)) << text;
  }
}

TEST(Hostile, ReproductionQuotesForTheShell) {
  const TemporaryFolder folder;
  RunData run;
  run.attributes["options"] = "--device simulator;touch " + (folder / "options") +
                              " --policy $(touch " + (folder / "policy") + ")";
  const std::string line = run.Reproduction("t=1'$(touch " + (folder / "owned") + ")'");
  EXPECT_EQ(std::system(("voltcheck() { :; }; " + line).c_str()), 0);
  EXPECT_TRUE(folder.Names().empty());
}

}  // namespace
}  // namespace voltcheck::report
