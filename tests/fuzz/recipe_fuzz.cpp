// Fuzz target of recipes: any bytes are read, or refused with one Error line; what is read makes a
// plan for a small case, or one line again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fixtures/case/error.h"
#include "kernels/recipe/recipe.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// A case without weights: the expressions need its sizes alone.
voltcheck::Problem SmallProblem() {
  voltcheck::Problem problem;
  problem.c.shape = {64, 32, 4, 2, 32, 1};
  problem.c.w13 = voltcheck::DefaultTactic(2, 64, 64, 32);
  problem.c.w2 = voltcheck::DefaultTactic(2, 32, 64, 32);
  problem.hidden.resize(64);
  problem.topk_ids = {0, 1};
  problem.topk_weights = {0.5F, 0.5F};
  problem.slot_order = {0, 1};
  return problem;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const voltcheck::Problem problem = SmallProblem();
  try {
    const voltcheck::recipe::Recipe recipe =
        voltcheck::recipe::ReadRecipe("fuzz.json", {reinterpret_cast<const char*>(data), size});
    Require(!recipe.steps.empty());
    for (const auto& step : recipe.steps) {
      Require(!step.launches.empty() && (step.parts.writes & ~step.parts.computes) == 0);
    }
    const voltcheck::kernels::Plan plan =
        voltcheck::recipe::MakeRecipePlan(recipe, "fuzz.json", problem);
    Require(plan.launches.size() < 70000);
    for (const auto& launch : plan.launches) {
      Require(launch.grid.count() > 0 && launch.block.count() > 0);
    }
  } catch (const voltcheck::Error& error) {
    const std::string line = error.what();
    Require(error.status() == voltcheck::ExitStatus::kBadInput);
    Require(line.rfind("fuzz.json", 0) == 0 && line.find('\n') == std::string::npos);
  }
  return 0;
}
