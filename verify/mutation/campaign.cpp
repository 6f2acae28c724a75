#include "verify/mutation/campaign.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "verify/mutation/assembler.h"
#include "verify/mutation/data_files.h"
#include "verify/mutation/gemm_entry.h"
#include "verify/mutation/proof/prover.h"
#include "verify/mutation/trial.h"

namespace voltcheck::mutation {
namespace {

using verify::Verdict;

// Runs body(i) for i < count on `jobs` threads. The first exception by index is thrown on.
template <typename Body>
void ForEach(std::size_t count, int jobs, Body body) {
  const auto threads =
      static_cast<std::size_t>(jobs > 0 ? jobs : oneapi::tbb::info::default_concurrency());
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          threads);
  std::vector<std::exception_ptr> errors(count);
  // One at a time: some take a thousand times as long as others.
  oneapi::tbb::parallel_for(
      std::size_t{0}, count,
      [&](std::size_t i) {
        try {
          body(i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      },
      oneapi::tbb::simple_partitioner());
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

class Runner {
 public:
  Runner(const CampaignOptions& options, const MutantSet& set)
      : options_(options), set_(set), bench_(options.selection.overrides, options.judging) {
    for (const std::string& line : DataLines(data::Equivalent())) {
      const std::size_t first = line.find(" | ");
      const std::size_t second = line.find(" | ", first + 3);
      proofs_.push_back({line.substr(0, first), line.substr(first + 3, second - first - 3),
                         line.substr(second + 3)});
    }
  }

  MutantResult Run(const Mutant& mutant) {
    MutantResult result;
    result.mutant = mutant;
    result.mutant.edits.clear();
    kernels::ModuleImage image;
    if (mutant.in_kernel()) {
      const KernelText& kernel = *set_.kernels.at(mutant.kernel);
      image = {kernel.file(), Apply(kernel.text(), mutant.edits), {}};
    }
    const auto known = options_.known.find(mutant.id);
    if (known != options_.known.end() && known->second.mutant.what == mutant.what) {
      Restore(known->second, image, result);
      return result;
    }
    // What a case has caught is not the same machine code; whether the assembler takes it is left
    // open then.
    if (!options_.kill_only && !IsAnotherProgram(mutant, image, result)) {
      return result;
    }
    const Start start = std::chrono::steady_clock::now();
    try {
      KillQuickly(image, start, result);
      if (result.fate == Fate::kCaught ||
          (options_.kill_only &&
           (!IsAnotherProgram(mutant, image, result) || HasProof(mutant, result)))) {
        return result;
      }
      KillDeeply(image, start, result);
      if (result.fate == Fate::kSurvived) {
        HasProof(mutant, result);
      }
    } catch (const Error& error) {
      if (error.status() != ExitStatus::kBadInput) {
        throw;
      }
      result.fate = Fate::kDiscarded;
      result.reason = std::string("simulator: ") + error.what();
    }
    return result;
  }

  HonestFigures Honest() const { return bench_.Figures(); }

 private:
  // A line of equivalent.txt; a * in the id stands for any text.
  struct Proof {
    std::string id, change, why;
  };
  using Start = std::chrono::steady_clock::time_point;

  // What `made` has for a kernel, made when it is first asked for.
  template <typename Value, typename Make>
  const Value& For(const std::string& kernel, std::map<std::string, Value>& made, Make make) {
    std::unique_lock lock(mutex_);
    const auto known = made.find(kernel);
    if (known != made.end()) {
      return known->second;
    }
    lock.unlock();
    Value value = make();
    lock.lock();
    return made.emplace(kernel, std::move(value)).first->second;
  }

  const std::vector<std::byte>& CodeFor(const std::string& kernel) {
    return For(kernel, code_, [&] {
      Assembled original = Assemble(options_.ptxas, set_.kernels.at(kernel)->text(), kernel);
      if (!original.accepted) {
        throw Error(ExitStatus::kUnavailable, options_.ptxas + ": does not take " + kernel + " (" +
                                                  original.message +
                                                  "); name the ptxas of CUDA Toolkit 11.8");
      }
      return std::move(original.code);
    });
  }

  const std::vector<Killer>& QuickFor(const std::string& kernel) {
    return For(kernel, quick_, [&] { return WithinBudget(QuickKillers(kernel), 1); });
  }

  // Made only for kernels of which a mutant survived the first set.
  const std::vector<Killer>& DeepFor(const std::string& kernel) {
    return For(kernel, deep_, [&] { return WithinBudget(DeepKillers(kernel), 10); });
  }

  // The first of them, `times` the budget.
  std::vector<Killer> WithinBudget(std::vector<Killer> killers, std::uint64_t times) const {
    if (options_.budget_cases > 0 && killers.size() > options_.budget_cases * times) {
      killers.resize(options_.budget_cases * times);
    }
    return killers;
  }

  // Asks the assembler. False: it refused, or makes the same machine code as of the original.
  bool IsAnotherProgram(const Mutant& mutant, const kernels::ModuleImage& image,
                        MutantResult& result) {
    if (!mutant.in_kernel() || options_.ptxas.empty()) {
      return true;
    }
    const Assembled assembled = Assemble(options_.ptxas, image.ptx, mutant.kernel);
    if (!assembled.accepted) {
      result.fate = Fate::kDiscarded;
      result.reason = "ptxas: " + assembled.message;
    } else if (assembled.code == CodeFor(mutant.kernel)) {
      result.fate = Fate::kEquivalent;
      result.reason = "the same machine code";
    }
    return result.fate == Fate::kSurvived;
  }

  // Shows the mutant its cases until Voltcheck has caught it and no policy is left that might.
  void KillQuickly(const kernels::ModuleImage& image, Start start, MutantResult& result) {
    for (const Killer& killer : QuickFor(result.mutant.kernel)) {
      Show(killer, image, start, result);
      if (result.fate == Fate::kCaught && (options_.kill_only || AllRejected(result))) {
        return;
      }
    }
  }

  // The second set, after the first.
  void KillDeeply(const kernels::ModuleImage& image, Start start, MutantResult& result) {
    result.deep = true;
    for (const Killer& killer : DeepFor(result.mutant.kernel)) {
      Show(killer, image, start, result);
      if (result.fate == Fate::kCaught) {
        return;
      }
    }
  }

  // Makes a mutant equivalent whose proof is written down, or found.
  bool HasProof(const Mutant& mutant, MutantResult& result) {
    const auto proof = std::find_if(proofs_.begin(), proofs_.end(), [&](const Proof& p) {
      return FitsPattern(p.id, mutant.id) && p.change == mutant.what;
    });
    std::string why = proof == proofs_.end() ? std::string() : proof->why;
    if (why.empty() && mutant.in_kernel()) {
      why = For(mutant.kernel, provers_, [&] {
              return std::make_shared<proof::Prover>(set_.kernels.at(mutant.kernel));
            })->Prove(mutant.edits);
    }
    if (why.empty()) {
      return false;
    }
    result.fate = Fate::kEquivalent;
    result.reason = "proof: " + why;
    return true;
  }

  // What is known of a mutant, with the record of the case that caught it made anew.
  void Restore(const MutantResult& known, const kernels::ModuleImage& image, MutantResult& result) {
    const Mutant mutant = result.mutant;
    result = known;
    result.mutant = mutant;
    if (known.fate == Fate::kCaught) {
      const Killer killer{ParseDescriptor(known.killer.descriptor), known.schedule};
      result.killer = bench_.Run(mutant, image, killer).record;
      bench_.Honest(killer);
    }
  }

  static bool AllRejected(const MutantResult& result) {
    return std::find(result.rejected.begin(), result.rejected.end(), false) ==
           result.rejected.end();
  }

  void Show(const Killer& killer, const kernels::ModuleImage& image, Start start,
            MutantResult& result) {
    Trial trial = bench_.Run(result.mutant, image, killer);
    ++result.cases;
    // Where every bit is as it should be, no policy can tell the mutant from the original.
    if (!trial.applicable || trial.passed()) {
      return;
    }
    const Trial& honest = bench_.Honest(killer);
    if (!honest.passed()) {
      return;
    }
    for (std::size_t i = 0; i < kPolicies; ++i) {
      const bool says_so = trial.record.verdict == Verdict::kCrashed || honest.accepted[i];
      result.rejected[i] = result.rejected[i] || (says_so && !trial.accepted[i]);
    }
    if (result.fate != Fate::kCaught) {
      result.fate = Fate::kCaught;
      result.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      result.reason = trial.record.reason;
      result.killer = std::move(trial.record);
      result.schedule = killer.schedule;
    }
  }

  const CampaignOptions& options_;
  const MutantSet& set_;
  Bench bench_;
  std::vector<Proof> proofs_;
  std::mutex mutex_;
  // Of each kernel.
  std::map<std::string, std::vector<std::byte>> code_;
  std::map<std::string, std::vector<Killer>> quick_;
  std::map<std::string, std::vector<Killer>> deep_;
  std::map<std::string, std::shared_ptr<proof::Prover>> provers_;
};

}  // namespace

std::string_view ToString(Fate fate) {
  constexpr std::array<std::string_view, 4> kNames{"discarded", "equivalent", "caught", "survived"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::uint64_t Campaign::Count(Fate fate) const {
  return static_cast<std::uint64_t>(
      std::count_if(results.begin(), results.end(),
                    [=](const MutantResult& result) { return result.fate == fate; }));
}

double Campaign::CaughtShare() const {
  const std::uint64_t real = Count(Fate::kCaught) + Count(Fate::kSurvived);
  return real == 0 ? 1.0 : static_cast<double>(Count(Fate::kCaught)) / static_cast<double>(real);
}

double Campaign::MedianKill() const {
  std::vector<double> seconds;
  for (const MutantResult& result : results) {
    if (result.fate == Fate::kCaught) {
      seconds.push_back(result.seconds);
    }
  }
  if (seconds.empty()) {
    return 0;
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

Campaign RunCampaign(const CampaignOptions& options) {
  const MutantSet set = FindMutants(options.selection);
  const std::vector<std::size_t> order =
      SampleOrder(set.mutants, options.seed,
                  options.sample == 0 ? set.mutants.size() : 2 * options.sample + 100);
  Runner runner(options, set);
  Campaign campaign;
  std::mutex progress;
  // Discarded mutants are made up for from the rest of the order, in rounds.
  while (campaign.results.size() < order.size() && campaign.complete) {
    const std::size_t done = campaign.results.size();
    const std::uint64_t wanted = options.sample == 0 ? order.size() : options.sample;
    const std::uint64_t missing = wanted - std::min(wanted, campaign.mutants());
    const std::size_t count = std::min<std::size_t>(missing, order.size() - done);
    if (count == 0) {
      break;
    }
    std::vector<std::optional<MutantResult>> round(count);
    ForEach(count, options.jobs, [&](std::size_t i) {
      if (options.stop && options.stop()) {
        return;
      }
      round[i] = runner.Run(set.mutants[order[done + i]]);
      if (options.progress) {
        const std::lock_guard lock(progress);
        options.progress(*round[i]);
      }
    });
    for (std::optional<MutantResult>& result : round) {
      campaign.complete = campaign.complete && result.has_value();
      if (result) {
        campaign.results.push_back(std::move(*result));
      }
    }
  }
  campaign.honest = runner.Honest();
  return campaign;
}

HonestFigures RunHonestCases(const HonestOptions& options) {
  const Bench bench(options.overrides, options.judging);
  HonestFigures all;
  for (std::uint64_t first = 0; first < options.count; first += kHonestBlock) {
    const std::uint64_t count = std::min(kHonestBlock, options.count - first);
    const auto known = options.known.find(first);
    if (known != options.known.end() && known->second.cases == count) {
      all.Add(known->second);
      continue;
    }
    std::vector<std::optional<Trial>> trials(count);
    ForEach(count, options.jobs, [&](std::size_t i) {
      if (!options.stop || !options.stop()) {
        trials[i] = bench.RunHonest(HonestCase(first + i, options.seed));
        trials[i]->record.failures.clear();
      }
    });
    HonestFigures block;
    for (const std::optional<Trial>& trial : trials) {
      if (trial) {
        block.Add(*trial);
      }
    }
    all.Add(block);
    if (block.cases < count) {
      break;
    }
    if (options.progress) {
      options.progress(first, block);
    }
  }
  return all;
}

}  // namespace voltcheck::mutation
