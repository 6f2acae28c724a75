// `voltcheck list`: what there is to choose from.
#include <array>
#include <cstdio>
#include <memory>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic.h"
#include "fixtures/case/tactic_choice.h"
#include "fixtures/fixture_file.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/kernel_set.h"
#include "kernels/simulator/simulator.h"
#include "tools/arguments.h"
#include "tools/session.h"
#include "verify/coverage.h"
#include "verify/properties/property.h"
#include "verify/record.h"
#include "verify/suite.h"

namespace voltcheck::tools {
namespace {

void ListSuites(const Arguments& /*arguments*/) {
  for (const verify::SuiteText& suite : verify::Suites()) {
    std::printf("%-8s %s\n", std::string(suite.name).c_str(), std::string(suite.summary).c_str());
  }
}

// Which groups have a tile.
std::string GroupsOf(const Tile& tile) {
  constexpr std::array<int, 3> kGroups{32, 64, 128};
  std::string groups;
  for (const int group : kGroups) {
    for (const Tile& other : TilesForGroup(group)) {
      if (other == tile) {
        groups += (groups.empty() ? "" : ", ") + std::to_string(group);
      }
    }
  }
  return groups;
}

// The feasible split counts of a tile in one GEMM: "1..8", or why there are none.
std::string SplitsOf(const Tile& tile, int k, int n, int group) {
  int most = 0;
  while (WhyInfeasible({tile, most + 1}, k, n, group).empty()) {
    ++most;
  }
  return most == 0   ? WhyInfeasible({tile, 1}, k, n, group)
         : most == 1 ? "1"
                     : "1.." + std::to_string(most);
}

void ListTactics(const Arguments& arguments) {
  std::vector<Tactic> chosen = ChosenTactics(arguments.Text("tactics"));
  const bool of_a_case = arguments.Has("case");
  const Case c = ParseDescriptor(arguments.Text("case"));
  if (chosen.empty()) {
    chosen = of_a_case ? std::vector{c.w13} : ChosenTactics("all");
    if (of_a_case && c.w2.tile != c.w13.tile) {
      chosen.push_back(c.w2);
    }
  }
  std::printf(
      of_a_case ? "%-12s %s\n" : "%-12s %s\n", "tile",
      of_a_case ? "splits in W13; in W2" : "groups (K a multiple of CTA_K; add /SPLITS, 1..16)");
  std::set<Tile> listed;
  for (const Tactic& tactic : chosen) {
    const Tile& tile = tactic.tile;
    if (!listed.insert(tile).second) {
      continue;
    }
    const std::string text = of_a_case
                                 ? SplitsOf(tile, c.w13_k(), c.w13_n(), c.shape.group) + "; " +
                                       SplitsOf(tile, c.w2_k(), c.w2_n(), c.shape.group)
                                 : GroupsOf(tile);
    std::printf("%-12s %s\n", ToString(tile).c_str(), text.c_str());
  }
}

// The cases of --suite, with --tactics.
std::vector<Case> ListedCases(const Arguments& arguments) {
  const std::string folder = DefaultFixturesFolder();
  verify::ProblemSource source(folder);
  return WithTactics(verify::SuiteCases(arguments.Text("suite"), 0, folder, source),
                     arguments.Text("tactics"));
}

void ListCases(const Arguments& arguments) {
  for (const Case& c : ListedCases(arguments)) {
    std::printf("%s\n", ToDescriptor(c).c_str());
  }
}

void ListCoverage(const Arguments& arguments) {
  std::printf("suite %s, %s", arguments.Text("suite").c_str(),
              verify::ToText(verify::Cover(ListedCases(arguments))).c_str());
}

void ListKernels(const Arguments& /*arguments*/) {
  const std::unique_ptr<kernels::Device> device = simulator::MakeSimulator({});
  for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
    for (const std::string& name : device->KernelNames(device->LoadModule(image))) {
      std::printf("%-32s %s\n", name.c_str(), image.name.c_str());
    }
  }
}

void ListDevices(const Arguments& /*arguments*/) {
  const kernels::DeviceDescription simulated = simulator::MakeSimulator({})->Describe();
  std::printf("%-10s %s\n", simulated.kind.c_str(), simulated.name.c_str());
  try {
    const kernels::DeviceDescription gpu = cuda::MakeCudaDevice(0)->Describe();
    std::printf("%-10s %s, driver %s, runs %s, numerics %s\n", gpu.kind.c_str(), gpu.name.c_str(),
                gpu.driver.c_str(), gpu.code.c_str(), gpu.numerics.c_str());
  } catch (const Error& error) {
    std::printf("%-10s not available: %s\n", "cuda", error.what());
  }
}

void ListNumerics(const Arguments& /*arguments*/) {
  std::printf(
      "v100           sums of four products and C, cut 23 bits below the largest term\n"
      "sm75           the same, cut 24 bits below\n"
      "sm80-software  IEEE operations, as the driver replaces m8n8k4 on sm_80 and newer\n"
      "sm90           two sums of sixteen terms, cut 25 bits below\n");
}

void ListVerdicts(const Arguments& /*arguments*/) {
  constexpr std::array<const char*, verify::kVerdicts> kMeanings{
      "within budget, bits as predicted",
      "over budget, other bits than predicted, or a broken promise",
      "repeats of the same launches gave different bits",
      "nothing wrong was seen, but the check could prove little",
      "a checker found a memory error, a race or a barrier error",
      "the device faulted",
      "left out, with the reason",
      "not run"};
  for (std::size_t v = 0; v < kMeanings.size(); ++v) {
    std::printf("%-17s%s\n", std::string(verify::ToString(static_cast<verify::Verdict>(v))).c_str(),
                kMeanings[v]);
  }
}

void ListProperties(const Arguments& /*arguments*/) {
  for (const properties::Property& property : properties::Properties()) {
    std::printf("%-19s%s%s\n", std::string(property.name).c_str(),
                std::string(property.statement).c_str(),
                property.simulator_only ? " (simulator)" : "");
  }
}

void ListShippedFixtures(const Arguments& /*arguments*/) {
  const std::string folder = DefaultFixturesFolder();
  for (const std::string& path : fixtures::ListFixtures(folder)) {
    std::printf("%s\n", path.c_str());
  }
}

struct Topic {
  const char* name;
  void (*print)(const Arguments& arguments);
};
constexpr std::array<Topic, 10> kTopics{{{"suites", ListSuites},
                                         {"cases", ListCases},
                                         {"coverage", ListCoverage},
                                         {"tactics", ListTactics},
                                         {"kernels", ListKernels},
                                         {"devices", ListDevices},
                                         {"numerics", ListNumerics},
                                         {"verdicts", ListVerdicts},
                                         {"properties", ListProperties},
                                         {"fixtures", ListShippedFixtures}}};

}  // namespace

ExitStatus List(const Words& words) {
  std::string topics;
  for (const Topic& topic : kTopics) {
    topics.append(topics.empty() ? "" : ", ").append(topic.name);
  }
  Arguments arguments("list TOPIC", "Lists what there is to choose from: " + topics + ".");
  arguments.Positional("topic", 1);
  arguments.Value("suite", "full", "cases, coverage: the suite");
  arguments.Value("tactics", "default", std::string(kTacticChoiceHelp).c_str());
  arguments.Value("case", "", "tactics: what fits the sizes of this descriptor");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> chosen = arguments.Texts("topic");
  if (chosen.empty()) {
    throw BadInput("voltcheck list", "needs a topic", "choose from " + topics);
  }
  for (const Topic& topic : kTopics) {
    if (chosen.front() == topic.name) {
      topic.print(arguments);
      return ExitStatus::kPassed;
    }
  }
  throw BadInput("voltcheck list " + chosen.front(), "no such topic", "choose from " + topics);
}

}  // namespace voltcheck::tools
