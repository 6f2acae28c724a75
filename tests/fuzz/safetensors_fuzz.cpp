// Fuzz target of what safetensors bring: a file, or (where the bytes begin like JSON) a
// checkpoint's index.
#include "fixtures/safetensors.h"
#include "fixtures/shard_set.h"
#include "require.h"

namespace {

using voltcheck::fuzz::Require;

// What is read lies inside the file, and together fills its data.
void CheckTensors(std::span<const std::byte> file) {
  const auto header = voltcheck::fixtures::ParseSafetensors(file, "fuzz");
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : header.tensors) {
    std::uint64_t size = voltcheck::fixtures::SafetensorsElementSize(tensor.dtype);
    Require(size > 0);
    for (const std::uint64_t side : tensor.shape) {
      size *= side;
    }
    Require(size == tensor.bytes.size());
    Require(tensor.bytes.empty() ||
            (tensor.bytes.data() >= file.data() &&
             tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size()));
    bytes += tensor.bytes.size();
  }
  Require(bytes < file.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  if (size > 0 && data[0] == '{') {
    voltcheck::fuzz::ReadsOrRefuses("fuzz: ", [&] {
      for (const auto& [tensor, shard] : voltcheck::fixtures::ParseShardIndex(file, "fuzz")) {
        Require(!shard.empty() && shard.find('/') == std::string::npos && shard[0] != '.');
      }
    });
  }
  voltcheck::fuzz::ReadsOrRefuses("fuzz: ", [&] { CheckTensors(file); });
  return 0;
}
