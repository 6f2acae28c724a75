#include "verify/mutation/mutants.h"

#include <algorithm>
#include <set>

#include "fixtures/case/error.h"
#include "fixtures/counter_random.h"
#include "kernels/kernel_set.h"
#include "verify/mutation/plan_operators.h"
#include "verify/mutation/ptx_operators.h"

namespace voltcheck::mutation {
namespace {

constexpr std::size_t kLongestWhat = 160;

std::string OneLine(std::string text) {
  for (char& c : text) {
    c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), both_spaces), text.end());
  if (text.size() > kLongestWhat) {
    text.resize(kLongestWhat - 3);
    text += "...";
  }
  return text;
}

void CheckOperators(const std::vector<std::string>& operators) {
  std::set<std::string> known;
  for (const PtxOperator& op : PtxOperators()) {
    known.emplace(op.name);
  }
  for (const PlanOperator& op : PlanOperators()) {
    known.emplace(op.name);
  }
  std::string names;
  for (const std::string& name : known) {
    names.append(names.empty() ? "" : ", ").append(name);
  }
  for (const std::string& op : operators) {
    if (!known.contains(op)) {
      throw BadInput("--operators " + op, "no such operator", "the operators are " + names);
    }
  }
}

bool Wanted(const MutantSelection& selection, std::string_view op) {
  const std::vector<std::string>& named = selection.operators;
  return named.empty() || std::find(named.begin(), named.end(), op) != named.end();
}

std::string IdOf(std::string_view op, const std::string& kernel, std::size_t ordinal) {
  return std::string(op) + "@" + kernel + "#" + std::to_string(ordinal);
}

void AddPtxMutants(const MutantSelection& selection, const std::string& entry, MutantSet& set) {
  const KernelText& kernel = *set.kernels.at(entry);
  for (const PtxOperator& op : PtxOperators()) {
    if (!Wanted(selection, op.name)) {
      continue;
    }
    PtxFaults faults;
    op.find(kernel, faults);
    std::size_t ordinal = 0;
    for (PtxFault& fault : faults) {
      set.mutants.push_back({IdOf(op.name, entry, ++ordinal), std::string(op.name), entry,
                             kernel.body()[fault.instruction].location.line,
                             OneLine(std::move(fault.what)), std::move(fault.edits), nullptr});
    }
  }
}

void AddPlanMutants(const MutantSelection& selection, MutantSet& set) {
  for (const PlanOperator& op : PlanOperators()) {
    if (!Wanted(selection, op.name)) {
      continue;
    }
    std::vector<PlanFault> faults;
    op.find(faults);
    std::size_t ordinal = 0;
    for (PlanFault& fault : faults) {
      set.mutants.push_back({IdOf(op.name, "plan", ++ordinal),
                             std::string(op.name),
                             "",
                             0,
                             OneLine(std::move(fault.what)),
                             {},
                             std::move(fault.plant)});
    }
  }
}

std::map<std::string, const kernels::ModuleImage*> EntriesOf(
    const std::vector<kernels::ModuleImage>& images) {
  std::map<std::string, const kernels::ModuleImage*> entries;
  for (const kernels::ModuleImage& image : images) {
    for (const std::string& name : kernels::EntryNames(image.ptx)) {
      entries[name] = &image;
    }
  }
  return entries;
}

// A number for a text, the same on every machine (FNV-1a).
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

MutantSet FindMutants(const MutantSelection& selection) {
  CheckOperators(selection.operators);
  const auto entries =
      EntriesOf(selection.overrides.empty() ? kernels::BuiltInModules() : selection.overrides);
  if (!selection.kernel.empty() && !entries.contains(selection.kernel)) {
    throw BadInput("--kernel " + selection.kernel, "no such kernel",
                   "`voltcheck list kernels` shows what there is");
  }
  MutantSet set;
  for (const auto& [entry, image] : entries) {
    if (selection.kernel.empty() || selection.kernel == entry) {
      set.kernels[entry] = std::make_shared<KernelText>(*image, entry);
      AddPtxMutants(selection, entry, set);
    }
  }
  const bool whole = selection.kernel.empty() && selection.overrides.empty();
  if (whole || !selection.operators.empty()) {
    AddPlanMutants(selection, set);
  }
  return set;
}

std::vector<std::size_t> SampleOrder(const std::vector<Mutant>& mutants, std::uint64_t seed,
                                     std::size_t most) {
  const fixtures::CounterRandom random(seed, 0x6d757461U);
  // The mutants of one operator in one kernel, in a random order.
  struct Cell {
    const std::string* kernel;
    std::uint64_t rank;
    std::vector<std::pair<std::uint64_t, std::size_t>> left;
  };
  std::map<std::string, std::map<std::string, Cell>> cells;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Mutant& mutant = mutants[i];
    Cell& cell = cells[mutant.op][mutant.kernel];
    cell.kernel = &mutant.kernel;
    cell.rank = random.Bits(HashOf(mutant.op + "@" + mutant.kernel));
    cell.left.emplace_back(random.Bits(HashOf(mutant.id)), i);
  }
  for (auto& [op, kernels] : cells) {
    for (auto& [kernel, cell] : kernels) {
      std::sort(cell.left.rbegin(), cell.left.rend());
    }
  }
  // One mutant an operator and round, from the kernel that had the fewest so far.
  std::map<std::string_view, std::size_t> drawn;
  std::vector<std::size_t> order;
  most = std::min(most, mutants.size());
  while (order.size() < most) {
    for (auto& [op, kernels] : cells) {
      Cell* best = nullptr;
      std::pair<std::size_t, std::uint64_t> best_key;
      for (auto& [kernel, cell] : kernels) {
        const std::pair key(drawn[kernel], cell.rank);
        if (!cell.left.empty() && (best == nullptr || key < best_key)) {
          best = &cell;
          best_key = key;
        }
      }
      if (best != nullptr) {
        order.push_back(best->left.back().second);
        best->left.pop_back();
        ++drawn[*best->kernel];
      }
    }
  }
  order.resize(most);
  return order;
}

}  // namespace voltcheck::mutation
