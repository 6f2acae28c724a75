#ifndef VOLTCHECK_TESTS_CUDA_FAKE_DRIVER_H_
#define VOLTCHECK_TESTS_CUDA_FAKE_DRIVER_H_

#include <string>
#include <vector>

/// What the fake driver library (fake_driver.cpp, built as a shared library of its own) does next,
/// and what it was asked to do. The test program and the library share this one object.
struct FakeDriver {
  int gpus = 1;
  int major = 9;
  int minor = 0;
  std::string fail_entry;  ///< the next call of this entry point gives `fail_result`
  int fail_result = 0;
  std::string jit_log;             ///< what the driver's assembler writes into the error log
  std::vector<std::string> calls;  ///< launches, loads, captures and replays, in order
  std::vector<std::vector<std::string>> graphs;
  bool capturing = false;
};

/// Defined in the library.
FakeDriver& TheFakeDriver();

#endif  // VOLTCHECK_TESTS_CUDA_FAKE_DRIVER_H_
