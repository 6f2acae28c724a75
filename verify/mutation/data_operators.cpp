// Faults in how a checkpoint's tensors are read: the kernels get them otherwise than the file says.
#include <array>

#include "verify/mutation/plan_edits.h"

namespace voltcheck::mutation {
namespace {

// Rows of K groups and columns of a GEMM's metadata, as its repack launch has them.
struct MetadataShape {
  std::size_t groups = 0;
  std::size_t n = 0;
};
MetadataShape ShapeOf(const Plan& plan, const std::string& gemm) {
  return {static_cast<std::size_t>(Argument(plan, gemm + ".metadata", 3)),
          static_cast<std::size_t>(Argument(plan, gemm + ".metadata", 4))};
}

// Changes a buffer's contents; false when there is none, or nothing changed.
template <typename T, typename Change>
bool ChangeContents(Plan& plan, const std::string& name, Change change) {
  BufferSpec* buffer = Find(plan, name);
  if (buffer == nullptr) {
    return false;
  }
  std::vector<T> values = Numbers<T>(*buffer);
  const std::vector<T> before = values;
  change(values);
  SetNumbers(*buffer, values);
  return values != before;
}

// Nibble i of the result is nibble order[i] of `word`.
std::uint32_t Reordered(std::uint32_t word, const std::array<int, 8>& order) {
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result |= ((word >> (4 * order[i])) & 0xfU) << (4 * i);
  }
  return result;
}

void ReorderNibbles(std::string_view op, const std::string& buffer, const std::string& what,
                    const std::array<int, 8>& order, std::vector<PlanFault>& faults) {
  faults.push_back({op, buffer + " " + what, [=](Plan& plan) {
                      return ChangeContents<std::uint32_t>(plan, buffer,
                                                           [&](std::vector<std::uint32_t>& words) {
                                                             for (std::uint32_t& word : words) {
                                                               word = Reordered(word, order);
                                                             }
                                                           });
                    }});
}

constexpr std::array<int, 8> kInOrder{0, 4, 1, 5, 2, 6, 3, 7};     // as if nibble i were column i
constexpr std::array<int, 8> kTwice{0, 2, 4, 6, 1, 3, 5, 7};       // the interleave done twice
constexpr std::array<int, 8> kNeighbours{1, 0, 3, 2, 5, 4, 7, 6};  // pairs exchanged

}  // namespace

void ZeroPointOrder(std::vector<PlanFault>& faults) {
  constexpr std::string_view kOp = "zero-point-order";
  for (const std::string gemm : {"w13", "w2"}) {
    ReorderNibbles(kOp, gemm + ".qzeros", "without the interleave", kInOrder, faults);
    ReorderNibbles(kOp, gemm + ".qzeros", "interleaved twice", kTwice, faults);
    ReorderNibbles(kOp, gemm + ".qzeros", "with neighbours exchanged", kNeighbours, faults);
    ReorderNibbles(kOp, gemm + ".qweight", "without the interleave", kInOrder, faults);
    faults.push_back({kOp, gemm + " zero points plus one", [gemm](Plan& plan) {
                        return ChangeContents<std::uint32_t>(
                            plan, gemm + ".qzeros", [](std::vector<std::uint32_t>& words) {
                              for (std::uint32_t& word : words) {
                                word = ((word & 0x77777777U) + 0x11111111U) ^ (word & 0x88888888U);
                              }
                            });
                      }});
  }
}

void ScaleTransposed(std::vector<PlanFault>& faults) {
  for (const std::string gemm : {"w13", "w2"}) {
    faults.push_back(
        {"scale-transposed", gemm + " scales read column by column", [gemm](Plan& plan) {
           const MetadataShape shape = ShapeOf(plan, gemm);
           return ChangeContents<std::uint16_t>(
               plan, gemm + ".scales", [&](std::vector<std::uint16_t>& scales) {
                 const std::vector<std::uint16_t> from = scales;
                 const std::size_t matrix = shape.groups * shape.n;
                 for (std::size_t i = 0; i < scales.size(); ++i) {
                   const std::size_t in_matrix = i % matrix;
                   scales[i] = from[i - in_matrix + in_matrix % shape.groups * shape.n +
                                    in_matrix / shape.groups];
                 }
               });
         }});
    faults.push_back({"scale-transposed", gemm + " scales of neighbouring columns exchanged",
                      [gemm](Plan& plan) {
                        return ChangeContents<std::uint16_t>(
                            plan, gemm + ".scales", [](std::vector<std::uint16_t>& scales) {
                              for (std::size_t i = 0; i + 1 < scales.size(); i += 2) {
                                std::swap(scales[i], scales[i + 1]);
                              }
                            });
                      }});
  }
}

void RaggedLastGroup(std::vector<PlanFault>& faults) {
  for (const std::string gemm : {"w13", "w2"}) {
    // The last group of each expert takes the row before it.
    const auto copy_row = [](auto& values, const MetadataShape& shape, std::size_t columns) {
      const std::size_t matrix = shape.groups * columns;
      for (std::size_t i = matrix; i <= values.size() && shape.groups > 1; i += matrix) {
        for (std::size_t c = 1; c <= columns; ++c) {
          values[i - c] = values[i - c - columns];
        }
      }
    };
    faults.push_back({"ragged-group", gemm + " scales", [gemm, copy_row](Plan& plan) {
                        const MetadataShape shape = ShapeOf(plan, gemm);
                        return ChangeContents<std::uint16_t>(
                            plan, gemm + ".scales",
                            [&](auto& values) { copy_row(values, shape, shape.n); });
                      }});
    faults.push_back({"ragged-group", gemm + " zero points", [gemm, copy_row](Plan& plan) {
                        const MetadataShape shape = ShapeOf(plan, gemm);
                        return ChangeContents<std::uint32_t>(
                            plan, gemm + ".qzeros",
                            [&](auto& values) { copy_row(values, shape, shape.n / 8); });
                      }});
  }
}

}  // namespace voltcheck::mutation
