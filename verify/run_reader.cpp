#include "verify/run_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "fixtures/case/error.h"
#include "verify/h5.h"
#include "verify/run_file.h"

namespace voltcheck::verify {
namespace {

using h5::Check;
using h5::Handle;

constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

// Runs `work` on the open file and turns what the library says into one line.
template <typename Work>
auto WithFile(const std::string& path, Work work) {
  h5::Quiet();
  try {
    const Handle file(Check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), H5Fclose);
    return work(file.get());
  } catch (const h5::Failure& failure) {
    throw BadInput(path, "is damaged or no HDF5 file (" + failure.reason() + ")",
                   "make it again or name another file");
  }
}

// A text or unsigned number attribute as text; anything else shows as "?".
std::string ReadAttribute(hid_t object, const char* name) {
  const Handle attribute(Check(H5Aopen(object, name, H5P_DEFAULT)), H5Aclose);
  const Handle type(Check(H5Aget_type(attribute.get())), H5Tclose);
  const Handle space(Check(H5Aget_space(attribute.get())), H5Sclose);
  if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) {
    return "?";
  }
  if (H5Tget_class(type.get()) == H5T_INTEGER) {
    std::uint64_t value = 0;
    Check(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value));
    return std::to_string(value);
  }
  if (Check(H5Tis_variable_str(type.get())) > 0) {
    char* text = nullptr;
    Check(H5Aread(attribute.get(), h5::TextType().get(), static_cast<void*>(&text)));
    std::string value = text == nullptr ? "" : text;
    H5free_memory(text);
    return value;
  }
  if (H5Tget_class(type.get()) == H5T_STRING) {
    std::string value(H5Tget_size(type.get()), '\0');
    Check(H5Aread(attribute.get(), type.get(), value.data()));
    return value.substr(0, value.find('\0'));
  }
  return "?";
}

herr_t AppendAttribute(hid_t object, const char* name, const H5A_info_t* /*info*/, void* data) {
  auto& attributes = *static_cast<std::vector<std::pair<std::string, std::string>>*>(data);
  try {
    attributes.emplace_back(name, ReadAttribute(object, name));
  } catch (const h5::Failure&) {
    return -1;
  }
  return 0;
}

std::string TypeName(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return "text";
    case H5T_FLOAT:
      return "float" + bits;
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + bits;
    default:
      return "other";
  }
}

std::vector<hsize_t> Extent(hid_t dataset) {
  const Handle space(Check(H5Dget_space(dataset)), H5Sclose);
  std::vector<hsize_t> extent(
      static_cast<std::size_t>(Check(H5Sget_simple_extent_ndims(space.get()))));
  Check(H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr));
  return extent;
}

herr_t AppendDataset(hid_t root, const char* name, const H5O_info_t* info, void* data) {
  auto& datasets = *static_cast<std::vector<std::pair<std::string, std::string>>*>(data);
  if (info->type != H5O_TYPE_DATASET) {
    return 0;
  }
  try {
    const Handle dataset(Check(H5Dopen2(root, name, H5P_DEFAULT)), H5Dclose);
    const Handle type(Check(H5Dget_type(dataset.get())), H5Tclose);
    std::string text = TypeName(type.get()) + " [";
    for (const hsize_t size : Extent(dataset.get())) {
      text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
    }
    datasets.emplace_back(std::string("/") + name, text + "]");
  } catch (const h5::Failure&) {
    return -1;
  }
  return 0;
}

Summary CountVerdicts(const std::string& path, hid_t file) {
  const Handle dataset(Check(H5Dopen2(file, "/cases/verdict", H5P_DEFAULT)), H5Dclose);
  const Handle type(Check(H5Dget_type(dataset.get())), H5Tclose);
  const std::vector<hsize_t> extent = Extent(dataset.get());
  if (extent.size() != 1 || Check(H5Tis_variable_str(type.get())) == 0) {
    throw BadInput(path, "/cases/verdict is no column of text", "make the run file again");
  }
  std::vector<char*> texts(extent[0], nullptr);
  Summary summary;
  if (texts.empty()) {
    return summary;
  }
  const Handle text_type = h5::TextType();
  Check(H5Dread(dataset.get(), text_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()));
  std::string unknown;
  for (const char* text : texts) {
    bool found = false;
    for (std::size_t v = 0; v < kVerdicts && !found; ++v) {
      if (text != nullptr && ToString(static_cast<Verdict>(v)) == text) {
        summary.Add(static_cast<Verdict>(v));
        found = true;
      }
    }
    if (!found && unknown.empty()) {
      unknown = text == nullptr ? "(none)" : text;
    }
  }
  const Handle space(Check(H5Dget_space(dataset.get())), H5Sclose);
  Check(H5Dvlen_reclaim(text_type.get(), space.get(), H5P_DEFAULT, texts.data()));
  if (!unknown.empty()) {
    throw BadInput(path, "/cases/verdict holds '" + unknown + "', which is no verdict",
                   "read it with the version of voltcheck that wrote it");
  }
  return summary;
}

std::string SchemaOf(hid_t file) {
  const htri_t exists = Check(H5Aexists(file, "schema"));
  return exists > 0 ? ReadAttribute(file, "schema") : "";
}

}  // namespace

bool IsHdf5(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, kSignature.size()> head{};
  if (!in || (!in.read(head.data(), head.size()) && in.bad())) {
    throw BadInput(path, std::string("cannot be read (") + std::strerror(errno) + ")",
                   "name a file that exists");
  }
  return in.gcount() == static_cast<std::streamsize>(head.size()) && head == kSignature;
}

std::string ReadSchema(const std::string& path) { return WithFile(path, SchemaOf); }

RunOverview ReadRunOverview(const std::string& path) {
  return WithFile(path, [&path](hid_t file) {
    const std::string schema = SchemaOf(file);
    if (schema != kRunSchema) {
      throw BadInput(path, schema.empty() ? "has no schema" : "has the schema " + schema,
                     "name a run file, " + std::string(kRunSchema));
    }
    RunOverview overview;
    Check(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, AppendAttribute,
                      &overview.attributes));
    overview.complete = std::find(overview.attributes.begin(), overview.attributes.end(),
                                  std::pair<std::string, std::string>("complete", "1")) !=
                        overview.attributes.end();
    Check(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, AppendDataset, &overview.datasets,
                    H5O_INFO_BASIC));
    overview.summary = CountVerdicts(path, file);
    return overview;
  });
}

}  // namespace voltcheck::verify
