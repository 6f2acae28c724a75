#include "tools/exec_argument.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "fixtures/mapped_file.h"
#include "reference/arith/half.h"
#include "tools/arguments.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 36;

Error Bad(const std::string& text, const std::string& what) {
  return BadInput("--arg " + text, what, "see 'voltcheck exec --help'");
}

bool IsNpy(std::string_view path) { return path.ends_with(".npy"); }

template <typename T>
std::vector<std::byte> BytesOf(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
std::vector<std::byte> ScalarBytes(const std::string& text, const std::string& value) {
  T parsed{};
  const char* end = value.data() + value.size();
  const auto result = std::from_chars(value.data(), end, parsed);
  if (value.empty() || result.ec != std::errc() || result.ptr != end) {
    throw Bad(text, "'" + value + "' is no value of that type");
  }
  return BytesOf(parsed);
}

// The bytes of a scalar argument, or nothing when `kind` is no scalar.
std::optional<std::vector<std::byte>> Scalar(const std::string& text, std::string_view kind,
                                             const std::string& value) {
  if (kind == "u8") {
    return ScalarBytes<std::uint8_t>(text, value);
  }
  if (kind == "i32") {
    return ScalarBytes<std::int32_t>(text, value);
  }
  if (kind == "u32") {
    return ScalarBytes<std::uint32_t>(text, value);
  }
  if (kind == "i64") {
    return ScalarBytes<std::int64_t>(text, value);
  }
  if (kind == "u64") {
    return ScalarBytes<std::uint64_t>(text, value);
  }
  if (kind == "f32") {
    return ScalarBytes<float>(text, value);
  }
  if (kind == "f64") {
    return ScalarBytes<double>(text, value);
  }
  if (kind == "f16") {
    double parsed = 0;
    std::memcpy(&parsed, ScalarBytes<double>(text, value).data(), sizeof(parsed));
    return BytesOf(arith::DoubleToHalf(parsed));
  }
  return std::nullopt;
}

// Reads a file whole; of a .npy file the data.
void ReadInto(const std::string& path, ExecArgument& argument) {
  const fixtures::MappedFile file(path);
  std::span<const std::byte> bytes = file.bytes();
  if (IsNpy(path)) {
    argument.npy = ParseNpy(bytes, path);
    bytes = bytes.subspan(argument.npy->data_offset, argument.npy->data_bytes);
  }
  argument.bytes.assign(bytes.begin(), bytes.end());
  argument.size = bytes.size();
  argument.initialised = true;
}

std::size_t BufferBytes(const std::string& text, const std::string& value) {
  return ParseUnsigned("--arg " + text, value, kMostBufferBytes);
}

// `FILE[@OFFSET=argN]...`
ExecArgument ParseStruct(const std::string& text, const std::string& value) {
  ExecArgument argument;
  std::size_t at = value.find('@');
  ReadInto(value.substr(0, at), argument);
  while (at != std::string::npos) {
    const std::size_t next = value.find('@', at + 1);
    const std::string patch =
        value.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t equals = patch.find("=arg");
    if (equals == std::string::npos) {
      throw Bad(text, "'@" + patch + "' is not @OFFSET=argN");
    }
    argument.patches.push_back(
        {ParseUnsigned("--arg " + text, patch.substr(0, equals), kMostBufferBytes),
         ParseUnsigned("--arg " + text, patch.substr(equals + 4), kMostBufferBytes)});
    at = next;
  }
  return argument;
}

}  // namespace

ExecArgument ParseExecArgument(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Bad(text, "has no ':'");
  }
  const std::string kind = text.substr(0, colon);
  const std::string value = text.substr(colon + 1);
  ExecArgument argument;
  if (auto bytes = Scalar(text, kind, value)) {
    argument.bytes = std::move(*bytes);
    return argument;
  }
  if (kind == "bytes") {
    return ParseStruct(text, value);
  }
  argument.is_buffer = true;
  const std::size_t second = value.rfind(':');
  if (kind == "in") {
    ReadInto(value, argument);
  } else if (kind == "zeros") {
    argument.size = BufferBytes(text, value);
    argument.bytes.assign(argument.size, std::byte{0});
    argument.initialised = true;
  } else if (kind == "inout") {
    ReadInto(value.substr(0, second), argument);
    argument.out = second == std::string::npos ? value : value.substr(second + 1);
  } else if (kind == "out" && second != std::string::npos) {
    argument.size = BufferBytes(text, value.substr(second + 1));
    argument.out = value.substr(0, second);
  } else {
    throw Bad(text,
              kind == "out" ? "needs out:FILE:BYTES" : "'" + kind + "' is no kind of argument");
  }
  if (argument.size == 0) {
    throw Bad(text, "is a buffer of no bytes");
  }
  return argument;
}

void CheckPatches(const std::vector<ExecArgument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const AddressPatch& patch : arguments[i].patches) {
      const std::string where = "argument " + std::to_string(i);
      if (patch.argument >= arguments.size() || !arguments[patch.argument].is_buffer) {
        throw BadInput(where, "arg" + std::to_string(patch.argument) + " is no buffer",
                       "count the --arg from 0 and name one that is passed by address");
      }
      const std::size_t size = arguments[i].bytes.size();
      if (size < sizeof(std::uint64_t) || patch.offset > size - sizeof(std::uint64_t)) {
        throw BadInput(where,
                       "an address at offset " + std::to_string(patch.offset) +
                           " does not fit its " + std::to_string(size) + " bytes",
                       "give a smaller offset");
      }
    }
  }
}

std::string OutputFile(const ExecArgument& argument, const std::vector<std::byte>& contents) {
  std::string file;
  if (IsNpy(argument.out)) {
    NpyHeader header;
    header.dtype = "|u1";
    header.shape = {contents.size()};
    file = NpyPreamble(argument.npy ? *argument.npy : header);
  }
  file.append(reinterpret_cast<const char*>(contents.data()), contents.size());
  return file;
}

}  // namespace voltcheck::tools
