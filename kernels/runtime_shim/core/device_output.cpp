#include "kernels/runtime_shim/core/device_output.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/runtime_shim/core/ptx_support.h"

namespace voltcheck::shim {
namespace {

constexpr std::size_t kHeader = 12;

template <typename T>
T At(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

template <typename T>
std::string Formatted(const std::string& conversion, T value) {
  const int bytes = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string text(bytes < 0 ? 0 : static_cast<std::size_t>(bytes) + 1, '\0');
  if (bytes >= 0) {
    std::snprintf(text.data(), text.size(), conversion.c_str(), value);
    text.pop_back();
  }
  return text;
}

/// Takes arguments and texts of one record in the order of its conversions.
class Record {
 public:
  Record(std::span<const std::byte> arguments, std::string_view format, const char* texts,
         const char* end)
      : arguments_(arguments), format_(format), texts_(texts), end_(end) {}

  std::string Format() {
    std::string text;
    for (std::size_t i = 0; i < format_.size(); ++i) {
      if (format_[i] != '%') {
        text += format_[i];
        continue;
      }
      std::size_t last = i + 1;
      while (last < format_.size() &&
             std::strchr("-+ #0123456789.*hljztL", format_[last]) != nullptr) {
        ++last;
      }
      if (last < format_.size()) {
        text += Convert(std::string(format_.substr(i + 1, last - i - 1)), format_[last]);
      }
      i = last;
    }
    return text;
  }

 private:
  template <typename T>
  T Next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const T value = At<T>(arguments_, at_);
    at_ += sizeof(T);
    return value;
  }

  std::string Convert(const std::string& flags, char kind) {
    std::string conversion = "%";
    bool wide = false;
    for (const char c : flags) {
      if (c == '*') {
        conversion += std::to_string(Next<std::int32_t>());
      } else if (std::strchr("hljztL", c) == nullptr) {
        conversion += c;
      } else {
        wide |= c != 'h' && c != 'L';
      }
    }
    switch (kind) {
      case '%':
        return "%";
      case 'd':
      case 'i':
        return wide ? Formatted(conversion + "l" + kind, Next<std::int64_t>())
                    : Formatted(conversion + kind, Next<int>());
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return wide ? Formatted(conversion + "l" + kind, Next<std::uint64_t>())
                    : Formatted(conversion + kind, Next<unsigned>());
      case 'c':
        return Formatted(conversion + kind, Next<int>());
      case 'p':
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device, printed and never
        // used
        return Formatted(conversion + kind, reinterpret_cast<void*>(Next<std::uintptr_t>()));
      case 's': {
        Next<std::uint64_t>();
        const std::string text(texts_, strnlen(texts_, static_cast<std::size_t>(end_ - texts_)));
        texts_ +=
            std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(text.size()) + 1, end_ - texts_);
        return Formatted(conversion + kind, text.c_str());
      }
      default:
        return std::strchr("eEfFgGaA", kind) != nullptr
                   ? Formatted(conversion + kind, Next<double>())
                   : "";
    }
  }

  std::span<const std::byte> arguments_;
  std::string_view format_;
  const char* texts_;
  const char* end_;
  std::size_t at_ = 0;
};

}  // namespace

DeviceOutput FormatRecords(std::span<const std::byte> records) {
  DeviceOutput output;
  for (std::size_t at = 0; at + kHeader <= records.size();) {
    const auto bytes = At<std::uint32_t>(records, at);
    const auto kind = At<std::uint32_t>(records, at + 4);
    const auto arguments = At<std::uint32_t>(records, at + 8);
    if (bytes < kHeader || bytes > records.size() - at || arguments > bytes - kHeader) {
      break;
    }
    const std::span<const std::byte> record = records.subspan(at, bytes);
    const char* format = reinterpret_cast<const char*>(record.data()) + kHeader + arguments;
    const char* end = reinterpret_cast<const char*>(record.data()) + bytes;
    const std::string_view text(format, strnlen(format, static_cast<std::size_t>(end - format)));
    const char* texts = std::min(format + text.size() + 1, end);
    Record reader(record.subspan(kHeader, arguments), text, texts, end);
    (kind == 0 ? output.printed : output.failed) += reader.Format();
    at += (bytes + std::size_t{7}) / 8 * 8;
  }
  return output;
}

DeviceOutput TakeOutput(simulator::SimulatorDevice& device, std::uint32_t module) {
  const auto end_variable = device.FindVariable(module, kOutputEnd);
  if (end_variable.bytes == 0) {
    return {};
  }
  std::uint64_t end = 0;
  device.CopyFromDevice(std::as_writable_bytes(std::span(&end, 1)), end_variable.address);
  if (end == 0) {
    return {};
  }
  const auto output = device.FindVariable(module, kOutput);
  std::vector<std::byte> records(std::min(end, output.bytes));
  device.CopyFromDevice(records, output.address);
  const std::uint64_t empty = 0;
  device.CopyToDevice(end_variable.address, kernels::ArgumentBytes(empty));
  return FormatRecords(records);
}

}  // namespace voltcheck::shim
