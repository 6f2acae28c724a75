#ifndef VOLTCHECK_VERIFY_SHORTENED_RUNS_H_
#define VOLTCHECK_VERIFY_SHORTENED_RUNS_H_

#include "fixtures/case/problem.h"
#include "kernels/stage_runner.h"
#include "reference/matrix.h"
#include "reference/stage.h"
#include "verify/device_options.h"

namespace voltcheck::verify {

/// Repeats one GEMM of a case on a shortened input, each time on a fresh device; Run is a RunGemm
/// (verify/departure.h). All arguments must outlive it. `observed` is what the whole case gave.
class ShortenedRuns {
 public:
  ShortenedRuns(const Problem& problem, const DeviceOptions& options,
                const kernels::ObservedStage& observed)
      : problem_(problem), options_(options), observed_(observed) {}

  reference::HalfMatrix Run(reference::Gemm gemm, int kept) const;

 private:
  kernels::Plan W13Plan(int kept) const;
  kernels::Plan W2Plan(int kept) const;

  const Problem& problem_;
  const DeviceOptions& options_;
  const kernels::ObservedStage& observed_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SHORTENED_RUNS_H_
