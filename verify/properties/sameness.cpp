#include "verify/properties/sameness.h"

#include <cstdio>
#include <numeric>

#include "reference/arith/half.h"
#include "verify/observed_halves.h"
#include "verify/properties/breach.h"

namespace voltcheck::properties {
namespace {

std::vector<int> Identity(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Breach ElementBreach(const char* tensor, int row, int col, std::uint16_t got, std::uint16_t want,
                     const std::string& why) {
  const double got_value = arith::HalfToFloat(got);
  const double want_value = arith::HalfToFloat(want);
  const bool of_output = std::string_view(tensor) == "output";
  char text[160];
  std::snprintf(text, sizeof(text), "%s of %s %d, column %d: got %.8g (0x%04x), want %.8g (0x%04x)",
                tensor, of_output ? "token" : "slot", row, col, got_value, got, want_value, want);
  return Breach{text + (why.empty() ? "" : "; " + why), tensor, row, col, got_value, want_value};
}

RowsBySlot::RowsBySlot(const StageRun& run)
    : row_of_(static_cast<std::size_t>(run.c.shape.slots()), -1) {
  const int slots = run.c.shape.slots();
  if (run.out.rows < 0 || run.out.rows > slots) {
    throw Breach{"the device counts " + std::to_string(run.out.rows) + " rows of " +
                 std::to_string(slots) + " slots"};
  }
  std::vector<bool> seen(row_of_.size());
  for (int row = 0; row < slots; ++row) {
    const int slot = run.out.source[static_cast<std::size_t>(row)];
    if (slot < 0 || slot >= slots || seen[static_cast<std::size_t>(slot)]) {
      throw Breach{"row " + std::to_string(row) + " is for slot " + std::to_string(slot) +
                   ": the rows are no permutation of the slots"};
    }
    seen[static_cast<std::size_t>(slot)] = true;
    row_of_[static_cast<std::size_t>(slot)] = row < run.out.rows ? row : -1;
  }
}

std::vector<std::uint16_t> W13InCheckpointOrder(const StageRun& run) {
  if (run.out.w13.empty() || run.c.columns != Columns::kInterleaved) {
    return run.out.w13;
  }
  reference::HalfMatrix w13{run.c.shape.slots(), run.c.w13_n(), run.out.w13};
  verify::Deinterleave(w13);
  return std::move(w13.bits);
}

void ExpectSameSlots(const StageRun& want, const StageRun& got, const std::vector<int>& want_slot,
                     const std::string& why) {
  const RowsBySlot want_rows(want);
  const RowsBySlot got_rows(got);
  const auto compare = [&](const char* tensor, const std::vector<std::uint16_t>& w,
                           const std::vector<std::uint16_t>& g, int cols) {
    if (w.empty() || g.empty()) {
      return;
    }
    for (int slot = 0; slot < got.c.shape.slots(); ++slot) {
      const int other = want_slot[static_cast<std::size_t>(slot)];
      if (other < 0) {
        continue;
      }
      const int want_row = want_rows[other];
      const int got_row = got_rows[slot];
      if ((want_row < 0) != (got_row < 0)) {
        throw Breach{
            "slot " + std::to_string(slot) + " is computed in one run and not in the other; " + why,
            tensor, slot};
      }
      if (got_row < 0) {
        continue;
      }
      const auto width = static_cast<std::size_t>(cols);
      const std::uint16_t* w_row = w.data() + static_cast<std::size_t>(want_row) * width;
      const std::uint16_t* g_row = g.data() + static_cast<std::size_t>(got_row) * width;
      for (std::size_t col = 0; col < width; ++col) {
        if (w_row[col] != g_row[col]) {
          throw ElementBreach(tensor, slot, static_cast<int>(col), g_row[col], w_row[col], why);
        }
      }
    }
  };
  const Shape& shape = got.c.shape;
  compare("w13", W13InCheckpointOrder(want), W13InCheckpointOrder(got), 2 * shape.intermediate);
  compare("silu", want.out.silu, got.out.silu, shape.intermediate);
  compare("w2", want.out.w2, got.out.w2, shape.hidden);
}

void ExpectSameTokens(const StageRun& want, const StageRun& got, const std::vector<int>& want_token,
                      const std::string& why) {
  const auto hidden = static_cast<std::size_t>(got.c.shape.hidden);
  for (int token = 0; token < got.c.shape.tokens; ++token) {
    const int other = want_token[static_cast<std::size_t>(token)];
    if (other < 0) {
      continue;
    }
    const std::uint16_t* w = want.out.output.data() + static_cast<std::size_t>(other) * hidden;
    const std::uint16_t* g = got.out.output.data() + static_cast<std::size_t>(token) * hidden;
    for (std::size_t col = 0; col < hidden; ++col) {
      if (w[col] != g[col]) {
        throw ElementBreach("output", token, static_cast<int>(col), g[col], w[col], why);
      }
    }
  }
}

void ExpectSameStage(const StageRun& want, const StageRun& got, const std::string& why) {
  ExpectSameSlots(want, got, Identity(got.c.shape.slots()), why);
  ExpectSameTokens(want, got, Identity(got.c.shape.tokens), why);
}

}  // namespace voltcheck::properties
