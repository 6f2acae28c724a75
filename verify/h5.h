#ifndef VOLTCHECK_VERIFY_H5_H_
#define VOLTCHECK_VERIFY_H5_H_

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace voltcheck::verify::h5 {

/// An HDF5 identifier with the function that closes it. Unlike fixtures::Hdf5Handle it can be
/// closed early and says whether that worked, which a writer must know.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() { Reset(); }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      Reset();
      id_ = other.id_;
      close_ = other.close_;
      other.id_ = -1;
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  hid_t get() const { return id_; }
  /// Closes now and says whether that worked: closing is when HDF5 writes.
  bool Reset() {
    const hid_t id = id_;
    id_ = -1;
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Thrown when a call of the library fails; `what()` is the operating system's reason where there
/// is one. The run file turns it into the user's one line.
class Failure {
 public:
  /// Takes the reason from the library's error stack.
  Failure();
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// `result` unless it is negative, which throws Failure.
template <typename Result>
Result Check(Result result) {
  if (result < 0) {
    throw Failure();
  }
  return result;
}

/// Turns off the printing of the library's error stack, and of its work at exit (which would try
/// again to write what a full disk refused).
void Quiet();

/// A new file, groups and datasets without times, so that the same contents give the same bytes.
Handle CreateFile(const std::string& path);
Handle CreateGroup(hid_t parent, const std::string& name);
/// Creation properties of a chunked, shuffled and deflated dataset.
Handle ChunkedProperties(std::span<const hsize_t> chunk);

/// UTF-8 of variable length: what h5py and xarray read as str.
Handle TextType();
/// UTF-8 of at most `bytes` bytes, padded with zeros: unlike text of variable length it is deflated
/// with its chunk, to next to nothing where few values repeat.
Handle FixedTextType(std::size_t bytes);

/// A scalar attribute.
void SetText(hid_t object, const char* name, std::string_view value);
void SetNumber(hid_t object, const char* name, std::uint64_t value);
void SetNumber(hid_t object, const char* name, std::int64_t value);

/// Makes `dataset` a dimension scale named `name`, and hangs scales on dimensions.
void MakeScale(hid_t dataset, const char* name);
void AttachScale(hid_t dataset, hid_t scale, unsigned dimension);

/// A whole dataset in one call, contiguous: `file_type` little-endian, `data` in the same
/// representation.
Handle WriteDataset(hid_t parent, const char* name, hid_t type, std::span<const hsize_t> extent,
                    const void* data);

/// The file type of a number (little-endian); x86-64's own representation, so nothing is converted.
template <typename T>
hid_t NumberType() {
  if constexpr (std::is_same_v<T, float>) {
    return H5T_IEEE_F32LE;
  } else if constexpr (std::is_same_v<T, double>) {
    return H5T_IEEE_F64LE;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return H5T_STD_I32LE;
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return H5T_STD_U32LE;
  } else {
    static_assert(std::is_same_v<T, std::uint64_t>);
    return H5T_STD_U64LE;
  }
}

}  // namespace voltcheck::verify::h5

#endif  // VOLTCHECK_VERIFY_H5_H_
