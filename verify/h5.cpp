#include "verify/h5.h"

#include <hdf5_hl.h>

#include <string>

namespace voltcheck::verify::h5 {
namespace {

// From 4 on zlib takes three times as long for columns that hardly vary; figures deflate no better.
constexpr unsigned kDeflateLevel = 1;
// Half the children of a node of a dataset's chunk index. The default, 32, reserves 3 KB for each
// of the run file's hundreds of columns, most of which have one chunk.
constexpr unsigned kChunkIndexHalfRank = 4;

// The innermost entry of the error stack that quotes the operating system, else the innermost one.
herr_t CollectReason(unsigned /*depth*/, const H5E_error2_t* entry, void* data) {
  constexpr std::string_view kQuote = "error message = '";
  auto& reason = *static_cast<std::string*>(data);
  const std::string_view description = entry->desc == nullptr ? "" : entry->desc;
  const std::size_t at = description.find(kQuote);
  if (at != std::string_view::npos) {
    const std::string_view rest = description.substr(at + kQuote.size());
    reason = rest.substr(0, rest.find('\''));
    return 1;  // stop
  }
  if (reason.empty()) {
    reason = description;
  }
  return 0;
}

Handle PropertiesWithoutTimes(hid_t kind) {
  Handle properties(Check(H5Pcreate(kind)), H5Pclose);
  Check(H5Pset_obj_track_times(properties.get(), false));
  return properties;
}

void SetScalar(hid_t object, const char* name, hid_t type, const void* value) {
  const Handle space(Check(H5Screate(H5S_SCALAR)), H5Sclose);
  const Handle attribute(
      Check(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
  Check(H5Awrite(attribute.get(), type, value));
}

}  // namespace

Failure::Failure() {
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, CollectReason, &reason_);
  H5Eclear2(H5E_DEFAULT);
}

void Quiet() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle CreateFile(const std::string& path) {
  const Handle properties = PropertiesWithoutTimes(H5P_FILE_CREATE);
  Check(H5Pset_istore_k(properties.get(), kChunkIndexHalfRank));
  // Columns are written in whole chunks, so no chunk need be kept: a megabyte for each of hundreds
  // of columns would grow with the number of cases.
  const Handle access(Check(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  Check(H5Pset_cache(access.get(), 0, 1, 0, 1));
  return {Check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties.get(), access.get())), H5Fclose};
}

Handle CreateGroup(hid_t parent, const std::string& name) {
  const Handle properties = PropertiesWithoutTimes(H5P_GROUP_CREATE);
  return {Check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT)),
          H5Gclose};
}

Handle ChunkedProperties(std::span<const hsize_t> chunk) {
  Handle properties = PropertiesWithoutTimes(H5P_DATASET_CREATE);
  Check(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()));
  Check(H5Pset_shuffle(properties.get()));
  Check(H5Pset_deflate(properties.get(), kDeflateLevel));
  return properties;
}

Handle TextType() {
  Handle type(Check(H5Tcopy(H5T_C_S1)), H5Tclose);
  Check(H5Tset_size(type.get(), H5T_VARIABLE));
  Check(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  return type;
}

Handle FixedTextType(std::size_t bytes) {
  Handle type(Check(H5Tcopy(H5T_C_S1)), H5Tclose);
  Check(H5Tset_size(type.get(), bytes));
  Check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
  Check(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  return type;
}

void SetText(hid_t object, const char* name, std::string_view value) {
  const std::string text(value);
  const char* pointer = text.c_str();
  SetScalar(object, name, TextType().get(), &pointer);
}

void SetNumber(hid_t object, const char* name, std::uint64_t value) {
  SetScalar(object, name, H5T_STD_U64LE, &value);
}

void SetNumber(hid_t object, const char* name, std::int64_t value) {
  SetScalar(object, name, H5T_STD_I64LE, &value);
}

void MakeScale(hid_t dataset, const char* name) { Check(H5DSset_scale(dataset, name)); }

void AttachScale(hid_t dataset, hid_t scale, unsigned dimension) {
  Check(H5DSattach_scale(dataset, scale, dimension));
}

Handle WriteDataset(hid_t parent, const char* name, hid_t type, std::span<const hsize_t> extent,
                    const void* data) {
  const Handle properties = PropertiesWithoutTimes(H5P_DATASET_CREATE);
  const Handle space(
      Check(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)), H5Sclose);
  Handle dataset(Check(H5Dcreate2(parent, name, type, space.get(), H5P_DEFAULT, properties.get(),
                                  H5P_DEFAULT)),
                 H5Dclose);
  Check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  return dataset;
}

}  // namespace voltcheck::verify::h5
