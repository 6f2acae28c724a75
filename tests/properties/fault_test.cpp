// Each property can fail: a fault planted for it breaks it, and the counterexample is made small.
#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "planted_faults.h"

namespace voltcheck::properties {
namespace {

using testing::PlantedFault;
using testing::PlantedFaults;
using testing::WithFault;
using verify::PropertyRecord;
using verify::Verdict;

/// The one record that failed, or a failure of the test.
PropertyRecord BrokenBy(const SearchOptions& options) {
  const SearchResult result = RunProperties(options, [] { return false; });
  for (const PropertyRecord& record : result.records) {
    if (record.verdict == Verdict::kFailed) {
      return record;
    }
  }
  ADD_FAILURE() << "the property holds in spite of the fault";
  return {};
}

class Planted : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Planted, BreaksItsProperty) {
  const PlantedFault fault = PlantedFaults()[GetParam()];
  SearchOptions options = WithFault(fault);
  options.draws = 12;
  const PropertyRecord record = BrokenBy(options);
  EXPECT_NE(record.reason.find(fault.said), std::string::npos)
      << fault.property << " / " << fault.name << ": " << record.reason;
  EXPECT_EQ(record.property, fault.property);
  EXPECT_LE(ParseDescriptor(record.descriptor).shape.tokens,
            ParseDescriptor(record.drawn).shape.tokens);
}

std::vector<std::size_t> Numbers() {
  std::vector<std::size_t> numbers(PlantedFaults().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
  }
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted, ::testing::ValuesIn(Numbers()), [](const auto& p) {
  const PlantedFault fault = PlantedFaults()[p.param];
  std::string name = fault.property + "__" + fault.name;
  for (char& c : name) {
    c = c == '-' ? '_' : c;
  }
  return name;
});

TEST(Planted, ThereIsAFaultForEveryProperty) {
  for (const Property& property : Properties()) {
    bool planted = property.name == "schedules";  // SchedulesCanDiffer below
    for (const PlantedFault& fault : PlantedFaults()) {
      planted = planted || fault.property == property.name;
    }
    EXPECT_TRUE(planted) << property.name;
  }
}

TEST(Schedules, ADeviceWhoseResultFollowsTheScheduleBreaksIt) {
  SearchOptions options = MakeSearchOptions({});
  options.chosen = {&FindProperty("schedules")};
  options.make_bench = [] {
    return std::make_unique<Bench>(
        [](const Bench::Wish& wish) -> std::unique_ptr<kernels::Device> {
          verify::DeviceOptions device;
          device.schedule = wish.schedule;
          testing::Fault fault;
          fault.after = [schedule = wish.schedule](const testing::SeenLaunch& seen) {
            if (seen.kernel == "moe_reduce" && schedule == 19) {
              seen.FlipHalf(seen.Pointer(0));
            }
          };
          return std::make_unique<testing::FaultyDevice>(verify::MakeDevice(device, wish.numerics),
                                                         fault);
        },
        std::vector<kernels::ModuleImage>(), 0);
  };
  options.draws = 1;
  EXPECT_NE(BrokenBy(options).reason.find("schedule 19"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck::properties
