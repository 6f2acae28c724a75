#ifndef VOLTCHECK_VERIFY_H5_TABLE_H_
#define VOLTCHECK_VERIFY_H5_TABLE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/h5.h"

namespace voltcheck::verify::h5 {

/// What a reader sees of a column beside its values.
struct ColumnInfo {
  std::string name;
  std::string units;  ///< "1" for pure numbers; empty for text
  std::string long_name;
};

/// One extendible dataset [rows] or [rows, width] with a buffer of rows that wait to be written.
class Column {
 public:
  /// `type` is what stands in the file and in the buffer; text columns have TextType() and no
  /// `row_bytes`.
  Column(hid_t parent, const ColumnInfo& info, Handle type, std::size_t row_bytes, hsize_t width);

  void PushBytes(const void* row);
  /// Of a column of FixedTextType; throws Error (status 2) when `text` is longer than its rows.
  void PushFixedText(std::string_view text);
  void PushText(std::string text);
  /// Writes the buffered rows at the end of the dataset.
  void Flush();
  hid_t id() const { return dataset_.get(); }
  /// Closes the dataset; throws Failure when that fails.
  void Close();

 private:
  std::byte* NextRow();
  void Write(hsize_t rows, const void* data);

  Handle dataset_;
  Handle type_;
  std::size_t row_bytes_;
  hsize_t width_;
  std::string name_;
  hsize_t written_ = 0;
  std::size_t rows_ = 0;  ///< that wait in `bytes_`
  std::vector<std::byte> bytes_;
  std::vector<std::string> texts_;
};

/// Columns of equal length in one or several groups, filled from rows of one kind. A column is
/// declared with the function that takes its value out of a row, so the schema reads as a list.
template <typename Row>
class Table {
 public:
  /// The first column becomes the dimension scale of the table's rows, named as it is.
  explicit Table(std::size_t rows_per_chunk = kRowsPerChunk) : rows_per_chunk_(rows_per_chunk) {}

  template <typename T, typename Get>
  void AddNumber(hid_t parent, const ColumnInfo& info, Get get) {
    auto column = Add(parent, info, Handle(H5Tcopy(NumberType<T>()), H5Tclose), sizeof(T), 0);
    fill_.push_back([column, get = std::move(get)](const Row& row) {
      const auto value = static_cast<T>(get(row));
      column->PushBytes(&value);
    });
  }

  template <typename Get>
  void AddText(hid_t parent, const ColumnInfo& info, Get get) {
    auto column = Add(parent, info, TextType(), 0, 0);
    fill_.push_back([column, get = std::move(get)](const Row& row) {
      column->PushText(std::string(get(row)));
    });
  }

  /// Text of at most `bytes` bytes, deflated with its chunk: for what every row has. `_Encoding`
  /// makes xarray read it as str.
  template <typename Get>
  void AddFixedText(hid_t parent, const ColumnInfo& info, std::size_t bytes, Get get) {
    auto column = Add(parent, info, FixedTextType(bytes), bytes, 0);
    SetText(column->id(), "_Encoding", "utf-8");
    fill_.push_back(
        [column, get = std::move(get)](const Row& row) { column->PushFixedText(get(row)); });
  }

  /// A column of vectors; `get` gives `width` numbers of type T. `scale` goes with the second
  /// dimension.
  template <typename T, typename Get>
  void AddVector(hid_t parent, const ColumnInfo& info, hsize_t width, hid_t scale, Get get) {
    auto column =
        Add(parent, info, Handle(H5Tcopy(NumberType<T>()), H5Tclose), sizeof(T) * width, width);
    AttachScale(column->id(), scale, 1);
    fill_.push_back([column, get = std::move(get)](const Row& row) {
      const std::vector<T> values = get(row);
      column->PushBytes(values.data());
    });
  }

  void Append(const Row& row) {
    for (const auto& fill : fill_) {
      fill(row);
    }
    if (++buffered_ == rows_per_chunk_) {
      Flush();
    }
  }

  void Flush() {
    for (const auto& column : columns_) {
      column->Flush();
    }
    buffered_ = 0;
  }

  void Close() {
    Flush();
    for (const auto& column : columns_) {
      column->Close();
    }
  }

 private:
  static constexpr std::size_t kRowsPerChunk = 1024;

  std::shared_ptr<Column> Add(hid_t parent, const ColumnInfo& info, Handle type,
                              std::size_t row_bytes, hsize_t width) {
    auto column = std::make_shared<Column>(parent, info, std::move(type), row_bytes, width);
    if (columns_.empty()) {
      MakeScale(column->id(), info.name.c_str());
    } else {
      AttachScale(column->id(), columns_.front()->id(), 0);
    }
    columns_.push_back(column);
    return column;
  }

  std::size_t rows_per_chunk_;
  std::size_t buffered_ = 0;
  std::vector<std::shared_ptr<Column>> columns_;
  std::vector<std::function<void(const Row&)>> fill_;
};

}  // namespace voltcheck::verify::h5

#endif  // VOLTCHECK_VERIFY_H5_TABLE_H_
