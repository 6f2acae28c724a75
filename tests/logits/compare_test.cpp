// Captures in files, streamed, written row by row, held against limits.
#include "verify/logits/compare.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "reference/arith/half.h"
#include "verify/h5.h"
#include "verify/logits/limits.h"
#include "verify/logits/row_writer.h"

namespace voltcheck::logits {
namespace {

std::string TempPath(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("voltcheck-logits-" + std::to_string(getpid()) + "-" + name))
      .string();
}

Capture Halves(std::uint64_t rows, std::uint64_t vocabulary, unsigned seed, double noise) {
  auto bits = std::make_shared<std::vector<std::uint16_t>>(rows * vocabulary);
  std::mt19937_64 common(1);
  std::mt19937_64 own(seed);
  for (std::uint16_t& h : *bits) {
    const double x = static_cast<double>(common() >> 40) * 0x1p-20;
    const double d = noise * static_cast<double>(own() >> 40) * 0x1p-24;
    h = arith::DoubleToHalf(x + d);
  }
  const std::array<std::uint64_t, 2> shape{rows, vocabulary};
  Capture c = MakeCapture("memory", Type::kF16, shape, std::as_bytes(std::span(*bits)));
  c.owner = bits;
  return c;
}

TEST(Compare, SameFiguresForEveryNumberOfThreads) {
  const Capture base = Halves(97, 1500, 2, 0.01);
  const Capture other = Halves(97, 1500, 3, 0.01);
  const Comparison one = CompareCaptures(base, other, {.jobs = 1});
  const Comparison many = CompareCaptures(base, other, {.jobs = 7});
  EXPECT_TRUE(one.complete);
  EXPECT_EQ(one.figures.rows, 97U);
  EXPECT_GT(one.figures.kl_mean, 0);
  EXPECT_GT(one.figures.kl_mean_error, 0);
  EXPECT_EQ(one.figures.kl_mean, many.figures.kl_mean);
  EXPECT_EQ(one.figures.rms, many.figures.rms);
  EXPECT_EQ(one.figures.kl_p99_error, many.figures.kl_p99_error);
}

TEST(Compare, RowsComeInOrderAndItStopsWhenAsked) {
  const Capture base = Halves(40, 1 << 20, 2, 0);  // batches of 16 rows
  std::vector<std::uint64_t> seen;
  CompareOptions options;
  options.row = [&](std::uint64_t row, const verify::LogitRow&) { seen.push_back(row); };
  options.progress = [](std::uint64_t) { return false; };
  const Comparison stopped = CompareCaptures(base, base, options);
  EXPECT_FALSE(stopped.complete);
  ASSERT_EQ(seen.size(), 16U);
  EXPECT_EQ(seen.front(), 0U);
  EXPECT_EQ(seen.back(), 15U);
  EXPECT_EQ(stopped.figures.rows, 16U);
}

TEST(Compare, ShapesMustAgree) {
  EXPECT_THROW(CompareCaptures(Halves(3, 8, 1, 0), Halves(4, 8, 1, 0), {}), Error);
  EXPECT_THROW(CompareCaptures(Halves(4, 6, 1, 0), Halves(3, 8, 1, 0), {}), Error);
}

TEST(Compare, BadRowsAreNamed) {
  Capture base = Halves(30, 64, 1, 0);
  auto bits = std::make_shared<std::vector<std::byte>>(base.bytes.begin(), base.bytes.end());
  const std::uint16_t nan = 0x7E00;
  for (const std::size_t row : {4, 29}) {
    std::memcpy(bits->data() + (row * 64 + 5) * 2, &nan, 2);
  }
  Capture other = base;
  other.bytes = *bits;
  other.owner = bits;
  const Comparison c = CompareCaptures(base, other, {});
  EXPECT_EQ(c.bad.count, 2U);
  EXPECT_EQ(c.bad.first, (std::vector<std::uint64_t>{4, 29}));
  EXPECT_EQ(c.figures.nonfinite_rows, 2U);
  EXPECT_EQ(c.figures.kl_max, 0);
}

TEST(Compare, AMappedFileOfAnySizeTakesLittleMemory) {
  // 1 GiB a side, all holes: pages are read and given back.
  const std::string path = TempPath("sparse");
  const std::array<std::uint64_t, 2> shape{4096, 131072};
  std::ofstream(path).put('\0');
  std::filesystem::resize_file(path, shape[0] * shape[1] * 2);
  auto file = std::make_shared<fixtures::MappedFile>(path);
  Capture capture = MakeCapture(path, Type::kF16, shape, file->bytes());
  capture.owner = file;
  capture.mapped = true;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  // The first quarter of the batches tells as much as all of them.
  CompareOptions options;
  options.progress = [](std::uint64_t done) { return done < 1024; };
  const Comparison c = CompareCaptures(capture, capture, options);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  std::filesystem::remove(path);
  EXPECT_EQ(c.figures.rows, 1024U);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 160 * 1024) << "KiB";
}

TEST(Capture, TheLastDimensionIsTheVocabulary) {
  const std::vector<float> data(24);
  const std::array<std::uint64_t, 3> shape{2, 3, 4};
  const Capture c = MakeCapture("x", Type::kF32, shape, std::as_bytes(std::span(data)));
  EXPECT_EQ(c.rows, 6U);
  EXPECT_EQ(c.vocabulary, 4U);
  const std::array<std::uint64_t, 2> wrong{5, 5};
  EXPECT_THROW(MakeCapture("x", Type::kF32, wrong, std::as_bytes(std::span(data))), Error);
  const std::array<std::uint64_t, 2> empty{0, 4};
  EXPECT_THROW(MakeCapture("x", Type::kF32, empty, {}), Error);
  const std::array<std::uint64_t, 3> wraps{1ULL << 40, 1ULL << 40, 4};
  EXPECT_THROW(MakeCapture("x", Type::kF32, wraps, std::as_bytes(std::span(data))), Error);
  EXPECT_THROW(MakeCapture("x", Type::kF32, {}, std::as_bytes(std::span(data).first(1))), Error);
}

class Hdf5Capture : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = TempPath("capture.h5");
    verify::h5::Handle file = verify::h5::CreateFile(path_);
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    const std::array<hsize_t, 2> extent{2, 3};
    verify::h5::Handle group = verify::h5::CreateGroup(file.get(), "failures");
    for (const char* name : {"3", "11"}) {
      verify::h5::Handle failure = verify::h5::CreateGroup(group.get(), name);
      verify::h5::Handle logits = verify::h5::CreateGroup(failure.get(), "logits");
      verify::h5::WriteDataset(logits.get(), "got", H5T_IEEE_F32LE, extent, values.data());
    }
    const verify::h5::Handle space(H5Screate_simple(2, extent.data(), nullptr), H5Sclose);
    const verify::h5::Handle chunked = verify::h5::ChunkedProperties(extent);
    const verify::h5::Handle dataset(H5Dcreate2(file.get(), "chunked", H5T_IEEE_F32LE, space.get(),
                                                H5P_DEFAULT, chunked.get(), H5P_DEFAULT),
                                     H5Dclose);
    H5Dwrite(dataset.get(), H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(Hdf5Capture, MappedAndChunkedDatasetsHoldTheSame) {
  const Capture mapped = OpenHdf5Capture(path_, "failures/3/logits/got");
  const Capture read = OpenHdf5Capture(path_, "/chunked");
  EXPECT_TRUE(mapped.mapped);
  EXPECT_FALSE(read.mapped);
  EXPECT_EQ(mapped.rows, 2U);
  EXPECT_EQ(mapped.vocabulary, 3U);
  EXPECT_EQ(CompareCaptures(mapped, read, {}).figures.differing, 0U);
  float third = 0;
  Widen(mapped.row(0), 2, 1, &third);
  EXPECT_EQ(third, 3);
}

TEST_F(Hdf5Capture, WhatIsNotThereIsSaid) {
  EXPECT_THROW(OpenHdf5Capture(path_, "failures/4/logits/got"), Error);
  EXPECT_THROW(OpenHdf5Capture(path_, ""), Error) << "two failures keep logits";
  EXPECT_THROW(OpenHdf5Capture(path_, "failures"), Error);
  std::ofstream(path_, std::ios::binary) << "\x89HDF\r\n\x1a\n and nothing";
  EXPECT_THROW(OpenHdf5Capture(path_, "chunked"), Error);
}

TEST(RowWriter, CsvAndJsonLinesSayTheSame) {
  verify::LogitRow row;
  row.compared = 4;
  row.squares = 1;
  row.max_abs_column = 2;
  row.kl = 0.125;
  for (const char* ending : {".csv", ".jsonl"}) {
    const std::string path = TempPath(std::string("rows") + ending);
    const auto writer = MakeRowWriter(path, {});
    writer->Append(7, row);
    verify::LogitRow broken = row;
    broken.nonfinite = 1;
    broken.kl = 0;
    writer->Append(8, broken);
    writer->Finish(true);
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(text.find(ending == std::string(".csv") ? "\n7,0,0,0,2,0.5,0,-1,-1,0,0,0,0.125,4\n"
                                                      : "{\"row\": 7, "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(ending == std::string(".csv") ? "\n8,1,0,0,2,0.5,0,-1,-1,,-1,,,4\n"
                                                      : "\"kl\": null, \"compared\": 4}"),
              std::string::npos)
        << "a row that is not finite has no KL: " << text;
    std::filesystem::remove(path);
  }
  EXPECT_THROW(MakeRowWriter(TempPath("rows.txt"), {}), Error);
}

TEST(Limits, LowerAndUpperOnes) {
  verify::LogitFigures f;
  f.rows = 4;
  f.argmax_equal = 3;
  f.kl_mean = 0.5;
  const auto check = [&](const char* name, double value) {
    for (const LimitedFigure& figure : LimitedFigures()) {
      if (figure.name == std::string(name)) {
        return CheckLimits({{&figure, value}}, f).front().kept;
      }
    }
    throw std::runtime_error(name);
  };
  EXPECT_TRUE(check("argmax-agreement", 0.75));
  EXPECT_FALSE(check("argmax-agreement", 0.76));
  EXPECT_TRUE(check("kl-mean", 0.5));
  EXPECT_FALSE(check("kl-mean", 0.4));
  f.nonfinite_rows = 4;
  EXPECT_FALSE(check("argmax-agreement", 0)) << "not a number of anything";
  EXPECT_FALSE(check("kl-mean", 1)) << "no row could be compared";
  EXPECT_TRUE(check("nonfinite-rows", 4));
}

}  // namespace
}  // namespace voltcheck::logits
