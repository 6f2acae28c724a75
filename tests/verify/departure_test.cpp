// The k-step at which a faulty sum leaves the model, on faults planted at known places.
#include "verify/departure.h"

#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "reference/order_model.h"
#include "verify/observed_halves.h"

namespace voltcheck::verify {
namespace {

using reference::Gemm;
using reference::HalfMatrix;

class DepartureTest : public testing::Test {
 protected:
  DepartureTest()
      : problem_(fixtures::Generate(
            ParseDescriptor("h=256,i=64,e=4,k=2,g=32,t=3,w13=16x128x32/2,w2=16x128x32/1"))),
        permutation_(reference::Permute(problem_)),
        input_(PermutedBits(problem_, permutation_)) {}

  // A device that computes as the model does, on an input that `spoil` has changed.
  template <typename Spoil>
  RunGemm Device(Spoil spoil) {
    return [this, spoil](Gemm gemm, int kept) {
      HalfMatrix a = input_;
      for (std::size_t i = 0; i < a.bits.size(); ++i) {
        const int k = static_cast<int>(i % static_cast<std::size_t>(a.cols));
        if (k >= kept) {
          a.bits[i] = 0;
        }
        spoil(k, a.bits[i]);
      }
      return reference::PredictGemm(problem_, permutation_, gemm, a, problem_.c.w13,
                                    problem_.c.numerics);
    };
  }

  Departure Find(const RunGemm& run) {
    return FindDeparture(problem_, permutation_, Gemm::kW13, input_, problem_.c.w13,
                         problem_.c.numerics, 1, 5, run);
  }

  Problem problem_;
  reference::Permutation permutation_;
  HalfMatrix input_;
};

TEST_F(DepartureTest, ADroppedStepIsFoundInItsSplit) {
  for (const int dropped : {0, 36, 124, 128, 252}) {
    const Departure d = Find(Device([dropped](int k, std::uint16_t& h) {
      if (k >= dropped && k < dropped + 4) {
        h = 0;
      }
    }));
    EXPECT_EQ(d.k, dropped);
    EXPECT_EQ(d.split, dropped < 128 ? 0 : 1);
    EXPECT_EQ(d.row, 1);
    EXPECT_EQ(d.col, 5);
    EXPECT_NE(d.got, d.want);
  }
}

TEST_F(DepartureTest, ASumThatIsWrongWithoutInputDepartsAtOnce) {
  const Departure d = Find([this](Gemm, int) {
    HalfMatrix out{input_.rows, problem_.c.w13_n(), {}};
    out.bits.assign(static_cast<std::size_t>(out.rows) * static_cast<std::size_t>(out.cols),
                    0x4900);
    return out;
  });
  EXPECT_EQ(d.k, 0);
  EXPECT_EQ(d.got, 10);
  EXPECT_EQ(d.want, 0);
}

TEST_F(DepartureTest, ADeviceThatIsRightNowOrFailsGivesNoStep) {
  EXPECT_EQ(Find(Device([](int, std::uint16_t&) {})).k, -1);
  EXPECT_EQ(Find([](Gemm, int) { return HalfMatrix(); }).k, -1);
}

TEST_F(DepartureTest, OneElementIsPredictedAsTheWholeIs) {
  const HalfMatrix whole = reference::PredictGemm(problem_, permutation_, Gemm::kW13, input_,
                                                  problem_.c.w13, problem_.c.numerics);
  for (const int column : {0, 5, 127}) {
    EXPECT_EQ(reference::PredictElement(problem_, permutation_, Gemm::kW13, input_, problem_.c.w13,
                                        problem_.c.numerics, 2, column, input_.cols),
              whole.row(2)[static_cast<std::size_t>(column)]);
  }
}

}  // namespace
}  // namespace voltcheck::verify
