#include "verify/run_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "verify/h5.h"
#include "verify/run_file.h"
#include "verify/text_room.h"

namespace voltcheck::verify {
namespace {

using h5::Check;
using h5::Handle;

constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

Handle OpenFile(const std::string& path) {
  h5::Quiet();
  try {
    const fixtures::InputFile regular(path);  // HDF5 would wait for who writes into a pipe
    return {Check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), H5Fclose};
  } catch (const h5::Failure& failure) {
    throw BadInput(path, "is damaged or no HDF5 file (" + failure.reason() + ")",
                   "make it again or name another file");
  }
}

// Runs `work` on the open file and turns what the library says into one line.
template <typename Work>
auto WithFile(const std::string& path, Work work) {
  const Handle file = OpenFile(path);
  try {
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

std::string SchemaOf(hid_t file) {
  const htri_t exists = Check(H5Aexists(file, "schema"));
  return exists > 0 ? ReadAttribute(file, "schema") : "";
}

void CheckRunSchema(const std::string& path, hid_t file) {
  std::string schema;
  try {
    schema = SchemaOf(file);
  } catch (const h5::Failure& failure) {
    throw BadInput(path, "is damaged (" + failure.reason() + ")", "make it again");
  }
  if (schema != kRunSchema) {
    const bool is_run = schema.starts_with("voltcheck.run/");
    throw BadInput(path, schema.empty() ? "has no schema" : "has the schema " + schema,
                   is_run ? "read it with the version of voltcheck that wrote it: this one reads " +
                                std::string(kRunSchema)
                          : "name a run file, " + std::string(kRunSchema));
  }
}

Verdict ParseVerdict(const std::string& path, const std::string& text) {
  for (std::size_t v = 0; v < kVerdicts; ++v) {
    if (ToString(static_cast<Verdict>(v)) == text) {
      return static_cast<Verdict>(v);
    }
  }
  throw BadInput(path, "/cases/verdict holds '" + text + "', which is no verdict",
                 "read it with the version of voltcheck that wrote it");
}

}  // namespace

bool IsHdf5(const std::string& path) {
  const fixtures::InputFile file(path);  // no pipe, which would block, and no device
  std::array<char, kSignature.size()> head{};
  return pread(file.descriptor(), head.data(), head.size(), 0) ==
             static_cast<ssize_t>(head.size()) &&
         head == kSignature;
}

std::string ReadSchema(const std::string& path) { return WithFile(path, SchemaOf); }

RunOverview ReadRunOverview(const std::string& path) {
  RunOverview overview = WithFile(path, [&path](hid_t file) {
    CheckRunSchema(path, file);
    RunOverview found;
    Check(
        H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, AppendAttribute, &found.attributes));
    Check(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, AppendDataset, &found.datasets,
                    H5O_INFO_BASIC));
    return found;
  });
  const RunReader reader(path);
  overview.complete = reader.Attribute("complete") == "1";
  for (const std::string& text : reader.Texts("/cases/verdict")) {
    overview.summary.Add(ParseVerdict(path, text));
  }
  return overview;
}

class RunReader::Impl {
 public:
  explicit Impl(const std::string& path) : path_(path) {
    file_ = OpenFile(path);
    CheckRunSchema(path, file_.get());
    Guard("/case", [&] { cases_ = Open("/case").extent.at(0); });
  }

  struct Opened {
    Handle dataset;
    Handle type;
    std::vector<hsize_t> extent;
    std::size_t columns = 1;
  };

  // Runs `work` and turns what the library says into one line that names the dataset.
  template <typename Work>
  void Guard(const std::string& name, Work work) const {
    try {
      work();
    } catch (const h5::Failure& failure) {
      throw BadInput(path_, name + " cannot be read (" + failure.reason() + ")",
                     "make the run file again");
    }
  }

  Opened Open(const std::string& name) const {
    if (!Has(name)) {
      throw BadInput(path_, "has no " + name, "make it again with this version of voltcheck");
    }
    Opened opened;
    opened.dataset = Handle(Check(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT)), H5Dclose);
    opened.type = Handle(Check(H5Dget_type(opened.dataset.get())), H5Tclose);
    opened.extent = voltcheck::verify::Extent(opened.dataset.get());
    if (opened.extent.empty() || opened.extent.size() > 2) {
      throw BadInput(path_, name + " is no column", "make the run file again");
    }
    const Handle properties(Check(H5Dget_create_plist(opened.dataset.get())), H5Pclose);
    if (H5Pget_layout(properties.get()) == H5D_VIRTUAL ||
        Check(H5Pget_external_count(properties.get())) != 0) {
      throw BadInput(path_, name + " has its values in another file", "make the run file again");
    }
    opened.columns = opened.extent.size() == 2 ? opened.extent[1] : 1;
    return opened;
  }

  // Every part of the path, because the library fails on one that is missing in the middle. Only
  // hard links: a file from outside must not lead into other files.
  bool Has(const std::string& path) const {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
      const std::string part = path.substr(0, at);
      H5L_info_t link;
      if (H5Lexists(file_.get(), part.c_str(), H5P_DEFAULT) <= 0 ||
          H5Lget_info(file_.get(), part.c_str(), &link, H5P_DEFAULT) < 0 ||
          link.type != H5L_TYPE_HARD) {
        H5Eclear2(H5E_DEFAULT);
        return false;
      }
      if (at == std::string::npos) {
        return true;
      }
    }
  }

  static std::uint64_t RowsFrom(const Opened& opened, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t rows = opened.extent[0];
    return first >= rows ? 0 : std::min(count, rows - first);
  }

  void Read(const Opened& opened, std::uint64_t first, std::uint64_t rows, hid_t type, void* data,
            hid_t transfer = H5P_DEFAULT) const {
    const int rank = static_cast<int>(opened.extent.size());
    const std::array<hsize_t, 2> start{first, 0};
    const std::array<hsize_t, 2> count{rows, opened.columns};
    const Handle memory(Check(H5Screate_simple(rank, count.data(), nullptr)), H5Sclose);
    const Handle space(Check(H5Dget_space(opened.dataset.get())), H5Sclose);
    Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                              nullptr));
    Check(H5Dread(opened.dataset.get(), type, memory.get(), space.get(), transfer, data));
  }

  template <typename T>
  std::vector<T> ReadNumbers(const std::string& name, std::uint64_t first, std::uint64_t count,
                             hid_t type) const {
    std::vector<T> values;
    Guard(name, [&] {
      const Opened opened = Open(name);
      const H5T_class_t kind = H5Tget_class(opened.type.get());
      const bool fits = kind == H5T_INTEGER || (kind == H5T_FLOAT && std::is_same_v<T, double>);
      if (!fits) {
        throw BadInput(path_, name + " does not hold numbers of that kind",
                       "make the run file again");
      }
      const std::uint64_t rows = RowsFrom(opened, first, count);
      values.resize(rows * opened.columns);
      if (!values.empty()) {
        Read(opened, first, rows, type, values.data());
      }
    });
    return values;
  }

  std::vector<std::string> Texts(const std::string& name, std::uint64_t first,
                                 std::uint64_t count) const {
    std::vector<std::string> texts;
    Guard(name, [&] {
      const Opened opened = Open(name);
      if (H5Tget_class(opened.type.get()) != H5T_STRING || opened.extent.size() != 1) {
        throw BadInput(path_, name + " is no column of text", "make the run file again");
      }
      const std::uint64_t rows = RowsFrom(opened, first, count);
      if (rows == 0) {
        return;
      }
      texts.reserve(rows);
      if (Check(H5Tis_variable_str(opened.type.get())) > 0) {
        ReadVariableTexts(opened, first, rows, texts);
      } else {
        const std::size_t bytes = H5Tget_size(opened.type.get());
        std::vector<char> data(rows * bytes);
        Read(opened, first, rows, opened.type.get(), data.data());
        for (std::uint64_t row = 0; row < rows; ++row) {
          const std::string_view text(data.data() + row * bytes, bytes);
          texts.emplace_back(text.substr(0, text.find('\0')));
        }
      }
    });
    return texts;
  }

  std::vector<std::string> Names(const std::string& group) const {
    std::vector<std::string> names;
    Guard(group, [&] {
      const Handle opened(Check(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT)), H5Gclose);
      Check(H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, AppendName, &names));
    });
    return names;
  }

  hid_t file() const { return file_.get(); }
  std::uint64_t cases() const { return cases_; }

 private:
  static herr_t AppendName(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/,
                           void* data) {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  }

  void ReadVariableTexts(const Opened& opened, std::uint64_t first, std::uint64_t rows,
                         std::vector<std::string>& texts) const {
    std::vector<char*> pointers(rows, nullptr);
    const Handle type = h5::TextType();
    constexpr std::size_t kMostBytes = 512U << 20U;
    h5::TextRoom room(kMostBytes);
    const Handle transfer = room.Transfer();
    try {
      Read(opened, first, rows, type.get(), pointers.data(), transfer.get());
    } catch (const h5::Failure&) {
      if (room.full()) {
        throw BadInput(path_, "has texts of more than 512 MiB", "make the run file again");
      }
      throw;
    }
    for (const char* text : pointers) {
      texts.emplace_back(text == nullptr ? "" : text);
    }
  }

  std::string path_;
  Handle file_;
  std::uint64_t cases_ = 0;
};

RunReader::RunReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}

RunReader::~RunReader() = default;

std::string RunReader::Attribute(const std::string& name, const std::string& path) const {
  std::string value;
  impl_->Guard("attribute " + name, [&] {
    const Handle object(Check(H5Oopen(impl_->file(), path.c_str(), H5P_DEFAULT)), H5Oclose);
    if (Check(H5Aexists(object.get(), name.c_str())) > 0) {
      value = ReadAttribute(object.get(), name.c_str());
    }
  });
  return value;
}

std::uint64_t RunReader::Offset(const std::string& dataset) const {
  std::uint64_t offset = 0;
  impl_->Guard(dataset, [&] {
    const haddr_t address = H5Dget_offset(impl_->Open(dataset).dataset.get());
    Check(address == HADDR_UNDEF ? -1 : 0);
    offset = address;
  });
  return offset;
}

std::uint64_t RunReader::cases() const { return impl_->cases(); }

bool RunReader::Has(const std::string& path) const { return impl_->Has(path); }

std::vector<std::string> RunReader::Names(const std::string& group) const {
  return impl_->Names(group);
}

std::vector<std::uint64_t> RunReader::Extent(const std::string& dataset) const {
  std::vector<std::uint64_t> extent;
  impl_->Guard(dataset, [&] {
    const Impl::Opened opened = impl_->Open(dataset);
    extent.assign(opened.extent.begin(), opened.extent.end());
  });
  return extent;
}

std::vector<std::string> RunReader::Texts(const std::string& dataset, std::uint64_t first,
                                          std::uint64_t count) const {
  return impl_->Texts(dataset, first, count);
}

std::vector<double> RunReader::Numbers(const std::string& dataset, std::uint64_t first,
                                       std::uint64_t count) const {
  return impl_->ReadNumbers<double>(dataset, first, count, H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> RunReader::Integers(const std::string& dataset, std::uint64_t first,
                                              std::uint64_t count) const {
  return impl_->ReadNumbers<std::int64_t>(dataset, first, count, H5T_NATIVE_INT64);
}

std::vector<std::uint64_t> RunReader::Counts(const std::string& dataset, std::uint64_t first,
                                             std::uint64_t count) const {
  return impl_->ReadNumbers<std::uint64_t>(dataset, first, count, H5T_NATIVE_UINT64);
}

}  // namespace voltcheck::verify
