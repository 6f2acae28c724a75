#include "kernels/runtime_shim/core/status.h"

#include <algorithm>
#include <iterator>

namespace voltcheck::shim {
namespace {

struct Row {
  int status;
  const char* runtime;
  const char* driver;
  const char* text;
};

constexpr Row kRows[] = {
#include "kernels/runtime_shim/core/error_table.inc"
};

const Row* Find(int status) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [status](const Row& row) { return row.status == status; });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace

const char* RuntimeName(int status) {
  const Row* row = Find(status);
  return row == nullptr ? nullptr : row->runtime;
}

const char* DriverName(int status) {
  const Row* row = Find(status);
  return row == nullptr || *row->driver == 0 ? nullptr : row->driver;
}

const char* Text(int status) {
  const Row* row = Find(status);
  return row == nullptr ? nullptr : row->text;
}

}  // namespace voltcheck::shim
