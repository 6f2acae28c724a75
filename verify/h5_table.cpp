#include "verify/h5_table.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fixtures/case/error.h"

namespace voltcheck::verify::h5 {
namespace {

constexpr hsize_t kChunkRows = 1024;
constexpr hsize_t kVectorChunkRows = 256;

// A dataset of no rows yet; `width` 0 means one dimension.
Handle CreateColumn(hid_t parent, const std::string& name, hid_t type, hsize_t width) {
  const std::array<hsize_t, 2> extent{0, width};
  const std::array<hsize_t, 2> most{H5S_UNLIMITED, width};
  const std::array<hsize_t, 2> chunk{width == 0 ? kChunkRows : kVectorChunkRows, width};
  const std::size_t rank = width == 0 ? 1 : 2;
  const Handle space(Check(H5Screate_simple(static_cast<int>(rank), extent.data(), most.data())),
                     H5Sclose);
  const Handle properties = ChunkedProperties({chunk.data(), rank});
  return {Check(H5Dcreate2(parent, name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(),
                           H5P_DEFAULT)),
          H5Dclose};
}

}  // namespace

Column::Column(hid_t parent, const ColumnInfo& info, Handle type, std::size_t row_bytes,
               hsize_t width)
    : dataset_(CreateColumn(parent, info.name, type.get(), width)),
      type_(std::move(type)),
      row_bytes_(row_bytes),
      width_(width),
      name_(info.name) {
  if (!info.units.empty()) {
    SetText(id(), "units", info.units);
  }
  SetText(id(), "long_name", info.long_name);
}

std::byte* Column::NextRow() {
  const std::size_t at = rows_++ * row_bytes_;
  if (at + row_bytes_ > bytes_.size()) {
    bytes_.resize(std::max(2 * bytes_.size(), 16 * row_bytes_));
  }
  return bytes_.data() + at;
}

void Column::PushBytes(const void* row) { std::memcpy(NextRow(), row, row_bytes_); }

void Column::PushFixedText(std::string_view text) {
  if (text.size() > row_bytes_) {
    throw BadInput("column " + name_, "cannot hold " + std::string(text),
                   "use a name shorter than " + std::to_string(row_bytes_) + " bytes");
  }
  std::byte* row = NextRow();
  std::memcpy(row, text.data(), text.size());
  std::memset(row + text.size(), 0, row_bytes_ - text.size());
}

void Column::PushText(std::string text) { texts_.push_back(std::move(text)); }

void Column::Flush() {
  if (row_bytes_ > 0) {
    Write(rows_, bytes_.data());
    rows_ = 0;
    return;
  }
  std::vector<const char*> pointers;
  pointers.reserve(texts_.size());
  for (const std::string& text : texts_) {
    pointers.push_back(text.c_str());
  }
  Write(pointers.size(), pointers.data());
  texts_.clear();
}

void Column::Write(hsize_t rows, const void* data) {
  if (rows == 0) {
    return;
  }
  const int rank = width_ == 0 ? 1 : 2;
  const std::array<hsize_t, 2> start{written_, 0};
  const std::array<hsize_t, 2> count{rows, width_};
  const std::array<hsize_t, 2> extent{written_ + rows, width_};
  Check(H5Dset_extent(id(), extent.data()));
  const Handle memory(Check(H5Screate_simple(rank, count.data(), nullptr)), H5Sclose);
  const Handle file(Check(H5Dget_space(id())), H5Sclose);
  Check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr));
  Check(H5Dwrite(id(), type_.get(), memory.get(), file.get(), H5P_DEFAULT, data));
  written_ += rows;
}

void Column::Close() {
  if (!dataset_.Reset()) {
    throw Failure();
  }
}

}  // namespace voltcheck::verify::h5
