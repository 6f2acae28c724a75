// A captured stage replayed with other routings, activations and active counts at the same
// addresses.
#include "kernels/captured_stage.h"

#include <gtest/gtest.h>

#include "fixtures/case/error.h"
#include "rig.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::MakeProblem;
using testing::MakeTestDevice;
using testing::SmallCase;

Case TinyCase() {
  Case c = SmallCase();
  c.shape = {64, 64, 6, 3, 32, 4};
  c.w2.splits = 2;
  return c;
}

/// A problem that holds every expert, whatever it routes to.
Problem WithEveryExpert(const Case& c) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < c.shape.slots(); ++i) {
    ids.push_back(i % c.shape.experts);
  }
  return MakeProblem(c, ids);
}

/// The weights of the first problem under another routing and other activations.
Problem Reroute(const Problem& base, std::uint64_t seed, std::vector<std::int32_t> ids = {}) {
  Case c = base.c;
  c.seed = seed;
  Problem next = MakeProblem(c, std::move(ids));
  for (auto& expert : next.experts) {
    for (const auto& held : base.experts) {
      if (held->id == expert->id) {
        expert = held;
      }
    }
  }
  return next;
}

/// Replays twelve routings and more, each against a fresh eager run of its own.
void ExpectReplaysEqualEager(const Case& c) {
  const Problem base = WithEveryExpert(c);
  const auto device = MakeTestDevice();
  KernelSet kernels(*device, {});
  CapturedStage captured(*device, kernels, base, {});
  std::vector<Problem> problems;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    problems.push_back(Reroute(base, seed));
  }
  for (const std::int32_t only : {0, 5}) {  // one active expert: every other segment is empty
    problems.push_back(
        Reroute(base, 200 + static_cast<std::uint64_t>(only),
                std::vector<std::int32_t>(static_cast<std::size_t>(c.shape.slots()), only)));
  }
  problems.push_back(problems.front());  // and back again
  for (const Problem& next : problems) {
    const ObservedStage replayed = captured.Replay(next);
    EXPECT_TRUE(replayed.violations.empty());
    EXPECT_TRUE(replayed.findings.empty()) << replayed.findings.front().message;
    const auto fresh = MakeTestDevice();
    KernelSet fresh_kernels(*fresh, {});
    const ObservedStage eager = RunPlan(*fresh, fresh_kernels, MakePlan(next), c.shape, {});
    EXPECT_EQ(replayed.source, eager.source);
    EXPECT_EQ(replayed.offsets, eager.offsets);
    EXPECT_EQ(replayed.segment_expert, eager.segment_expert);
    EXPECT_EQ(replayed.w13, eager.w13);
    EXPECT_EQ(replayed.w2, eager.w2);
    EXPECT_EQ(replayed.output, eager.output);
    EXPECT_EQ(captured.RunEager(next).output, eager.output);
  }
}

TEST(CapturedStage, ReplaysOtherRoutings) { ExpectReplaysEqualEager(TinyCase()); }

TEST(CapturedStage, ReplaysUnsortedIds) {
  Case c = TinyCase();
  c.layout = SlotLayout::kShuffled;
  ExpectReplaysEqualEager(c);
}

TEST(CapturedStage, ReplaysTheDenseLoop) {
  Case c = TinyCase();
  c.path = Path::kDense;
  ExpectReplaysEqualEager(c);
}

TEST(CapturedStage, ReplaysTheSegmentLoopAndTheRowIndexList) {
  for (const Path path : {Path::kSegment, Path::kIndexed}) {
    Case c = TinyCase();
    c.path = path;
    c.metadata = Metadata::k3Byte;
    ExpectReplaysEqualEager(c);
  }
}

TEST(CapturedStage, ReplaysTheSingleTokenRoute) {
  Case c = TinyCase();
  c.shape = {64, 64, 6, 6, 32, 1};
  c.path = Path::kM1;
  ExpectReplaysEqualEager(c);
}

TEST(CapturedStage, RefusesAnExpertThatIsNotHeld) {
  const Case c = TinyCase();
  const auto device = MakeTestDevice();
  KernelSet kernels(*device, {});
  CapturedStage captured(*device, kernels, MakeProblem(c, std::vector<std::int32_t>(12, 2)), {});
  try {
    captured.Replay(MakeProblem(c, std::vector<std::int32_t>(12, 3)));
    FAIL() << "replayed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expert 3"), std::string::npos);
  }
}

TEST(CapturedStage, RefusesAnotherShapeOrTactic) {
  const Case c = TinyCase();
  const auto device = MakeTestDevice();
  KernelSet kernels(*device, {});
  CapturedStage captured(*device, kernels, WithEveryExpert(c), {});
  Case other = c;
  other.w2.splits = 1;
  EXPECT_THROW(captured.Replay(WithEveryExpert(other)), Error);
  other = c;
  other.shape.tokens = 5;
  EXPECT_THROW(captured.Replay(WithEveryExpert(other)), Error);
}

}  // namespace
}  // namespace voltcheck::kernels
