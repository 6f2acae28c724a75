#include "verify/properties/search.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <rapidcheck/Random.h>

#include <optional>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "verify/properties/draw.h"

namespace voltcheck::properties {
namespace {

using verify::PropertyRecord;
using verify::Verdict;

constexpr int kMostAttempts = 500;  ///< until a draw that the property speaks about is given up
constexpr int kMostEmpty = 5;       ///< draws with nothing to compare, likewise
constexpr int kMostDeclined = 60;   ///< likewise where somebody else's kernels decline cases
constexpr int kMostShrinkRuns = 400;
constexpr int kMostSlotsOfManyRuns = 40;
constexpr int kFullSize = 100;  // RapidCheck's nominal size: ranges are taken whole

Verdict VerdictOf(Holding holding) {
  switch (holding) {
    case Holding::kHeld:
      return Verdict::kPassed;
    case Holding::kBroken:
      return Verdict::kFailed;
    case Holding::kNotApplicable:
      break;
  }
  return Verdict::kSkipped;
}

PropertyRecord Record(const Property& property, const Case& c, const PropertyResult& result,
                      const std::string& suffix) {
  PropertyRecord record;
  record.property = property.name;
  record.descriptor = ToDescriptor(c);
  record.verdict = VerdictOf(result.holding);
  record.reason = result.reason;
  record.reproduction = "voltcheck replay --property " + record.property + " --case '" +
                        record.descriptor + "'" + suffix;
  record.tensor = result.tensor;
  record.row = result.row;
  record.col = result.col;
  record.got = result.got;
  record.want = result.want;
  return record;
}

/// The draw number `draw` that fits the property and, when one is found, the hazard that is next in
/// turn. `attempt` goes on from where the last call ended.
std::optional<rc::Shrinkable<Case>> Draw(const Property& property, std::uint64_t seed, int draw,
                                         int& attempt) {
  static const rc::Gen<Case> kCases = SmallCases();
  const auto number = static_cast<std::size_t>(&property - Properties().data());
  const std::size_t turn = number + static_cast<std::size_t>(draw) * Properties().size();
  const Hazard& hazard = Hazards()[turn % Hazards().size()];
  std::optional<rc::Shrinkable<Case>> second_best;
  for (const int end = attempt + kMostAttempts; attempt < end; ++attempt) {
    const rc::Random::Key key{seed, number, static_cast<std::uint64_t>(draw),
                              static_cast<std::uint64_t>(attempt)};
    const rc::Shrinkable<Case> drawn = kCases(rc::Random(key), kFullSize);
    const Case c = drawn.value();
    const bool too_large = property.many_runs && c.shape.slots() > kMostSlotsOfManyRuns;
    if (too_large || !AppliesTo(property, c)) {
      continue;
    }
    if (hazard.has(c, fixtures::GenerateRouting(c).ids)) {
      ++attempt;
      return drawn;
    }
    if (!second_best) {
      second_best = drawn;
    }
  }
  return second_best;
}

std::vector<const Property*> ChosenOf(const SearchOptions& options) {
  std::vector<const Property*> chosen = options.chosen;
  if (chosen.empty()) {
    for (const Property& property : Properties()) {
      chosen.push_back(&property);
    }
  }
  return chosen;
}

/// Everything that one property's share of the work needs and leaves behind.
class Worker {
 public:
  Worker(const Property& property, const SearchOptions& options, const std::function<bool()>& stop)
      : property_(property), options_(options), stop_(stop), bench_(options.make_bench()) {}

  void AskRegressions() {
    for (const Regression& regression : options_.regressions) {
      if (regression.property == property_.name && !Stopped()) {
        PropertyRecord record =
            Record(property_, regression.c, Ask(regression.c), options_.reproduction_suffix);
        record.regression = true;
        record.seed = options_.seed;
        broken_ = broken_ || record.verdict == Verdict::kFailed;
        regressions.push_back(std::move(record));
      }
    }
  }

  void AskQuestions() {
    std::uint64_t number = static_cast<std::uint64_t>(options_.draws);  // behind the drawn ones
    for (const Regression& question : options_.questions) {
      if (question.property == property_.name && !broken_ && !Stopped()) {
        PropertyRecord record =
            Record(property_, question.c, Ask(question.c), options_.reproduction_suffix);
        record.seed = options_.seed;
        record.draw = number++;
        broken_ = broken_ || record.verdict == Verdict::kFailed;
        draws.push_back(std::move(record));
      }
    }
  }

  void AskDraws() {
    for (int draw = 0; draw < options_.draws && !broken_ && !Stopped(); ++draw) {
      AskDraw(draw);
    }
  }

  /// Gives the devices back.
  void Finish() { bench_.reset(); }

  std::vector<PropertyRecord> regressions;
  std::vector<PropertyRecord> draws;
  HazardCounts hazards;
  bool complete = true;

 private:
  bool Stopped() {
    complete = complete && !stop_();
    return !complete;
  }

  PropertyResult Ask(const Case& c) {
    return CheckProperty(property_, fixtures::Generate(c), *bench_);
  }

  void AskDraw(int draw) {
    PropertyRecord record;
    record.property = property_.name;
    record.verdict = Verdict::kSkipped;
    record.reason = "no case was drawn that it speaks about";
    int attempt = 0;
    const int most_empty = bench_->implementation() == nullptr ? kMostEmpty : kMostDeclined;
    for (int empty = 0; empty < most_empty; ++empty) {
      const std::optional<rc::Shrinkable<Case>> drawn =
          Draw(property_, options_.seed, draw, attempt);
      if (!drawn) {
        break;
      }
      const Case c = drawn->value();
      hazards.Add(c);
      const PropertyResult result = Ask(c);
      record = Record(property_, c, result, options_.reproduction_suffix);
      if (result.holding == Holding::kBroken) {
        broken_ = true;
        record = Shrink(*drawn, record);
      }
      const bool never = property_.simulator_only ||
                         (property_.built_in_only && bench_->implementation() != nullptr);
      if (result.holding != Holding::kNotApplicable || never) {
        break;
      }
    }
    record.seed = options_.seed;
    record.draw = static_cast<std::uint64_t>(draw);
    draws.push_back(std::move(record));
  }

  /// Goes to the first smaller case that breaks the property too, as long as there is one.
  PropertyRecord Shrink(rc::Shrinkable<Case> smallest, PropertyRecord record) {
    const std::string drawn = record.descriptor;
    std::uint64_t steps = 0;
    int runs = 0;
    for (bool found = true; found;) {
      found = false;
      auto smaller = smallest.shrinks();
      for (auto next = smaller.next(); next && runs < kMostShrinkRuns; next = smaller.next()) {
        const Case c = next->value();
        if (!AppliesTo(property_, c)) {
          continue;
        }
        ++runs;
        const PropertyResult result = Ask(c);
        if (result.holding == Holding::kBroken) {
          smallest = *next;
          record = Record(property_, c, result, options_.reproduction_suffix);
          ++steps;
          found = true;
          break;
        }
      }
    }
    record.drawn = drawn;
    record.shrinks = steps;
    return record;
  }

  const Property& property_;
  const SearchOptions& options_;
  const std::function<bool()>& stop_;
  std::unique_ptr<Bench> bench_;
  bool broken_ = false;
};

void Count(const PropertyRecord& record, SearchResult& result) {
  switch (record.verdict) {
    case Verdict::kPassed:
      ++result.held;
      break;
    case Verdict::kFailed:
      ++result.broken;
      break;
    default:
      ++result.skipped;
      break;
  }
}

}  // namespace

std::vector<Regression> SearchResult::Counterexamples() const {
  std::vector<Regression> found;
  for (const PropertyRecord& record : records) {
    if (record.verdict == Verdict::kFailed) {
      found.push_back({record.property, ParseDescriptor(record.descriptor)});
    }
  }
  return found;
}

PropertyRecord AskOnce(const Property& property, const Problem& problem, Bench& bench,
                       const std::string& reproduction_suffix) {
  return Record(property, problem.c, CheckProperty(property, problem, bench), reproduction_suffix);
}

std::vector<Case> DrawnCases(const SearchOptions& options) {
  std::vector<Case> cases;
  for (const Property* property : ChosenOf(options)) {
    for (int draw = 0; draw < options.draws; ++draw) {
      int attempt = 0;
      if (const auto drawn = Draw(*property, options.seed, draw, attempt)) {
        cases.push_back(drawn->value());
      }
    }
  }
  return cases;
}

SearchOptions MakeSearchOptions(const verify::DeviceOptions& device) {
  SearchOptions options;
  verify::DeviceOptions alone = device;
  alone.jobs = 1;  // properties are what runs side by side
  options.make_bench = [alone] { return std::make_unique<Bench>(alone); };
  options.jobs = device.kind == "simulator" ? 0 : 1;
  options.reproduction_suffix = " --device " + device.kind;
  if (device.kind == "simulator") {
    options.reproduction_suffix += " --schedule " + std::to_string(device.schedule);
  }
  return options;
}

SearchResult RunProperties(const SearchOptions& options, const std::function<bool()>& stop) {
  const std::vector<const Property*> chosen = ChosenOf(options);
  const int jobs = options.jobs > 0 ? options.jobs : oneapi::tbb::info::default_concurrency();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(jobs));
  std::vector<std::unique_ptr<Worker>> workers(chosen.size());
  oneapi::tbb::parallel_for(
      std::size_t{0}, chosen.size(),
      [&](std::size_t i) {
        workers[i] = std::make_unique<Worker>(*chosen[i], options, stop);
        workers[i]->AskRegressions();
        workers[i]->AskQuestions();
        workers[i]->AskDraws();
        workers[i]->Finish();
      },
      oneapi::tbb::simple_partitioner());

  SearchResult result;
  result.classes_due = options.chosen.empty() && options.draws >= 4;
  for (const auto& worker : workers) {
    result.records.insert(result.records.end(), worker->regressions.begin(),
                          worker->regressions.end());
  }
  for (const auto& worker : workers) {
    result.records.insert(result.records.end(), worker->draws.begin(), worker->draws.end());
    result.hazards.Add(worker->hazards);
    result.complete = result.complete && worker->complete;
  }
  for (const PropertyRecord& record : result.records) {
    Count(record, result);
  }
  return result;
}

}  // namespace voltcheck::properties
