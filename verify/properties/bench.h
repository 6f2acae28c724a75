#ifndef VOLTCHECK_VERIFY_PROPERTIES_BENCH_H_
#define VOLTCHECK_VERIFY_PROPERTIES_BENCH_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/stage_runner.h"
#include "verify/device_options.h"

namespace voltcheck::properties {

/// What one run of a stage gave, with the case that fixes its sizes and layouts.
struct StageRun {
  Case c;
  kernels::ObservedStage out;
};

/// A device with the kernels on it.
struct Station {
  std::unique_ptr<kernels::Device> device;
  std::unique_ptr<kernels::KernelSet> kernels;
};

/// Where properties run their problems. Devices are kept from run to run, one for each arithmetic
/// and schedule, since loading the kernels takes longer than a small case. For one thread.
class Bench {
 public:
  /// What a device is made for. Without `all_checks` memory is not tracked byte by byte, so that
  /// buffers may be larger than the machine's memory.
  struct Wish {
    Numerics numerics = Numerics::kV100;
    std::uint64_t schedule = 0;
    bool all_checks = true;
    auto operator<=>(const Wish&) const = default;
  };
  using MakeDevice = std::function<std::unique_ptr<kernels::Device>(const Wish& wish)>;

  /// `schedule` is the one that runs use unless they ask for another.
  Bench(MakeDevice make, std::vector<kernels::ModuleImage> overrides, std::uint64_t schedule);
  explicit Bench(const verify::DeviceOptions& options);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Runs the stage. Throws Breach when the device faulted, a checker found something or a promise
  /// was broken: then the outputs mean nothing. Throws Error where there is no plan for the case.
  StageRun Run(const Problem& problem, const kernels::RunOptions& options = {});
  StageRun Run(const kernels::Plan& plan, const Case& c, const kernels::RunOptions& options = {});
  /// The same under another schedule. Only for simulators.
  StageRun RunScheduled(const Problem& problem, std::uint64_t schedule);

  /// The plan of the kernels that are asked. Throws Error where there is none for the case.
  kernels::Plan MakePlan(const Problem& problem) const;
  /// Somebody else's kernels in the place of the built-in ones; null: none.
  const kernels::Implementation* implementation() const { return implementation_.get(); }

  /// The station for cases of this arithmetic, for properties that drive buffers themselves.
  Station& At(Numerics numerics) { return At({numerics, schedule_, true}); }
  /// The same without the checkers that track memory.
  Station& Untracked(Numerics numerics) { return At({numerics, schedule_, false}); }
  /// Throws Breach when the device has faulted or its checkers found something.
  void ExpectClean(Station& station);
  /// Whether the device can take schedules and other arithmetics. Asks the device.
  bool IsSimulator();

 private:
  Station& At(Wish wish);
  StageRun RunAt(Station& station, const kernels::Plan& plan, const Case& c,
                 const kernels::RunOptions& options);
  /// A device that has faulted is of no further use.
  void DropFaulted();

  MakeDevice make_;
  std::vector<kernels::ModuleImage> overrides_;
  std::shared_ptr<const kernels::Implementation> implementation_;
  std::uint64_t schedule_;
  std::map<Wish, Station> stations_;
  int is_simulator_ = -1;  ///< -1: not asked yet
};

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_BENCH_H_
