#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PTX_SUPPORT_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PTX_SUPPORT_H_

#include <string>

namespace voltcheck::shim {

/// Variables of a module that got support.
inline constexpr const char* kOutputEnd = "voltcheck_output_end";
inline constexpr const char* kOutput = "voltcheck_output";
/// A 32-bit word for each %envreg, which the driver sets: 1 and 2 hold the upper and the lower half
/// of the address of a cooperative launch's workspace.
inline constexpr const char* kEnvironment = "voltcheck_envreg";

/// Who tells of a failed assertion: the text that the kernel printed, as CUDA does, or the finding
/// of the simulator's own __assertfail, which names condition, function, file and line.
enum class Assertions { kPrinted, kFound };

/// A module as it can run: what nvcc leaves to the driver is filled in. Calls of vprintf (and, when
/// they are to be printed, __assertfail) go to device/support.cu, whose PTX is put behind the
/// module's, and reads of %envreg registers become loads of a variable. The lines of the module
/// keep their numbers.
std::string WithSupport(std::string ptx, Assertions assertions = Assertions::kPrinted);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PTX_SUPPORT_H_
