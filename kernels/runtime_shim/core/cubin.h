#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_CUBIN_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_CUBIN_H_

#include <string>

namespace voltcheck::shim {

/// The cubin for sm_70 that the toolkit's ptxas (VOLTCHECK_PTXAS, or the one on PATH) makes of
/// `ptx`; empty when there is none that can.
std::string AssembleSass(const std::string& ptx);

/// The machine code in a cubin: name and bytes of each kernel's and function's section, by name.
/// Empty for bytes that are no cubin. What else a cubin holds (options of the assembler, debug
/// tables) differs between equal code.
std::string MachineCode(const std::string& cubin);

/// Reads the register count of a kernel out of a cubin: 0 when it is not there.
int RegistersInCubin(const std::string& cubin, const std::string& kernel);

/// SHA-256 in hex.
std::string Sha256(const std::string& bytes);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_CUBIN_H_
