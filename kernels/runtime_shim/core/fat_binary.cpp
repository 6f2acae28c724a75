#include "kernels/runtime_shim/core/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <set>

#include "fixtures/case/error.h"

namespace voltcheck::shim {
namespace {

constexpr std::uint64_t kHeaderBytes = 16;
constexpr std::uint64_t kEntryBytes = 64;  // what of an entry's header is read
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstandard = 0x8000;
/// No toolkit writes a larger image; a damaged size must not allocate the machine away.
constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 31;

template <typename T>
T Read(std::span<const std::byte> data, std::uint64_t offset) {
  T value;
  std::memcpy(&value, data.data() + offset, sizeof(T));
  return value;
}

[[noreturn]] void Damaged(const std::string& where, const char* what) {
  throw BadInput(where, std::string("its fat binary is damaged: ") + what, "build it again");
}

std::string Decompressed(const std::string& where, std::span<const std::byte> data,
                         std::uint64_t size, std::uint64_t flags) {
  std::string text(size, '\0');
  const char* from = reinterpret_cast<const char*>(data.data());
  if ((flags & kLz4) != 0) {
    const int got = LZ4_decompress_safe(from, text.data(), static_cast<int>(data.size()),
                                        static_cast<int>(size));
    if (got < 0 || static_cast<std::uint64_t>(got) != size) {
      Damaged(where, "an image does not decompress (LZ4)");
    }
  } else {
    const std::size_t got = ZSTD_decompress(text.data(), size, from, data.size());
    if (ZSTD_isError(got) != 0 || got != size) {
      Damaged(where, "an image does not decompress (Zstandard)");
    }
  }
  return text;
}

FatImage ReadImage(const std::string& where, std::span<const std::byte> entry,
                   std::uint32_t header_bytes, std::uint64_t padded) {
  FatImage image;
  const auto kind = Read<std::uint16_t>(entry, 0);
  image.kind = kind == 1   ? FatImage::Kind::kPtx
               : kind == 2 ? FatImage::Kind::kElf
                           : FatImage::Kind::kOther;
  const auto compressed = Read<std::uint32_t>(entry, 16);
  image.architecture = Read<std::uint32_t>(entry, 28);
  const auto flags = Read<std::uint64_t>(entry, 40);
  const auto size = Read<std::uint64_t>(entry, 56);
  const std::span<const std::byte> payload = entry.subspan(header_bytes, padded);
  if ((flags & (kLz4 | kZstandard)) != 0) {
    if (compressed > padded || size > kMostImageBytes) {
      Damaged(where, "an image is larger than its place");
    }
    image.bytes = Decompressed(where, payload.first(compressed), size, flags);
  } else {
    image.bytes.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  if (image.kind == FatImage::Kind::kPtx) {
    image.bytes.resize(image.bytes.find_last_not_of('\0') + 1);
  }
  return image;
}

}  // namespace

std::uint64_t FatBinaryBytes(std::span<const std::byte> data) {
  if (data.size() < kHeaderBytes || Read<std::uint32_t>(data, 0) != kFatMagic) {
    return 0;
  }
  const auto rest = Read<std::uint64_t>(data, 8);
  return rest > (std::uint64_t{1} << 40) ? 0 : Read<std::uint16_t>(data, 6) + rest;
}

std::vector<FatImage> ReadFatBinary(const std::string& where, std::span<const std::byte> data) {
  const std::uint64_t bytes = FatBinaryBytes(data);
  if (bytes == 0 || bytes > data.size()) {
    Damaged(where, bytes == 0 ? "no header" : "it is cut off");
  }
  std::vector<FatImage> images;
  for (std::uint64_t at = Read<std::uint16_t>(data, 6); at < bytes;) {
    const std::span<const std::byte> rest = data.subspan(at, bytes - at);
    if (rest.size() < kEntryBytes) {
      break;  // padding
    }
    const auto header_bytes = Read<std::uint32_t>(rest, 4);
    const auto padded = Read<std::uint64_t>(rest, 8);
    if (header_bytes < kEntryBytes || header_bytes > rest.size() ||
        padded > rest.size() - header_bytes) {
      Damaged(where, "an entry is larger than the whole");
    }
    images.push_back(ReadImage(where, rest, header_bytes, padded));
    at += header_bytes + padded;
  }
  return images;
}

const FatImage* ChoosePtx(std::span<const FatImage> images) {
  const FatImage* best = nullptr;
  for (const FatImage& image : images) {
    if (image.kind == FatImage::Kind::kPtx && image.architecture <= 70 &&
        (best == nullptr || image.architecture > best->architecture)) {
      best = &image;
    }
  }
  return best;
}

std::string DescribeImages(std::span<const FatImage> images) {
  std::set<std::uint32_t> ptx;
  std::set<std::uint32_t> sass;
  for (const FatImage& image : images) {
    if (image.kind == FatImage::Kind::kPtx) {
      ptx.insert(image.architecture);
    } else if (image.kind == FatImage::Kind::kElf) {
      sass.insert(image.architecture);
    }
  }
  const auto list = [](const std::set<std::uint32_t>& numbers, const std::string& prefix) {
    std::string text;
    for (const std::uint32_t number : numbers) {
      text += (text.empty() ? "" : ", ") + prefix + std::to_string(number);
    }
    return text;
  };
  if (ptx.empty() && sass.empty()) {
    return "no device code";
  }
  std::string text = ptx.empty() ? "only" : "PTX for " + list(ptx, "compute_");
  if (!sass.empty()) {
    text += std::string(ptx.empty() ? "" : " and") + " SASS for " + list(sass, "sm_");
  }
  return text;
}

}  // namespace voltcheck::shim
