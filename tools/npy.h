#ifndef VOLTCHECK_TOOLS_NPY_H_
#define VOLTCHECK_TOOLS_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace voltcheck::tools {

/// What the header of a NumPy `.npy` file says. Only plain little-endian numbers are taken: f2, f4,
/// f8, i1, i2, i4, i8, u1, u2, u4, u8, b1.
struct NpyHeader {
  std::string dtype;  ///< "<f2", "|u1", ...
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;  ///< of the first element in the file
  std::size_t data_bytes = 0;
};

/// Reads the header of a file that lies in memory, and checks that the data fill the rest exactly.
/// Throws Error (status 2) naming `path` otherwise.
NpyHeader ParseNpy(std::span<const std::byte> file, const std::string& path);

/// The bytes of a file's beginning (format 1.0) for an array like `header`; the data follow.
std::string NpyPreamble(const NpyHeader& header);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_NPY_H_
