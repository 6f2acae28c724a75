#include "tools/logit_capture.h"

#include <cstring>
#include <memory>
#include <optional>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "fixtures/safetensors.h"
#include "tools/npy.h"
#include "verify/run_reader.h"

namespace voltcheck::tools {
namespace {

using logits::Capture;
using logits::Type;

Error WrongType(const std::string& where, const std::string& type) {
  return BadInput(where, "holds " + type + ", not fp16, bf16 or fp32",
                  "capture the logits in one of these");
}

Capture OpenNpy(const std::string& path) {
  auto file = std::make_shared<fixtures::MappedFile>(path);
  const NpyHeader header = ParseNpy(file->bytes(), path);
  if (header.fortran_order) {
    throw BadInput(path, "is in Fortran order", "save numpy.ascontiguousarray(logits)");
  }
  // NumPy has no bf16: its bits are saved as unsigned numbers.
  std::optional<Type> type;
  type = header.dtype == "<f2"   ? std::optional(Type::kF16)
         : header.dtype == "<f4" ? std::optional(Type::kF32)
         : header.dtype == "<u2" ? std::optional(Type::kBf16)
                                 : std::nullopt;
  if (!type) {
    throw WrongType(path, Quote(header.dtype));
  }
  Capture capture = logits::MakeCapture(
      path, *type, header.shape, file->bytes().subspan(header.data_offset, header.data_bytes));
  capture.owner = file;
  capture.mapped = true;
  return capture;
}

std::string ChooseTensor(const fixtures::SafetensorsFile& file, const std::string& path) {
  if (file.tensors().contains("logits")) {
    return "logits";
  }
  std::string found;
  for (const auto& [name, tensor] : file.tensors()) {
    if (tensor.shape.size() >= 2) {
      if (!found.empty()) {
        throw BadInput(path, "holds several matrices, none of them called 'logits'",
                       "name one with --tensor, for example " + Quote(found));
      }
      found = name;
    }
  }
  if (found.empty()) {
    throw BadInput(path, "holds no matrix", "capture logits as [rows, vocabulary]");
  }
  return found;
}

Capture OpenSafetensors(const std::string& path, const std::string& tensor) {
  auto file = std::make_shared<fixtures::SafetensorsFile>(path);
  const std::string name = tensor.empty() ? ChooseTensor(*file, path) : tensor;
  const fixtures::SafeTensor& t = file->Get(name);
  std::optional<Type> type;
  type = t.dtype == "F16"    ? std::optional(Type::kF16)
         : t.dtype == "F32"  ? std::optional(Type::kF32)
         : t.dtype == "BF16" ? std::optional(Type::kBf16)
                             : std::nullopt;
  if (!type) {
    throw WrongType(path + ": " + name, t.dtype);
  }
  Capture capture = logits::MakeCapture(path, *type, t.shape, t.bytes);
  capture.owner = file;
  capture.mapped = true;
  return capture;
}

// By what it begins with; one that is called so is taken at its word, so that what is missing in it
// is said of a .npy file.
bool IsNpy(const std::string& path) {
  const fixtures::MappedFile file(path);
  if (path.ends_with(".npy")) {
    return true;
  }
  constexpr std::string_view kMagic = "\x93NUMPY";
  return file.bytes().size() >= kMagic.size() &&
         std::memcmp(file.bytes().data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace

Capture OpenLogits(const std::string& path, const std::string& tensor) {
  if (verify::IsHdf5(path)) {
    return logits::OpenHdf5Capture(path, tensor);
  }
  if (IsNpy(path)) {
    return OpenNpy(path);
  }
  return OpenSafetensors(path, tensor);
}

}  // namespace voltcheck::tools
