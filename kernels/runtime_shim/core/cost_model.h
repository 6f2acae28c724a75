#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_COST_MODEL_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_COST_MODEL_H_

#include <algorithm>
#include <cstdint>

#include "kernels/device.h"

namespace voltcheck::shim {

// How long things take, in microseconds. It is a model, not a measurement: it depends on the work
// alone, so that a program that times candidates decides the same everywhere. Launches cost 4 us;
// a multiprocessor issues four warp instructions a cycle at 1.38 GHz, a matrix instruction takes
// four issue slots, and blocks spread evenly. Copies move 12 GB/s over the bus and 700 GB/s on the
// device.

inline double KernelMicroseconds(const kernels::Counters& counters, std::uint64_t blocks,
                                 int multiprocessors) {
  const double slots =
      static_cast<double>(counters.warp_instructions) + 3.0 * static_cast<double>(counters.mma);
  const auto busy =
      static_cast<double>(std::min(blocks, static_cast<std::uint64_t>(multiprocessors)));
  return 4.0 + slots / (4.0 * std::max(1.0, busy) * 1380.0);
}

inline double CopyMicroseconds(std::uint64_t bytes, bool over_the_bus) {
  return over_the_bus ? 8.0 + static_cast<double>(bytes) / 12000.0
                      : 3.0 + 2.0 * static_cast<double>(bytes) / 700000.0;
}

inline double FillMicroseconds(std::uint64_t bytes) {
  return 3.0 + static_cast<double>(bytes) / 700000.0;
}

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_COST_MODEL_H_
