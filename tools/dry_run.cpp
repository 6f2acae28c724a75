#include "tools/dry_run.h"

#include <oneapi/tbb/info.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "fixtures/case/error.h"
#include "tools/interrupt.h"
#include "verify/journal/identity.h"
#include "verify/scale/forecast.h"

namespace voltcheck::tools {
namespace {

std::string Bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  return bytes < 10 * kMegabyte ? std::to_string(bytes / 1000) + " KB"
                                : std::to_string(bytes / kMegabyte) + " MB";
}

// The parts of the time that passes on the clock.
struct Wall {
  double setup = 0;
  double cases = 0;
  std::size_t jobs = 0;
  double Total(const verify::Forecast& f) const {
    return setup + f.once_seconds + cases + f.finish_seconds;
  }
};

void PrintText(const std::string& title, const verify::Forecast& f, const Wall& wall) {
  std::printf("%s: %zu cases, %.4g s with %zu jobs, +- %.2g %%\n", title.c_str(), f.cases,
              wall.Total(f), wall.jobs, 200 * f.error);
  std::printf(
      "of them %.3g s to set up, %.3g s to translate kernels, %.4g s for the cases, %.3g s for "
      "the run file\n",
      wall.setup, f.once_seconds, wall.cases, f.finish_seconds);
  std::printf("cases: %.4g core seconds, the longest %.3g s\n", f.core_seconds, f.longest_seconds);
  std::printf("run file %s, journal beside it until the end %s\n", Bytes(f.run_file_bytes).c_str(),
              Bytes(f.journal_bytes).c_str());
  std::printf("from %zu cases that were run in %.3g s\n", f.probes, f.calibration_seconds);
}

void PrintJson(const verify::Forecast& f, const Wall& wall) {
  const nlohmann::ordered_json json = {{"schema", "voltcheck.forecast/1"},
                                       {"cases", f.cases},
                                       {"probes", f.probes},
                                       {"calibration_seconds", f.calibration_seconds},
                                       {"jobs", wall.jobs},
                                       {"wall_seconds", wall.Total(f)},
                                       {"relative_error", 2 * f.error},
                                       {"setup_seconds", wall.setup},
                                       {"translation_seconds", f.once_seconds},
                                       {"cases_seconds", wall.cases},
                                       {"run_file_seconds", f.finish_seconds},
                                       {"core_seconds", f.core_seconds},
                                       {"longest_case_seconds", f.longest_seconds},
                                       {"run_file_bytes", f.run_file_bytes},
                                       {"journal_bytes", f.journal_bytes}};
  std::printf("%s\n", json.dump(1).c_str());
}

// What a rank found, for rank 0: without probes when it was stopped or failed.
struct Share {
  double seconds_per_cost = 0;
  std::uint64_t probes = 0;
  std::uint64_t jobs = 0;
};

// Everyone's calibration together, on rank 0; false when one has none.
bool Combine(verify::Ranks& ranks, verify::Forecast& forecast, std::size_t& jobs) {
  const Share mine{forecast.seconds_per_cost, forecast.probes, jobs};
  const std::string bytes = ranks.Gather({reinterpret_cast<const char*>(&mine), sizeof(mine)});
  std::vector<Share> all(static_cast<std::size_t>(ranks.size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  double seconds = 0;
  jobs = 0;
  for (const Share& share : all) {
    if (share.probes == 0) {
      return false;
    }
    seconds += share.seconds_per_cost;
    jobs += share.jobs;
  }
  const double mean = seconds / static_cast<double>(all.size());
  forecast.core_seconds *= mean / forecast.seconds_per_cost;
  forecast.longest_seconds *= mean / forecast.seconds_per_cost;
  forecast.seconds_per_cost = mean;
  return true;
}

}  // namespace

ExitStatus DryRun(const std::vector<Case>& cases, verify::ProblemSource& source,
                  const SessionOptions& options, const verify::Stopwatch& since_start) {
  const InterruptGuard interrupt;
  source.Preload(cases);
  verify::SweepOptions sweep = HowToRun(options);
  verify::ForecastTask task{&cases, &options.costs, options.order,
                            Provenance(cases, options, source)};
  verify::IdentityText(task.provenance, verify::HashOfBinary());  // as the sweep does
  Wall wall;
  wall.setup = since_start.Seconds();
  const bool shared = options.ranks != nullptr;
  wall.jobs = static_cast<std::size_t>(options.jobs > 0 ? options.jobs
                                       : shared         ? 1
                                                        : oneapi::tbb::info::default_concurrency());
  sweep.jobs = static_cast<int>(wall.jobs);
  verify::Forecast forecast;
  std::string failure;
  try {
    forecast = verify::MakeForecast(task, source, sweep, InterruptGuard::Requested);
  } catch (const Error& error) {
    if (!shared) {
      throw;
    }
    failure = error.what();  // told when nobody waits for this rank any more
  }
  bool known = forecast.probes > 0;
  if (shared) {
    known = Combine(*options.ranks, forecast, wall.jobs);
    if (!failure.empty()) {
      throw Error(ExitStatus::kBadInput, failure);
    }
    if (options.ranks->rank() > 0) {
      return ExitStatus::kPassed;
    }
  }
  if (!known) {
    std::fprintf(stderr, "voltcheck: interrupted before the calibration was over\n");
    return ExitStatus::kInterrupted;
  }
  wall.cases = verify::CasesSeconds(forecast, task, wall.jobs);
  if (options.json) {
    PrintJson(forecast, wall);
  } else {
    PrintText(options.title, forecast, wall);
  }
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
