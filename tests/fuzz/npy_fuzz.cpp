// Fuzz target of the .npy reader: the data that a header describes are exactly the rest of the
// file.
#include "require.h"
#include "tools/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  voltcheck::fuzz::ReadsOrRefuses("fuzz.npy", [&] {
    const voltcheck::tools::NpyHeader header =
        voltcheck::tools::ParseNpy(std::as_bytes(std::span(data, size)), "fuzz.npy");
    voltcheck::fuzz::Require(header.data_offset <= size);
    voltcheck::fuzz::Require(header.data_bytes == size - header.data_offset);
  });
  return 0;
}
