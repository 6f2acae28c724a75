#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_LIMITS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_LIMITS_H_

#include <cstddef>
#include <cstdint>

/// What a PTX file may ask of the parser. Real files stay far below; a hostile one is refused
/// before it can exhaust the stack or the memory (a module at every limit at once stays near one
/// gigabyte).
namespace voltcheck::simulator::ptx {

inline constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20;
/// Instructions, modifiers, operands, labels, variables and list entries of one module, all
/// together.
inline constexpr std::size_t kMaxNodes = std::size_t{1} << 23;
inline constexpr std::size_t kMaxRegisters = std::size_t{1} << 18;
inline constexpr std::size_t kMaxNameLength = std::size_t{1} << 14;
/// `%name<N>` makes N names, so its base must be short.
inline constexpr std::size_t kMaxRangeNameLength = 256;
inline constexpr int kMaxScopeDepth = 64;
inline constexpr int kMaxExpressionDepth = 64;
inline constexpr int kMaxInitialiserDepth = 16;
inline constexpr int kMaxOperandDepth = 4;
inline constexpr std::size_t kMaxOperands = 64;
inline constexpr std::size_t kMaxListElements = 512;
inline constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
/// Bytes of all initialised variables of one module together.
inline constexpr std::size_t kMaxInitialBytes = std::size_t{64} << 20;

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_LIMITS_H_
