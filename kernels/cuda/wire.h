#ifndef VOLTCHECK_KERNELS_CUDA_WIRE_H_
#define VOLTCHECK_KERNELS_CUDA_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace voltcheck::cuda {

/// What a device can be asked across a process boundary (kernels/device.h, call by call).
enum class DeviceCall : std::uint8_t {
  kDescribe,
  kAllocate,
  kFree,
  kCopyToDevice,
  kCopyFromDevice,
  kFill,
  kLoadModule,
  kFindKernel,
  kKernelNames,
  kParameters,
  kRun,
  kCapture,
  kReplay,
  kDropSequence,
  kSynchronize,
  kTakeFindings,
  kTakeCounters,
};

/// The bytes of one message between two processes of one program: values as they lie in memory,
/// texts and blocks with their length before them.
class WireWriter {
 public:
  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Append(&value, sizeof(T));
  }
  void PutBlock(std::span<const std::byte> block) {
    Put<std::uint64_t>(block.size());
    Append(block.data(), block.size());
  }
  void PutText(std::string_view text) { PutBlock(std::as_bytes(std::span(text))); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  // Not in the header: inlined there, GCC 12 warns of overflows that cannot happen.
  void Append(const void* from, std::size_t bytes);
  std::vector<std::byte> bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  template <typename T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, Next(sizeof(T)), sizeof(T));
    return value;
  }
  std::vector<std::byte> TakeBlock() {
    const auto size = static_cast<std::size_t>(Take<std::uint64_t>());
    const std::byte* begin = Next(size);
    return {begin, begin + size};
  }
  std::string TakeText() {
    const std::vector<std::byte> block = TakeBlock();
    return {reinterpret_cast<const char*>(block.data()), block.size()};
  }

 private:
  const std::byte* Next(std::size_t size) {
    if (size > bytes_.size() - at_) {
      throw std::length_error("a message between processes is too short");
    }
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Sends one message over a socket; false when the other side is gone.
bool SendMessage(int socket, const std::vector<std::byte>& bytes);
/// Receives one; false when the other side is gone.
bool ReceiveMessage(int socket, std::vector<std::byte>& bytes);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_WIRE_H_
