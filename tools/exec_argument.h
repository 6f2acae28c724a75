#ifndef VOLTCHECK_TOOLS_EXEC_ARGUMENT_H_
#define VOLTCHECK_TOOLS_EXEC_ARGUMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/npy.h"

namespace voltcheck::tools {

/// A place in a struct argument that receives the device address of another argument's buffer.
struct AddressPatch {
  std::size_t offset = 0;
  std::size_t argument = 0;
};

/// One `--arg`: either a buffer, which is passed as its address, or a value passed as its bytes.
struct ExecArgument {
  bool is_buffer = false;
  /// Contents of a buffer before the launch, or the bytes of a value.
  std::vector<std::byte> bytes;
  std::size_t size = 0;          ///< of the buffer
  bool initialised = false;      ///< whether `bytes` are uploaded; otherwise nothing is
  std::string out;               ///< file for the contents after the launch; empty: none
  std::optional<NpyHeader> npy;  ///< of the input file, when it was .npy: the output keeps it
  std::vector<AddressPatch> patches;
};

/// Parses `in:FILE`, `out:FILE:BYTES`, `inout:FILE[:OUTFILE]`, `zeros:BYTES`, a scalar such as
/// `u32:5`, or `bytes:FILE[@OFFSET=argN]...`, reading the files it names. Throws Error (status 2).
ExecArgument ParseExecArgument(const std::string& text);

/// Checks that every patch lies inside its struct and names a buffer among `arguments`.
void CheckPatches(const std::vector<ExecArgument>& arguments);

/// The file that keeps `contents`: raw bytes, or .npy when the name says so.
std::string OutputFile(const ExecArgument& argument, const std::vector<std::byte>& contents);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_EXEC_ARGUMENT_H_
