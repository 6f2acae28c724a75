#include "kernels/plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "kernels/plan_parts.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::MakeProblem;
using testing::SmallCase;

/// What the PTX says about an entry.
struct EntryFacts {
  std::vector<std::size_t> parameter_bytes;
  std::uint32_t max_threads = 0;
};

const std::map<std::string, EntryFacts>& AllEntries() {
  static const auto* const all = [] {
    auto* facts = new std::map<std::string, EntryFacts>;
    const std::regex parameter("\\.param \\.[a-z](\\d+) ");
    const std::string marker = ".visible .entry ";
    for (const ModuleImage& module : BuiltInModules()) {
      for (std::size_t at = module.ptx.find(marker); at != std::string::npos;
           at = module.ptx.find(marker, at + 1)) {
        const std::size_t name = at + marker.size();
        const std::size_t open = module.ptx.find('(', name);
        const std::string list = module.ptx.substr(open, module.ptx.find(')', open) - open);
        EntryFacts& entry = (*facts)[module.ptx.substr(name, open - name)];
        for (auto match = std::sregex_iterator(list.begin(), list.end(), parameter);
             match != std::sregex_iterator(); ++match) {
          entry.parameter_bytes.push_back(std::stoul((*match)[1]) / 8);
        }
        const std::size_t threads = module.ptx.find(".maxntid ", open);
        entry.max_threads = static_cast<std::uint32_t>(std::stoul(module.ptx.substr(threads + 9)));
      }
    }
    return facts;
  }();
  return *all;
}

std::size_t BytesOf(const PlanArgument& argument) {
  return std::visit(
      [](const auto& value) -> std::size_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, BufferArgument>) {
          return sizeof(DeviceAddress);
        } else {
          return sizeof(value);
        }
      },
      argument);
}

/// Every case shape here: all paths, layouts, forms and column orders that exist together.
std::vector<Case> ManyCases() {
  std::vector<Case> cases;
  for (const Path path : {Path::kOffset, Path::kSegment, Path::kDense, Path::kIndexed, Path::kM1}) {
    for (const SlotLayout layout : {SlotLayout::kSorted, SlotLayout::kShuffled}) {
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        for (const Columns columns : {Columns::kInterleaved, Columns::kHalves}) {
          for (const int splits : {1, 2}) {
            Case c = SmallCase();
            c.path = path;
            c.layout = layout;
            c.metadata = metadata;
            c.columns = columns;
            c.w13.splits = splits;
            c.w2.splits = splits;
            c.shape.tokens = path == Path::kM1 ? 1 : 8;
            c.ep_ranks = splits;
            if ((path == Path::kM1 && columns == Columns::kHalves) ||
                (path == Path::kDense && layout == SlotLayout::kShuffled)) {
              continue;
            }
            cases.push_back(c);
          }
        }
      }
    }
  }
  return cases;
}

TEST(Plan, LaunchesFitTheEntriesOfTheBuild) {
  for (const Case& c : ManyCases()) {
    for (const PlanLaunch& launch : MakePlan(MakeProblem(c)).launches) {
      const auto entry = AllEntries().find(launch.kernel);
      ASSERT_NE(entry, AllEntries().end()) << launch.kernel;
      ASSERT_EQ(launch.arguments.size(), entry->second.parameter_bytes.size()) << launch.kernel;
      for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        EXPECT_EQ(BytesOf(launch.arguments[i]), entry->second.parameter_bytes[i])
            << launch.kernel << " argument " << i;
      }
      EXPECT_EQ(launch.block.count(), entry->second.max_threads) << launch.kernel;
      EXPECT_GT(launch.grid.count(), 0U) << launch.kernel;
    }
  }
}

TEST(Plan, ThreadsOfEveryTileAreThoseItWasCompiledFor) {
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      EXPECT_EQ(GemmThreads(tile),
                AllEntries().at(GemmEntry(tile, group, Metadata::k4Byte)).max_threads)
          << ToString(tile);
    }
  }
}

TEST(Plan, NamesEveryBufferOnceAndOnlyBuffersThatItHas) {
  for (const Case& c : ManyCases()) {
    const Plan plan = MakePlan(MakeProblem(c));
    std::map<std::string, int> names;
    for (const BufferSpec& buffer : plan.buffers) {
      EXPECT_EQ(++names[buffer.name], 1) << buffer.name;
      EXPECT_GT(buffer.bytes, 0U) << buffer.name;
      EXPECT_TRUE(buffer.contents.empty() || buffer.contents.size() == buffer.bytes) << buffer.name;
      EXPECT_TRUE(buffer.role != BufferSpec::Role::kInput || !buffer.contents.empty())
          << buffer.name;
    }
    const auto check = [&](const BufferArgument& argument) {
      const BufferSpec* buffer = plan.FindBuffer(argument.buffer);
      ASSERT_NE(buffer, nullptr) << argument.buffer;
      EXPECT_LT(argument.offset, buffer->bytes) << argument.buffer;
    };
    for (const PlanLaunch& launch : plan.launches) {
      for (const PlanArgument& argument : launch.arguments) {
        if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
          check(*buffer);
        }
      }
    }
    for (const PointerFixup& fixup : plan.fixups) {
      check(fixup.target);
      check({fixup.table, fixup.offset + sizeof(DeviceAddress) - 1});
    }
    check(plan.rows);
  }
}

TEST(Plan, LaunchesDoNotDependOnTheRouting) {
  for (Case c : ManyCases()) {
    c.shape.experts = 4;
    c.shape.top_k = 4;
    const auto slots = static_cast<std::size_t>(c.shape.slots());
    std::vector<std::int32_t> ascending;
    std::vector<std::int32_t> descending;
    for (std::size_t i = 0; i < slots; ++i) {
      ascending.push_back(static_cast<std::int32_t>(i % 4));
      descending.push_back(static_cast<std::int32_t>(3 - i % 4));
    }
    const Plan a = MakePlan(MakeProblem(c, ascending));
    const Plan b = MakePlan(MakeProblem(c, descending));
    EXPECT_EQ(a.launches, b.launches);
    EXPECT_EQ(a.fixups, b.fixups);
  }
}

TEST(Plan, ExpertsThatNobodyRoutedToPointAtNanScales) {
  Case c = SmallCase();
  const Plan plan = MakePlan(MakeProblem(c, std::vector<std::int32_t>(32, 5)));
  for (const char* gemm : {"w13", "w2"}) {
    int unused = 0;
    for (const PointerFixup& fixup : plan.fixups) {
      if (fixup.table != std::string(gemm) + ".metadata_table") {
        continue;
      }
      const bool used = fixup.offset == 16 * 5;
      EXPECT_EQ(fixup.target.buffer, std::string(gemm) + (used ? ".metadata" : ".unused_metadata"));
      unused += used ? 0 : 1;
    }
    EXPECT_EQ(unused, 15);
    for (const std::byte byte : plan.FindBuffer(std::string(gemm) + ".unused_metadata")->contents) {
      ASSERT_EQ(byte, std::byte{0xff});
    }
  }
}

TEST(Plan, ExpertsOfOtherRanksAreNotUploaded) {
  Case c = SmallCase();
  c.ep_ranks = 4;
  c.ep_rank = 1;  // experts 4..7
  std::vector<std::int32_t> ids;
  for (int i = 0; i < c.shape.slots(); ++i) {
    ids.push_back(i % 16);
  }
  const Plan plan = MakePlan(MakeProblem(c, ids));
  EXPECT_EQ(plan.FindBuffer("w13.qweight")->bytes, std::size_t{4} * c.w13_k() * c.w13_n() / 2);
  for (const PointerFixup& fixup : plan.fixups) {
    if (fixup.table == "w2.weight_table") {
      const bool local = fixup.offset >= 16 * 4 && fixup.offset < 16 * 8;
      EXPECT_EQ(fixup.target.buffer, local ? "w2.packed" : "w2.unused_packed");
    }
  }
}

TEST(Plan, StageCutsThePlanOff) {
  Case c = SmallCase();
  const auto last = [&](StageSelection stage) {
    c.stage = stage;
    return MakePlan(MakeProblem(c)).launches.back().stage;
  };
  EXPECT_EQ(last(StageSelection::kW13), PlanStage::kW13);
  EXPECT_EQ(last(StageSelection::kSilu), PlanStage::kSilu);
  EXPECT_EQ(last(StageSelection::kW2), PlanStage::kW2);
  EXPECT_EQ(last(StageSelection::kOutput), PlanStage::kReduce);
  EXPECT_EQ(last(StageSelection::kAll), PlanStage::kReduce);
}

TEST(Plan, SegmentLoopLaunchesEverySegmentEmptyOnesIncluded) {
  Case c = SmallCase();
  c.path = Path::kSegment;
  const Plan plan = MakePlan(MakeProblem(c, std::vector<std::int32_t>(32, 3)));
  EXPECT_EQ(std::count_if(plan.launches.begin(), plan.launches.end(),
                          [](const PlanLaunch& l) { return l.stage == PlanStage::kW13; }),
            c.shape.slots());
  c.path = Path::kDense;
  const Plan dense = MakePlan(MakeProblem(c, std::vector<std::int32_t>(32, 3)));
  EXPECT_EQ(std::count_if(dense.launches.begin(), dense.launches.end(),
                          [](const PlanLaunch& l) { return l.stage == PlanStage::kW2; }),
            c.shape.experts);
}

// The arithmetic of sm70/segments.cuh: whatever the segments' lengths, tile numbers do not collide
// and the grid that AddGemm asks for is large enough.
RC_GTEST_PROP(Plan, OffsetScheduleGridHoldsEveryTile, ()) {
  const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  const int tile_rows = *rc::gen::element(8, 16, 32, 64, 128);
  int rows = 0;
  for (const int length : lengths) {
    rows += length;
  }
  RC_PRE(rows > 0);
  const int grid = rows / tile_rows + static_cast<int>(lengths.size());
  int next_free = 0;
  int offset = 0;
  for (int s = 0; s < static_cast<int>(lengths.size()); ++s) {
    const int first = offset / tile_rows + s;
    RC_ASSERT(first >= next_free);
    next_free = first + (lengths[static_cast<std::size_t>(s)] + tile_rows - 1) / tile_rows;
    offset += lengths[static_cast<std::size_t>(s)];
  }
  RC_ASSERT(next_free <= grid);
}

std::string Refusal(const Problem& problem) {
  try {
    MakePlan(problem);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "no refusal";
}

TEST(PlanRefuses, InfeasibleTacticsByRule) {
  Case c = SmallCase();
  c.w2.tile = {8, 128, 64};
  c.shape.intermediate = 160;  // the contract's W2: K = 160 is no multiple of 64
  EXPECT_NE(Refusal(MakeProblem(c)).find("w2=8x128x64/1"), std::string::npos)
      << Refusal(MakeProblem(c));
  EXPECT_NE(Refusal(MakeProblem(c)).find("160"), std::string::npos);
}

TEST(PlanRefuses, SingleTokenRouteForMoreTokensOrHalves) {
  Case c = SmallCase();
  c.path = Path::kM1;
  EXPECT_NE(Refusal(MakeProblem(c)).find("path=m1"), std::string::npos);
  c.shape.tokens = 1;
  c.columns = Columns::kHalves;
  EXPECT_NE(Refusal(MakeProblem(c)).find("cols=interleaved"), std::string::npos);
}

TEST(PlanRefuses, DenseLoopOverShuffledSlots) {
  Case c = SmallCase();
  c.path = Path::kDense;
  c.layout = SlotLayout::kShuffled;
  EXPECT_NE(Refusal(MakeProblem(c)).find("layout=sorted"), std::string::npos);
}

TEST(PlanRefuses, IdsOutsideTheExpertsExceptOnTheSingleTokenRoute) {
  for (const std::int32_t bad : {-1, 16, 17, 2147483647}) {
    Case c = SmallCase();
    std::vector<std::int32_t> ids(32, 2);
    ids[4 * 3 + 1] = bad;
    for (const Path path : {Path::kOffset, Path::kSegment, Path::kDense, Path::kIndexed}) {
      c.path = path;
      const std::string refusal = Refusal(MakeProblem(c, ids));
      EXPECT_NE(refusal.find("topk_ids[3, 1]"), std::string::npos) << refusal;
      EXPECT_NE(refusal.find(std::to_string(bad)), std::string::npos) << refusal;
    }
    c.path = Path::kM1;
    c.shape.tokens = 1;
    EXPECT_EQ(Refusal(MakeProblem(c, {bad, 1, 2, bad})), "no refusal");
  }
}

}  // namespace
}  // namespace voltcheck::kernels
