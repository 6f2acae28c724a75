#include "verify/mutation/plan_operators.h"

#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "verify/mutation/killers.h"

namespace voltcheck::mutation {
namespace {

bool SamePlan(const kernels::Plan& a, const kernels::Plan& b) {
  return a.buffers == b.buffers && a.fixups == b.fixups && a.launches == b.launches;
}

// Each fault changes the plan of some killer, and leaves a plan alone where it says so.
TEST(PlanOperator, EachFaultHasAPlaceInSomeKiller) {
  std::vector<kernels::Plan> plans;
  for (const Killer& killer : QuickKillers("")) {
    plans.push_back(kernels::MakePlan(fixtures::Generate(killer.c)));
  }
  for (const PlanOperator& op : PlanOperators()) {
    std::vector<PlanFault> faults;
    op.find(faults);
    EXPECT_FALSE(faults.empty()) << op.name;
    for (const PlanFault& fault : faults) {
      EXPECT_EQ(fault.op, op.name);
      bool planted = false;
      for (const kernels::Plan& plan : plans) {
        kernels::Plan changed = plan;
        const bool applied = fault.plant(changed);
        EXPECT_EQ(applied, !SamePlan(plan, changed)) << op.name << ": " << fault.what;
        planted = planted || applied;
      }
      EXPECT_TRUE(planted) << op.name << ": " << fault.what;
    }
  }
}

}  // namespace
}  // namespace voltcheck::mutation
