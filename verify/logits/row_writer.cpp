#include "verify/logits/row_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "fixtures/atomic_file.h"
#include "fixtures/case/error.h"
#include "verify/h5_table.h"

namespace voltcheck::logits {
namespace {

using verify::LogitRow;

struct NumberedRow {
  std::uint64_t row = 0;
  LogitRow figures;
};

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// Of the pairs that are finite.
double OfPairs(double x, const LogitRow& r) { return r.compared == 0 ? kAbsent : x; }
double PerValue(double sum, const LogitRow& r) {
  return OfPairs(sum / static_cast<double>(r.compared), r);
}
// Of a whole row, which has none when a value is not finite.
double OfRow(double x, const LogitRow& r) { return r.finite() ? x : kAbsent; }

// One column of every format, in their order.
struct RowColumn {
  const char* name;
  const char* long_name;
  bool whole;  // a count or a column number
  double (*get)(const LogitRow& r);
};
constexpr std::array<RowColumn, 13> kColumns{{
    {"nonfinite", "pairs with a NaN or an infinity", true,
     [](const LogitRow& r) { return static_cast<double>(r.nonfinite); }},
    {"differing", "logits that are not equal", true,
     [](const LogitRow& r) { return static_cast<double>(r.differing); }},
    {"max_abs", "largest |other - base|", false,
     [](const LogitRow& r) { return OfPairs(r.max_abs, r); }},
    {"max_abs_column", "its column, -1 for none", true,
     [](const LogitRow& r) { return static_cast<double>(r.max_abs_column); }},
    {"rms", "root mean square of other - base", false,
     [](const LogitRow& r) { return std::sqrt(PerValue(r.squares, r)); }},
    {"bias", "mean of other - base", false, [](const LogitRow& r) { return PerValue(r.sum, r); }},
    {"base_argmax", "greedy token of base, -1 for a row that is not finite", true,
     [](const LogitRow& r) { return static_cast<double>(r.base_argmax); }},
    {"other_argmax", "greedy token of other", true,
     [](const LogitRow& r) { return static_cast<double>(r.other_argmax); }},
    {"flipped_margin", "how far base puts its greedy token above other's", false,
     [](const LogitRow& r) { return OfRow(r.flipped_margin, r); }},
    {"top5_overlap", "tokens among the five likeliest of both, -1 for a row that is not finite",
     true, [](const LogitRow& r) { return r.finite() ? static_cast<double>(r.top_overlap) : -1; }},
    {"top5_log_probability", "largest |difference| in log-probability of base's five", false,
     [](const LogitRow& r) { return OfRow(r.top_log_probability, r); }},
    {"kl", "KL divergence, base to other, natural logarithm", false,
     [](const LogitRow& r) { return OfRow(r.kl, r); }},
    {"compared", "pairs that are finite", true,
     [](const LogitRow& r) { return static_cast<double>(r.compared); }},
}};

// The shortest decimal that reads back as the same number; `absent` for a figure that a row has
// not.
std::string Number(double x, bool whole, const char* absent) {
  if (std::isnan(x)) {
    return absent;
  }
  std::array<char, 32> text{};
  const auto end = whole ? std::to_chars(text.begin(), text.end(), static_cast<std::int64_t>(x))
                         : std::to_chars(text.begin(), text.end(), x);
  return {text.data(), end.ptr};
}

class TextWriter : public RowWriter {
 public:
  TextWriter(const std::string& path, bool csv) : file_(path), csv_(csv) {
    if (csv_) {
      buffer_ = "row";
      for (const RowColumn& c : kColumns) {
        buffer_.append(",").append(c.name);
      }
      buffer_ += "\n";
    }
  }
  void Append(std::uint64_t row, const LogitRow& figures) override {
    buffer_ += csv_ ? std::to_string(row) : "{\"row\": " + std::to_string(row);
    for (const RowColumn& c : kColumns) {
      buffer_ += csv_ ? "," : std::string(", \"") + c.name + "\": ";
      buffer_ += Number(c.get(figures), c.whole, csv_ ? "" : "null");
    }
    buffer_ += csv_ ? "\n" : "}\n";
    if (buffer_.size() > kFlushBytes) {
      Flush();
    }
  }
  void Finish(bool /*complete*/) override {
    Flush();
    file_.Commit();
  }

 private:
  static constexpr std::size_t kFlushBytes = 1 << 16;
  void Flush() {
    file_.Write(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }

  fixtures::AtomicFile file_;
  bool csv_;
  std::string buffer_;
};

class RunWriter : public RowWriter {
 public:
  RunWriter(const std::string& path, const verify::RunProvenance& provenance)
      : file_(path, provenance) {}
  void Append(std::uint64_t row, const LogitRow& figures) override {
    rows_.push_back({row, figures});
  }
  void Finish(bool complete) override {
    file_.Finish(complete, [this](hid_t file) { Write(file); });
  }

 private:
  void Write(hid_t file) const {
    const verify::h5::Handle group = verify::h5::CreateGroup(file, "logit_rows");
    verify::h5::SetText(group.get(), "long_name", "two captures of logits, row by row");
    verify::h5::Table<NumberedRow> table;
    table.AddNumber<std::uint64_t>(group.get(), {"logit_row", "1", "row of the captures, from 0"},
                                   [](const NumberedRow& r) { return r.row; });
    for (const RowColumn& c : kColumns) {
      const auto get = [&c](const NumberedRow& r) { return c.get(r.figures); };
      if (c.whole) {
        table.AddNumber<std::int32_t>(group.get(), {c.name, "1", c.long_name}, get);
      } else {
        table.AddNumber<double>(group.get(), {c.name, "1", c.long_name}, get);
      }
    }
    for (const NumberedRow& row : rows_) {
      table.Append(row);
    }
    table.Close();
  }

  verify::RunFileWriter file_;
  std::vector<NumberedRow> rows_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeRowWriter(const std::string& path,
                                         const verify::RunProvenance& provenance) {
  if (path.ends_with(".csv") || path.ends_with(".jsonl")) {
    return std::make_unique<TextWriter>(path, path.ends_with(".csv"));
  }
  if (path.ends_with(".h5")) {
    return std::make_unique<RunWriter>(path, provenance);
  }
  throw BadInput(path, "has no ending that says how to write rows", "use .csv, .jsonl or .h5");
}

}  // namespace voltcheck::logits
