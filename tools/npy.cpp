#include "tools/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "fixtures/case/error.h"

namespace voltcheck::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = std::size_t{1} << 20;
constexpr std::size_t kMostDimensions = 32;
constexpr std::size_t kAlignment = 64;  // where format 1.0 wants the data to start

Error Bad(const std::string& path, const std::string& what) {
  return BadInput(path, "is no .npy file that can be read: " + what,
                  "save it with numpy.save as a plain little-endian array");
}

// Bytes of one element, 0 for a type that is not taken.
std::size_t ItemSize(std::string_view dtype) {
  constexpr std::array<std::string_view, 12> kTypes{"|i1", "|u1", "|b1", "<i2", "<u2", "<f2",
                                                    "<i4", "<u4", "<f4", "<i8", "<u8", "<f8"};
  const bool known = std::find(kTypes.begin(), kTypes.end(), dtype) != kTypes.end();
  return known ? static_cast<std::size_t>(dtype[2] - '0') : 0;
}

// Reads the header's text, a Python dictionary of three known keys, and nothing but that.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  void Parse(NpyHeader& header) {
    Expect('{');
    std::array<bool, 3> seen{};
    while (!Take('}')) {
      const std::string_view key = Quoted();
      Expect(':');
      const std::size_t which = Which(key);
      if (seen[which]) {
        throw Bad(path_, "its header has a key twice");
      }
      seen[which] = true;
      if (which == 0) {
        header.dtype = Quoted();
      } else if (which == 1) {
        header.fortran_order = Boolean();
      } else {
        header.shape = Tuple();
      }
      if (!Take(',')) {
        Expect('}');
        break;
      }
    }
    SkipSpace();
    if (!text_.empty()) {
      throw Bad(path_, "something follows its header");
    }
    if (!seen[0] || !seen[1] || !seen[2]) {
      throw Bad(path_, "its header lacks descr, fortran_order or shape");
    }
  }

 private:
  void SkipSpace() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }
  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_.front() != c) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) {
      throw Bad(path_, std::string("its header lacks a '") + c + "'");
    }
  }
  std::string_view Quoted() {
    Expect('\'');
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) {
      throw Bad(path_, "its header has a quote that does not end");
    }
    const std::string_view quoted = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return quoted;
  }
  std::size_t Which(std::string_view key) const {
    constexpr std::array<std::string_view, 3> kKeys{"descr", "fortran_order", "shape"};
    const auto it = std::find(kKeys.begin(), kKeys.end(), key);
    if (it == kKeys.end()) {
      throw Bad(path_, "its header has an unknown key");
    }
    return static_cast<std::size_t>(it - kKeys.begin());
  }
  bool Boolean() {
    SkipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    throw Bad(path_, "fortran_order is neither True nor False");
  }
  std::vector<std::uint64_t> Tuple() {
    Expect('(');
    std::vector<std::uint64_t> sizes;
    while (!Take(')')) {
      SkipSpace();
      std::uint64_t size = 0;
      const auto result = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (result.ec != std::errc() || sizes.size() == kMostDimensions) {
        throw Bad(path_, "its shape is no tuple of sizes");
      }
      text_.remove_prefix(static_cast<std::size_t>(result.ptr - text_.data()));
      sizes.push_back(size);
      if (!Take(',')) {
        Expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& path_;
};

// dtype size times shape, or nothing where that overflows.
std::optional<std::size_t> DataBytes(const NpyHeader& header) {
  std::size_t bytes = ItemSize(header.dtype);
  for (const std::uint64_t size : header.shape) {
    if (size != 0 && bytes > std::numeric_limits<std::size_t>::max() / size) {
      return std::nullopt;
    }
    bytes *= size;
  }
  return bytes;
}

}  // namespace

NpyHeader ParseNpy(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 4) {
    throw Bad(path, "it does not begin as one");
  }
  const auto byte = [&text](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at]));
  };
  const std::size_t major = byte(kMagic.size());
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = kMagic.size() + 2 + length_bytes;
  if (major < 1 || major > 3 || text.size() < start) {
    throw Bad(path, "its format version is unknown or it is cut short");
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= byte(kMagic.size() + 2 + i) << (8 * i);
  }
  if (length > kMostHeader || length > text.size() - start) {
    throw Bad(path, "its header is longer than the file");
  }
  NpyHeader header;
  HeaderText(text.substr(start, length), path).Parse(header);
  if (ItemSize(header.dtype) == 0) {
    throw Bad(path, "its type " + header.dtype.substr(0, 32) + " is no plain little-endian number");
  }
  const std::optional<std::size_t> bytes = DataBytes(header);
  header.data_offset = start + length;
  if (!bytes || *bytes != file.size() - header.data_offset) {
    throw Bad(path, "its shape does not fit its size");
  }
  header.data_bytes = *bytes;
  return header;
}

std::string NpyPreamble(const NpyHeader& header) {
  std::string text = "{'descr': '" + header.dtype +
                     "', 'fortran_order': " + (header.fortran_order ? "True" : "False") +
                     ", 'shape': (";
  for (std::size_t i = 0; i < header.shape.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(header.shape[i]) + ",";
  }
  if (header.shape.size() > 1) {
    text.pop_back();  // only a tuple of one needs its comma
  }
  text += "), }";
  const std::size_t fixed = kMagic.size() + 4;
  while ((fixed + text.size() + 1) % kAlignment != 0) {
    text += ' ';
  }
  text += '\n';
  std::string preamble(kMagic);
  preamble += std::string("\x01\x00", 2);
  preamble += static_cast<char>(text.size() & 0xFF);
  preamble += static_cast<char>(text.size() >> 8);
  return preamble + text;
}

}  // namespace voltcheck::tools
