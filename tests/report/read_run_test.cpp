// Run files as a model: what is read, and what is refused in one line.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sample_run.h"
#include "verify/h5.h"
#include "verify/in_child.h"
#include "verify/report/render.h"
#include "verify/report/summary.h"

namespace voltcheck::report {
namespace {

using verify::Stage;
using verify::TemporaryFolder;
using verify::Verdict;

// Opens a finished run file for writing and changes it.
void Change(const std::string& path, const std::function<void(hid_t)>& change) {
  const verify::h5::Handle file(verify::h5::Check(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)),
                                H5Fclose);
  change(file.get());
}

void Overwrite(hid_t file, const char* name, const std::function<float(std::size_t)>& value) {
  const verify::h5::Handle dataset(verify::h5::Check(H5Dopen2(file, name, H5P_DEFAULT)), H5Dclose);
  const verify::h5::Handle space(H5Dget_space(dataset.get()), H5Sclose);
  std::vector<float> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  verify::h5::Check(
      H5Dread(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value(i);
  }
  verify::h5::Check(
      H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}

TEST(ReadRun, FindsWhatWasWritten) {
  const RunData run = SampleRun(12);
  ASSERT_EQ(run.cases.size(), 12U);
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.Attribute("commit"), "0123456789ab");
  const CaseFigures& c = run.cases[4];
  EXPECT_EQ(c.verdict, Verdict::kFailed);
  EXPECT_EQ(c.reason, "w2: \xC2\xB5 over budget");
  EXPECT_EQ(c.tokens, 5U);
  EXPECT_EQ(c.at(Stage::kW2).verdict, Verdict::kFailed);
  EXPECT_EQ(c.at(Stage::kW2).own_use, 0.04F);
  EXPECT_EQ(c.at(Stage::kW2).worst_use.row, 4);
  EXPECT_EQ(c.at(Stage::kW2).hash, 0x1004U);
  EXPECT_EQ(c.logits.rows, 9U);
  EXPECT_EQ(run.findings.size(), 2U);
  EXPECT_EQ(run.findings[1].case_number, 9U);
  EXPECT_EQ(run.findings[1].finding.line, 17U);
  ASSERT_EQ(run.windows.size(), 4U) << "two stages of each failed case";
  EXPECT_EQ(run.windows[0].first_row, 7);
  EXPECT_EQ(run.windows[0].got.size(), 6U);
  EXPECT_TRUE(std::isinf(run.windows[0].got[4]));
  EXPECT_EQ(run.windows[0].worst_row, 8) << "finite on one side only is worst";
  EXPECT_EQ(run.windows[0].worst_col, 12);
  const StageTotals& totals = run.totals[0];
  EXPECT_EQ(totals.ulp_own[0], 12U * 99);
  EXPECT_EQ(totals.density[5 * verify::kMagnitudeBins + 7], 12U * 90);
  ASSERT_EQ(totals.experts.size(), 2U);
  EXPECT_EQ(totals.experts[1].index, 5);
  EXPECT_EQ(totals.experts[1].use, 0.75F);
  EXPECT_TRUE(run.nan_columns.empty());
}

TEST(ReadRun, CasesAreCalledByTheirNumberInTheWholeRun) {
  const TemporaryFolder folder;
  {
    verify::RunFileWriter writer(folder / "shard.h5", verify::SyntheticProvenance());
    for (const int number : {3, 4, 9, 5000}) {
      writer.Append(verify::SyntheticRecord(number), static_cast<std::uint64_t>(number));
    }
    writer.Finish(true);
  }
  const RunData run = ReadRun(folder / "shard.h5");
  ASSERT_EQ(run.cases.size(), 4U);
  EXPECT_EQ(run.cases[3].number, 5000U);
  EXPECT_EQ(run.findings.at(0).case_number, 4U);
  EXPECT_EQ(run.windows.at(0).case_index, 1U) << "row of the case";
  EXPECT_TRUE(Holds(Render(run, Format::kCsv), "\r\n5000,"));
  EXPECT_TRUE(Holds(Render(run, Format::kJson), "{\"index\":5000,"));
  EXPECT_TRUE(Holds(Render(run, Format::kHtml), "id=\"case-4\""));
  EXPECT_TRUE(Holds(Render(run, Format::kMarkdown), "case 4: "));
}

TEST(ReadRun, ReproductionHasTheRunsDeviceAndJudgement) {
  RunData run;
  run.attributes["arguments"] =
      "gate --suite smoke --seed 0 --device simulator --schedule 3 --policy bits --allow-skip "
      "path=dense --draws 4";
  EXPECT_EQ(run.Reproduction("t=1"),
            "voltcheck replay --case 't=1' --device simulator --schedule 3 --policy bits");
  EXPECT_EQ(run.Reproduction("a'b").substr(0, 33), "voltcheck replay --case 'a'\\''b' ");
}

TEST(ReadRun, WorstFirstIsGravestThenLargestUse) {
  const RunData run = SampleRun(10, [](verify::CaseRecord& r) {
    if (r.c.seed == 3) {
      r.verdict = Verdict::kCrashed;
    }
  });
  const std::vector<std::size_t> order = WorstFirst(run.cases);
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 9, 4, 8, 7, 6, 5, 2, 1, 0}));
}

TEST(Summarise, CountsAndNamesTheWorst) {
  const RunData run = SampleRun(10);
  const RunSummary summary = Summarise(run);
  EXPECT_EQ(summary.outcome, Outcome::kFailed);
  EXPECT_EQ(summary.headline, "2 of 10 cases did not pass: 2 failed");
  EXPECT_EQ(summary.worst_use.case_index, 9);
  EXPECT_EQ(summary.stages[0].elements, 1000U);
  EXPECT_EQ(Title(run), "suite synthetic");
}

TEST(Summarise, AllowedSkipsPass) {
  const auto skip_last = [](verify::CaseRecord& r) {
    if (r.c.seed == 3) {
      r.verdict = Verdict::kSkipped;
    }
  };
  EXPECT_EQ(Summarise(SampleRun(4, skip_last)).outcome, Outcome::kFailed);
  const RunData allowed = SampleRun(
      4, skip_last, [](verify::RunProvenance& p) { p.arguments += " --allow-skip seed=3"; });
  EXPECT_EQ(Summarise(allowed).outcome, Outcome::kPassed);
}

TEST(Summarise, AnInterruptedRunIsIncomplete) {
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", 3, {}, {}, false);
  EXPECT_EQ(Summarise(ReadRun(folder / "run.h5")).outcome, Outcome::kIncomplete);
}

TEST(NotANumber, IsCountedNamedAndNeverAveraged) {
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", 4);
  Change(folder / "run.h5", [](hid_t file) {
    Overwrite(file, "metrics/w2/reference/rms", [](std::size_t i) { return i == 2 ? NAN : 0.5F; });
  });
  const RunData run = ReadRun(folder / "run.h5");
  ASSERT_EQ(run.nan_columns.size(), 1U);
  EXPECT_EQ(run.nan_columns[0].name, "metrics/w2/reference/rms");
  EXPECT_EQ(run.nan_columns[0].count, 1U);
  EXPECT_EQ(run.nan_columns[0].first_case, 2U);
  const RunSummary summary = Summarise(run);
  EXPECT_TRUE(std::isfinite(summary.stages[2].rms));
  EXPECT_EQ(summary.outcome, Outcome::kFailed) << "a passed case with a NaN has not passed";
  ASSERT_FALSE(summary.notes.empty());
  EXPECT_TRUE(Holds(summary.notes[0], "/metrics/w2/reference/rms is NaN in 1 case"))
      << summary.notes[0];
}

TEST(BadRunFile, ColumnThatIsNanThroughout) {
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", 3);
  Change(folder / "run.h5", [](hid_t file) {
    Overwrite(file, "metrics/silu/own/max_use", [](std::size_t) { return NAN; });
  });
  EXPECT_TRUE(Holds(Refusal([&] { ReadRun(folder / "run.h5"); }),
                    "/metrics/silu/own/max_use is NaN in every case"));
}

TEST(BadRunFile, ForeignTruncatedAndMissing) {
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", 5);
  const std::string whole = verify::ReadBytes(folder / "run.h5");
  const auto line = [&](const std::string& bytes) {
    verify::WriteBytes(folder / "bad.h5", bytes);
    return Refusal([&] {
      verify::InChild(folder / "bad.h5", [&] {
        ReadRun(folder / "bad.h5");
        return std::string("read");
      });
    });
  };
  EXPECT_TRUE(Holds(line("PK\x03\x04 something else"), "is no HDF5 file"));
  EXPECT_TRUE(Holds(line(""), "is no HDF5 file"));
  for (const std::size_t kept :
       {std::size_t{8}, std::size_t{600}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_TRUE(Holds(line(whole.substr(0, kept)), "bad.h5")) << kept;
  }
  EXPECT_TRUE(Holds(Refusal([&] { ReadRun(folder / "none.h5"); }), "none.h5: cannot be opened"));
}

TEST(BadRunFile, NewerSchemaNoSchemaAndNoCases) {
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", 2);
  Change(folder / "run.h5", [](hid_t file) {
    H5Adelete(file, "schema");
    verify::h5::SetText(file, "schema", "voltcheck.run/2");
  });
  EXPECT_TRUE(Holds(Refusal([&] { ReadRun(folder / "run.h5"); }),
                    "has the schema 'voltcheck.run/2'; read it with the version"));
  Change(folder / "run.h5", [](hid_t file) { H5Adelete(file, "schema"); });
  EXPECT_TRUE(Holds(Refusal([&] { ReadRun(folder / "run.h5"); }), "has no schema"));
  WriteRun(folder / "empty.h5", 0);
  EXPECT_TRUE(Holds(Refusal([&] { ReadRun(folder / "empty.h5"); }), "holds no case"));
}

TEST(BadRunFile, ColumnsThatAreMissingShortOrElsewhere) {
  const TemporaryFolder folder;
  const auto line = [&](const std::function<void(hid_t)>& change) {
    WriteRun(folder / "run.h5", 3);
    Change(folder / "run.h5", change);
    return Refusal([&] { ReadRun(folder / "run.h5"); });
  };
  EXPECT_TRUE(Holds(line([](hid_t f) { H5Ldelete(f, "cases/verdict", H5P_DEFAULT); }),
                    "/cases/verdict is missing"));
  EXPECT_TRUE(Holds(line([](hid_t f) {
                      H5Ldelete(f, "cases/tokens", H5P_DEFAULT);
                      const std::array<hsize_t, 1> extent{2};
                      const std::array<std::int32_t, 2> values{1, 2};
                      verify::h5::WriteDataset(f, "cases/tokens", H5T_STD_I32LE, extent,
                                               values.data());
                    }),
                    "/cases/tokens has 2 rows where 3 are needed"));
  EXPECT_TRUE(Holds(line([](hid_t f) {
                      H5Ldelete(f, "cases/tokens", H5P_DEFAULT);
                      H5Lcreate_external("/etc/passwd", "/x", f, "cases/tokens", H5P_DEFAULT,
                                         H5P_DEFAULT);
                    }),
                    "/cases/tokens is missing"));
  EXPECT_TRUE(Holds(line([](hid_t f) {
                      H5Ldelete(f, "cases/tokens", H5P_DEFAULT);
                      const verify::h5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
                      H5Pset_external(properties.get(), "/etc/passwd", 0, 12);
                      const hsize_t rows = 3;
                      const verify::h5::Handle space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
                      const verify::h5::Handle dataset(
                          H5Dcreate2(f, "cases/tokens", H5T_STD_I32LE, space.get(), H5P_DEFAULT,
                                     properties.get(), H5P_DEFAULT),
                          H5Dclose);
                    }),
                    "/cases/tokens has its values in another file"));
}

}  // namespace
}  // namespace voltcheck::report
