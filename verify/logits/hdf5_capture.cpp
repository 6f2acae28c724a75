#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "fixtures/case/error.h"
#include "fixtures/hdf5_handle.h"
#include "fixtures/mapped_file.h"
#include "verify/h5.h"
#include "verify/in_child.h"
#include "verify/logits/capture.h"

namespace voltcheck::logits {
namespace {

using fixtures::Hdf5Handle;

constexpr std::uint64_t kMostRead = std::uint64_t{1} << 30;
constexpr int kMostRank = 8;

// What the child says of the dataset; the data follow when it has no place of its own in the file.
struct Found {
  Type type = Type::kF16;
  std::uint64_t rank = 0;
  std::uint64_t shape[kMostRank] = {};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool in_place = false;
};

Error Bad(const std::string& where, const std::string& what, const std::string& fix) {
  return BadInput(where, what, fix);
}

std::optional<Type> TypeOf(hid_t type) {
  if (H5Tequal(type, H5T_IEEE_F32LE) > 0) {
    return Type::kF32;
  }
  const Hdf5Handle half = fixtures::MakeHalfType();
  return H5Tequal(type, half) > 0 ? std::optional(Type::kF16) : std::nullopt;
}

bool IsThere(hid_t file, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    if (end > 0 && H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
      return false;
    }
  }
  return H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
}

// Whether a link led into another file, whose offsets are not this file's.
bool IsElsewhere(hid_t file, hid_t dataset) {
  H5O_info_t root;
  H5O_info_t found;
  return H5Oget_info2(file, &root, H5O_INFO_BASIC) < 0 ||
         H5Oget_info2(dataset, &found, H5O_INFO_BASIC) < 0 || root.fileno != found.fileno;
}

herr_t CollectName(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

// Where the file keeps logits when the user did not say.
std::string DefaultPath(hid_t file, const std::string& name) {
  if (IsThere(file, "captured/logits")) {
    return "captured/logits";
  }
  std::vector<std::string> found;
  if (IsThere(file, "failures")) {
    const Hdf5Handle group(H5Gopen2(file, "failures", H5P_DEFAULT), H5Gclose);
    std::vector<std::string> cases;
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, CollectName, &cases);
    for (const std::string& failure : cases) {
      const std::string path = "failures/" + failure + "/logits/got";
      if (IsThere(file, path)) {
        found.push_back(path);
      }
    }
  }
  if (found.size() == 1) {
    return found.front();
  }
  throw Bad(name, found.empty() ? "keeps no logits" : "keeps the logits of several failed cases",
            found.empty()
                ? "a fixture keeps them as captured/logits, a run file of failed cases as "
                  "failures/CASE/logits/got; name a dataset with --tensor"
                : "name one with --tensor, for example " + found.front());
}

std::string Describe(const std::string& name, std::string path) {
  verify::h5::Quiet();
  const Hdf5Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.ok()) {
    throw Bad(name, "is truncated or damaged", "capture it again");
  }
  if (path.empty()) {
    path = DefaultPath(file, name);
  }
  const std::string where = name + ":" + path;
  const Hdf5Handle dataset(IsThere(file, path) ? H5Dopen2(file, path.c_str(), H5P_DEFAULT) : -1,
                           H5Dclose);
  if (!dataset.ok()) {
    throw Bad(name, "has no dataset " + Quote(path), "'voltcheck inspect' lists them");
  }
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const std::optional<Type> known = TypeOf(type);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (!known || rank < 1 || rank > kMostRank) {
    throw Bad(where, "is no array of float16 or float32", "name the dataset of the logits");
  }
  Found found;
  found.type = *known;
  found.rank = static_cast<std::uint64_t>(rank);
  hsize_t dims[kMostRank] = {};
  H5Sget_simple_extent_dims(space, dims, nullptr);
  found.bytes = BytesOf(found.type);
  for (int i = 0; i < rank; ++i) {
    found.shape[i] = dims[i];
    if (__builtin_mul_overflow(found.bytes, found.shape[i], &found.bytes)) {
      throw Bad(where, "has a shape that cannot be", "capture it again");
    }
  }
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (IsElsewhere(file, dataset) || H5Pget_layout(creation) == H5D_VIRTUAL ||
      H5Pget_external_count(creation) != 0) {
    throw Bad(where, "has its values in another file", "capture it again");
  }
  const haddr_t offset = H5Dget_offset(dataset);
  found.in_place = H5Pget_layout(creation) == H5D_CONTIGUOUS && offset != HADDR_UNDEF;
  found.offset = found.in_place ? offset : 0;
  std::string text(sizeof(found), '\0');
  std::memcpy(text.data(), &found, sizeof(found));
  if (!found.in_place) {
    if (found.bytes > kMostRead) {
      throw Bad(where, "is chunked and larger than 1 GiB",
                "store it contiguous, or as .npy or safetensors");
    }
    text.resize(sizeof(found) + found.bytes);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data() + sizeof(found)) < 0) {
      throw Bad(where, "cannot be read", "capture it again");
    }
  }
  return text;
}

}  // namespace

Capture OpenHdf5Capture(const std::string& file, const std::string& path) {
  auto text =
      std::make_shared<std::string>(verify::InChild(file, [&] { return Describe(file, path); }));
  Found found;
  std::memcpy(&found, text->data(), sizeof(found));
  const std::span<const std::uint64_t> shape(found.shape, found.rank);
  if (!found.in_place) {
    Capture capture = MakeCapture(file, found.type, shape,
                                  std::as_bytes(std::span(*text)).subspan(sizeof(found)));
    capture.owner = text;
    return capture;
  }
  auto mapping = std::make_shared<fixtures::MappedFile>(file);
  const std::span<const std::byte> bytes = mapping->bytes();
  if (found.offset > bytes.size() || found.bytes > bytes.size() - found.offset) {
    throw Bad(file, "ends before its logits do", "capture it again");
  }
  Capture capture = MakeCapture(file, found.type, shape, bytes.subspan(found.offset, found.bytes));
  capture.owner = mapping;
  capture.mapped = true;
  return capture;
}

}  // namespace voltcheck::logits
