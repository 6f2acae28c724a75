#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FAT_BINARY_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FAT_BINARY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace voltcheck::shim {

/// One image in a fat binary. The container is not documented by NVIDIA; what is known: a header
/// of 16 bytes (magic 0xBA55ED50, version, header size, size of the rest), then entries of a
/// header each (kind, header size, padded size, compressed size, architecture, flags, size before
/// compression) and their bytes.
struct FatImage {
  enum class Kind { kPtx, kElf, kOther };
  Kind kind = Kind::kOther;
  std::uint32_t architecture = 0;  ///< 70 for compute_70 or sm_70
  std::string bytes;               ///< decompressed; PTX without its trailing zeros
};

inline constexpr std::uint32_t kFatMagic = 0xBA55ED50;
inline constexpr std::uint32_t kFatWrapperMagic = 0x466243B1;

/// The bytes that `data` claims by its header: 0 when it is no fat binary.
std::uint64_t FatBinaryBytes(std::span<const std::byte> data);
/// Reads one fat binary at the beginning of `data`, decompressing what is compressed (LZ4, and
/// Zstandard in later toolkits). Throws Error (status 2), naming `where`, for a damaged container.
std::vector<FatImage> ReadFatBinary(const std::string& where, std::span<const std::byte> data);

/// The image to run: PTX for the highest architecture up to compute_70. Null: there is none.
const FatImage* ChoosePtx(std::span<const FatImage> images);
/// What is there instead, for a message: "PTX for compute_80 and SASS for sm_70, sm_80".
std::string DescribeImages(std::span<const FatImage> images);

/// What to do about a program without PTX that runs here.
inline constexpr const char* kRebuildForPtx =
    "rebuild with nvcc -gencode arch=compute_70,code=compute_70 (CMake: "
    "CMAKE_CUDA_ARCHITECTURES=70-virtual)";

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FAT_BINARY_H_
