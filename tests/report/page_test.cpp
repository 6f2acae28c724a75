// The page: its form always, its behaviour where a browser is installed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sample_run.h"
#include "verify/report/diff.h"
#include "verify/report/render.h"

namespace voltcheck::report {
namespace {

using verify::TemporaryFolder;

std::string Python(const std::string& script) {
  return std::string(VOLTCHECK_PYTHON3) + " " VOLTCHECK_SOURCE_DIR "/tests/report/" + script + " ";
}

bool CheckPage(const std::string& html) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "page.html", html);
  return std::system((Python("check_page.py") + (folder / "page.html")).c_str()) == 0;
}

RunData RunWithEverything() {
  RunData run = SampleRun(120);
  run.properties.push_back(Property("repeat", "t=1", verify::Verdict::kPassed));
  return run;
}

TEST(Page, HasItsForm) {
  const RunData run = RunWithEverything();
  const std::string html = RenderHtml(run);
  EXPECT_TRUE(CheckPage(html));
  for (const char* section : {"stages", "failures", "heat", "charts", "density", "logits",
                              "properties", "findings", "cases", "provenance"}) {
    EXPECT_TRUE(Holds(html, "<section id=\"" + std::string(section) + "\">")) << section;
    EXPECT_TRUE(Holds(html, "<li><a href=\"#" + std::string(section) + "\">")) << section;
  }
  EXPECT_TRUE(Holds(html, "<span class=\"verdict\">FAILED</span> suite synthetic"));
  EXPECT_TRUE(Holds(html, "24 of 120 cases did not pass: 24 failed"));
}

TEST(Page, OfAPassedRunAndOfMutants) {
  RunData run = SampleRun(4);
  EXPECT_TRUE(CheckPage(RenderHtml(run)));
  EXPECT_FALSE(Holds(RenderHtml(run), "id=\"failures\""));
  run.has_mutants = true;
  run.mutants.push_back({"m1", "drop", "w13", "removed", "survived", "not seen", 7, -1, 40});
  run.mutants.push_back({"m2", "drop", "w13", "removed", "caught", "", 9, 0, 4});
  const std::string html = RenderHtml(run);
  EXPECT_TRUE(CheckPage(html));
  EXPECT_TRUE(Holds(html, "1 of 2 mutants caught"));
}

TEST(Page, OfADiff) {
  const RunData base = SampleRun(6);
  const RunData head = SampleRun(7, [](verify::CaseRecord& r) { r.stages[1].hash = 5; });
  const RunDiff diff = DiffRuns(base, head, "a", "b");
  const std::string html = DiffHtml({base, head, diff});
  EXPECT_TRUE(CheckPage(html));
  EXPECT_TRUE(Holds(html, "6 cases in both: 6 with other bits, 1 new"));
}

TEST(Page, OfTenThousandCasesIsUnderFiveMegabytes) {
  RunData run = SampleRun(200);
  const CaseList some = run.cases;
  run.cases = {};
  for (int i = 0; i < 10000; ++i) {
    CaseFigures c = some[static_cast<std::size_t>(i) % some.size()];
    c.number = static_cast<std::uint64_t>(i);
    c.descriptor =
        "h=2560,i=160,e=512,k=10,g=32,t=" + std::to_string(1 + i % 512) +
        ",routing=zipf:1.1,layout=sorted,path=offset,meta=4b,cols=interleaved,w13=8x256x64/4,"
        "w2=64x128x32/1,data=normal,numerics=v100,seed=" +
        std::to_string(i);
    for (StageFigures& f : c.stages) {
      f.own_use = 0.123F + static_cast<float>(i % 877) / 1000;
      f.max_abs = 1.0F / static_cast<float>(3 + i);
    }
    run.cases.Append(std::move(c));
  }
  const std::string html = RenderHtml(run);
  EXPECT_LT(html.size(), 5'000'000U);
}

TEST(Page, WorksInABrowser) {
  const TemporaryFolder folder;
  verify::WriteBytes(folder / "page.html", RenderHtml(RunWithEverything()));
  const int status = std::system((Python("check_browser.py") + (folder / "page.html")).c_str());
  constexpr int kNoBrowser = 77;
  if (WEXITSTATUS(status) == kNoBrowser) {
    GTEST_SKIP() << "no chromium is installed";
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace voltcheck::report
