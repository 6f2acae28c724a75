#include "verify/report/columns.h"

#include <algorithm>

#include "fixtures/case/error.h"
#include "verify/report/text.h"
#include "verify/text_room.h"

namespace voltcheck::report {
namespace {

using verify::h5::Check;
using verify::h5::Handle;

constexpr std::uint64_t kMostRows = 1'000'000;
constexpr std::uint64_t kMostCells = 256'000'000;
constexpr std::uint64_t kMostChunkBytes = 64U << 20U;
constexpr hsize_t kTextRows = 1024;  // read at a time
constexpr std::size_t kMostFixedText = 4096;
constexpr std::size_t kMostTextBytes = 64U << 20U;  // of that many texts
constexpr hsize_t kMostAttributeBytes = 1U << 20U;

template <typename T>
hid_t MemoryType();
template <>
hid_t MemoryType<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t MemoryType<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
hid_t MemoryType<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
hid_t MemoryType<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}

std::uint64_t ChunkBytes(hid_t properties, hid_t type) {
  std::array<hsize_t, 2> chunk{1, 1};
  Check(H5Pget_chunk(properties, 2, chunk.data()));
  const std::uint64_t cells =
      chunk[0] > kMostCells || chunk[1] > kMostCells ? kMostChunkBytes : chunk[0] * chunk[1];
  return cells * H5Tget_size(type);
}

std::string TextOf(hid_t attribute, hid_t type) {
  const Handle space(Check(H5Aget_space(attribute)), H5Sclose);
  if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR ||
      H5Aget_storage_size(attribute) > kMostAttributeBytes) {
    return "?";
  }
  if (H5Tget_class(type) == H5T_INTEGER) {
    std::uint64_t value = 0;
    Check(H5Aread(attribute, H5T_NATIVE_UINT64, &value));
    return std::to_string(value);
  }
  if (Check(H5Tis_variable_str(type)) > 0) {
    char* text = nullptr;
    Check(H5Aread(attribute, verify::h5::TextType().get(), static_cast<void*>(&text)));
    std::string value = text == nullptr ? "" : Clean(text);
    H5free_memory(text);
    return value;
  }
  if (H5Tget_class(type) == H5T_STRING && H5Tget_size(type) <= kMostFixedText) {
    std::string value(H5Tget_size(type), '\0');
    Check(H5Aread(attribute, type, value.data()));
    return Clean(value.substr(0, value.find('\0')));
  }
  return "?";
}

herr_t AppendAttribute(hid_t object, const char* name, const H5A_info_t* /*info*/, void* data) {
  auto& attributes = *static_cast<std::vector<std::pair<std::string, std::string>>*>(data);
  constexpr std::size_t kMostAttributes = 256;
  if (attributes.size() == kMostAttributes) {
    return 1;
  }
  try {
    const Handle attribute(Check(H5Aopen(object, name, H5P_DEFAULT)), H5Aclose);
    const Handle type(Check(H5Aget_type(attribute.get())), H5Tclose);
    attributes.emplace_back(Clean(name), TextOf(attribute.get(), type.get()));
  } catch (const verify::h5::Failure&) {
    return -1;
  }
  return 0;
}

herr_t AppendName(hid_t /*group*/, const char* name, const H5L_info_t* info, void* data) {
  auto& names = *static_cast<std::vector<std::string>*>(data);
  constexpr std::size_t kMostNames = 4096;
  if (info->type == H5L_TYPE_HARD) {
    names.emplace_back(name);
  }
  return names.size() == kMostNames ? 1 : 0;
}

}  // namespace

void Columns::Refuse(const std::string& name, const std::string& what) const {
  throw BadInput(path_, "/" + name + " " + what, "make the run file again");
}

bool Columns::Has(const std::string& name) const {
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    H5L_info_t info;
    if (Check(H5Lexists(file_, part.c_str(), H5P_DEFAULT)) == 0 ||
        H5Lget_info(file_, part.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) {
      return false;
    }
    if (end == std::string::npos) {
      return true;
    }
  }
}

Handle Columns::Open(const std::string& name) const {
  if (!Has(name)) {
    Refuse(name, "is missing");
  }
  Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.get() < 0) {
    Refuse(name, "is no dataset");
  }
  const Handle properties(Check(H5Dget_create_plist(dataset.get())), H5Pclose);
  const Handle type(Check(H5Dget_type(dataset.get())), H5Tclose);
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout == H5D_VIRTUAL || Check(H5Pget_external_count(properties.get())) != 0) {
    Refuse(name, "has its values in another file");
  }
  const Handle space(Check(H5Dget_space(dataset.get())), H5Sclose);
  const int rank = Check(H5Sget_simple_extent_ndims(space.get()));
  if (rank != 1 && rank != 2) {
    Refuse(name, "is neither a column nor a matrix");
  }
  if (layout == H5D_CHUNKED && ChunkBytes(properties.get(), type.get()) > kMostChunkBytes) {
    Refuse(name, "has chunks of more than 64 MiB");
  }
  return dataset;
}

std::vector<std::string> Columns::Names(const std::string& group) const {
  const Handle opened(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (opened.get() < 0) {
    Refuse(group, "is no group");
  }
  std::vector<std::string> names;
  Check(H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, AppendName, &names));
  return names;
}

Extent Columns::SizeOf(const std::string& name, hid_t dataset) const {
  const Handle space(Check(H5Dget_space(dataset)), H5Sclose);
  std::array<hsize_t, 2> size{0, 1};
  Check(H5Sget_simple_extent_dims(space.get(), size.data(), nullptr));
  if (size[0] > kMostRows || (size[0] > 0 && size[1] > kMostCells / size[0])) {
    Refuse(name, "has more values than a run file may (1,000,000 rows)");
  }
  return {size[0], size[1]};
}

Extent Columns::Size(const std::string& name) const { return SizeOf(name, Open(name).get()); }

Columns::Kind Columns::KindOf(const std::string& name) const {
  const Handle dataset = Open(name);
  const Handle type(Check(H5Dget_type(dataset.get())), H5Tclose);
  return {SizeOf(name, dataset.get()), H5Tget_class(type.get()) == H5T_FLOAT};
}

void Columns::RequireRows(const std::string& name, hid_t dataset, std::uint64_t end) const {
  const Extent extent = SizeOf(name, dataset);
  if (extent.rows < end || extent.cols != 1) {
    Refuse(name, "has " + std::to_string(extent.rows) + " rows where " + std::to_string(end) +
                     " are needed");
  }
}

void Columns::ReadNumbers(const std::string& name, hid_t dataset, hid_t type, std::uint64_t first,
                          Extent extent, void* data) const {
  const Handle file_type(Check(H5Dget_type(dataset)), H5Tclose);
  const H5T_class_t kind = H5Tget_class(file_type.get());
  const bool wants_float = H5Tget_class(type) == H5T_FLOAT;
  if (kind != H5T_INTEGER && !(kind == H5T_FLOAT && wants_float)) {
    Refuse(name, wants_float ? "does not hold numbers" : "does not hold whole numbers");
  }
  if (extent.rows == 0 || extent.cols == 0) {
    return;
  }
  const Handle space(Check(H5Dget_space(dataset)), H5Sclose);
  const int rank = Check(H5Sget_simple_extent_ndims(space.get()));
  const std::array<hsize_t, 2> start{first, 0};
  const std::array<hsize_t, 2> count{extent.rows, extent.cols};
  Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr));
  const Handle memory(Check(H5Screate_simple(rank, count.data(), nullptr)), H5Sclose);
  Check(H5Dread(dataset, type, memory.get(), space.get(), H5P_DEFAULT, data));
}

template <typename T>
std::vector<T> Columns::Numbers(const std::string& name, std::uint64_t first,
                                std::uint64_t count) const {
  const Handle dataset = Open(name);
  RequireRows(name, dataset.get(), first + count);
  std::vector<T> values(count);
  ReadNumbers(name, dataset.get(), MemoryType<T>(), first, {count, 1}, values.data());
  return values;
}

template <typename T>
std::vector<T> Columns::Matrix(const std::string& name, Extent& extent, std::uint64_t first,
                               std::uint64_t count) const {
  const Handle dataset = Open(name);
  extent = SizeOf(name, dataset.get());
  const std::uint64_t rows = first >= extent.rows ? 0 : std::min(count, extent.rows - first);
  std::vector<T> values(rows * extent.cols);
  ReadNumbers(name, dataset.get(), MemoryType<T>(), first, {rows, extent.cols}, values.data());
  return values;
}

template std::vector<float> Columns::Numbers(const std::string&, std::uint64_t,
                                             std::uint64_t) const;
template std::vector<double> Columns::Numbers(const std::string&, std::uint64_t,
                                              std::uint64_t) const;
template std::vector<std::int32_t> Columns::Numbers(const std::string&, std::uint64_t,
                                                    std::uint64_t) const;
template std::vector<std::uint64_t> Columns::Numbers(const std::string&, std::uint64_t,
                                                     std::uint64_t) const;
template std::vector<double> Columns::Matrix(const std::string&, Extent&, std::uint64_t,
                                             std::uint64_t) const;
template std::vector<std::uint64_t> Columns::Matrix(const std::string&, Extent&, std::uint64_t,
                                                    std::uint64_t) const;

std::vector<std::string> Columns::Texts(const std::string& name, std::uint64_t from,
                                        std::uint64_t number) const {
  const Handle dataset = Open(name);
  const Handle type(Check(H5Dget_type(dataset.get())), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING) {
    Refuse(name, "is no column of text");
  }
  const std::uint64_t end = from + number;
  RequireRows(name, dataset.get(), end);
  const Handle text = verify::h5::TextType();
  const Handle space(Check(H5Dget_space(dataset.get())), H5Sclose);
  std::vector<std::string> texts;
  texts.reserve(number);
  if (Check(H5Tis_variable_str(type.get())) == 0) {
    const std::size_t width = H5Tget_size(type.get());
    if (width > kMostFixedText) {
      Refuse(name, "has texts that are too long");
    }
    std::vector<char> bytes(kTextRows * width);
    for (hsize_t first = from; first < end; first += kTextRows) {
      const hsize_t count = std::min<hsize_t>(kTextRows, end - first);
      Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
      const Handle memory(Check(H5Screate_simple(1, &count, nullptr)), H5Sclose);
      Check(
          H5Dread(dataset.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()));
      for (hsize_t row = 0; row < count; ++row) {
        const std::string text_of_row(bytes.data() + row * width, width);
        texts.push_back(Clean(text_of_row.c_str()));
      }
    }
    return texts;
  }
  for (hsize_t first = from; first < end; first += kTextRows) {
    const hsize_t count = std::min<hsize_t>(kTextRows, end - first);
    Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
    const Handle memory(Check(H5Screate_simple(1, &count, nullptr)), H5Sclose);
    verify::h5::TextRoom room(kMostTextBytes);
    const Handle transfer = room.Transfer();
    std::vector<char*> pointers(count, nullptr);
    const herr_t status = H5Dread(dataset.get(), text.get(), memory.get(), space.get(),
                                  transfer.get(), pointers.data());
    if (room.full()) {
      Refuse(name, "has texts of more than 64 MiB");
    }
    Check(status);
    for (const char* pointer : pointers) {
      texts.push_back(pointer == nullptr ? std::string() : Clean(pointer));
    }
  }
  return texts;
}

std::string Columns::Attribute(const char* name) const {
  if (Check(H5Aexists(file_, name)) == 0) {
    return "";
  }
  const Handle attribute(Check(H5Aopen(file_, name, H5P_DEFAULT)), H5Aclose);
  const Handle type(Check(H5Aget_type(attribute.get())), H5Tclose);
  return TextOf(attribute.get(), type.get());
}

std::vector<std::pair<std::string, std::string>> Columns::Attributes() const {
  std::vector<std::pair<std::string, std::string>> attributes;
  Check(H5Aiterate2(file_, H5_INDEX_NAME, H5_ITER_INC, nullptr, AppendAttribute, &attributes));
  return attributes;
}

}  // namespace voltcheck::report
