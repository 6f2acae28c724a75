// Every property on the built kernels: it must hold on drawn cases, and on every case that ever
// broke one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "verify/properties/search.h"

namespace voltcheck::properties {
namespace {

verify::DeviceOptions TestDevice() {
  verify::DeviceOptions options;
  const char* kind = std::getenv("VOLTCHECK_TEST_DEVICE");
  options.kind = kind != nullptr && std::strcmp(kind, "cuda") == 0 ? "cuda" : "simulator";
  return options;
}

TEST(Regressions, CasesThatOnceBrokeAPropertyHold) {
  const std::string path = VOLTCHECK_SOURCE_DIR "/tests/properties/regressions.txt";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  SearchOptions options = MakeSearchOptions(TestDevice());
  options.regressions = ReadRegressions(path);
  options.draws = 0;
  const SearchResult result = RunProperties(options, [] { return false; });
  EXPECT_EQ(result.records.size(), options.regressions.size());
  for (const verify::PropertyRecord& record : result.records) {
    EXPECT_NE(record.verdict, verify::Verdict::kFailed) << record.reason << "\n"
                                                        << record.reproduction;
  }
}

class EveryProperty : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryProperty, HoldsOnDrawnCases) {
  SearchOptions options = MakeSearchOptions(TestDevice());
  options.chosen = {&FindProperty(GetParam())};
  options.draws = 4;
  const SearchResult result = RunProperties(options, [] { return false; });
  for (const verify::PropertyRecord& record : result.records) {
    EXPECT_NE(record.verdict, verify::Verdict::kFailed)
        << record.reason << "\n"
        << record.reproduction << "\ndrawn as " << record.drawn << ", seed " << record.seed;
  }
  if (!FindProperty(GetParam()).simulator_only || TestDevice().kind == "simulator") {
    EXPECT_GT(result.held, 0U);
    EXPECT_EQ(result.skipped, 0U);
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Property& property : Properties()) {
    names.emplace_back(property.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Properties, EveryProperty, ::testing::ValuesIn(Names()),
                         [](const auto& p) {
                           std::string name = p.param;
                           for (char& c : name) {
                             c = c == '-' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace voltcheck::properties
