#include "reference/weight_block.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"

namespace voltcheck::reference {
namespace {

void CheckSizes(const AwqMatrix& m) {
  const auto where = [&] {
    return "AWQ matrix [" + std::to_string(m.k) + ", " + std::to_string(m.n) + "], group " +
           std::to_string(m.group);
  };
  if (m.group <= 0 || m.group % kBlockRows != 0) {
    throw BadInput(where(), "the group is not a multiple of 32", "use a group of 32, 64 or 128");
  }
  if (m.k <= 0 || m.k % m.group != 0) {
    throw BadInput(where(), "K is not a multiple of the group", "pad K");
  }
  if (m.n <= 0 || m.n % kWordColumns != 0) {
    throw BadInput(where(), "N is not a multiple of 8", "pad N");
  }
  const auto k = static_cast<std::size_t>(m.k);
  const auto n = static_cast<std::size_t>(m.n);
  const std::size_t groups = k / static_cast<std::size_t>(m.group);
  if (m.qweight.size() != k * n / kWordColumns || m.qzeros.size() != groups * n / kWordColumns ||
      m.scales.size() != groups * n) {
    throw BadInput(where(), "qweight, qzeros or scales have another length",
                   "check the tensors' shapes");
  }
}

// The words of up to 64 columns, followed by zero words.
using PaddedWords = std::array<std::uint32_t, kBlockWords>;

PaddedWords LoadWords(std::span<const std::uint32_t> words) {
  PaddedWords padded{};
  std::copy_n(words.begin(), std::min<std::size_t>(words.size(), kBlockWords), padded.begin());
  return padded;
}

}  // namespace

BlockDecoder::BlockDecoder(const AwqMatrix& m, WeightKind kind) : m_(m), kind_(kind) {
  CheckSizes(m);
}

void BlockDecoder::LoadMetadata(int group, int block) {
  const int first = block * kBlockColumns;
  const int columns = std::min(m_.n - first, kBlockColumns);
  std::array<float, kBlockColumns> scales{};
  arith::HalfToFloat(m_.scales.data() + static_cast<std::ptrdiff_t>(group) * m_.n + first,
                     scales.data(), static_cast<std::size_t>(columns));
  // The bias is the product -z * s, so the zero points are decoded like weights, with scale -s and
  // no bias; rounded for the contract weight, exact for the ideal one.
  BlockMetadata zero_points{};
  for (int c = 0; c < kBlockColumns; ++c) {
    metadata_.scale[c] = scales[static_cast<std::size_t>(BlockColumn(0, c))];
    zero_points.scale[c] = -metadata_.scale[c];
  }
  const int row_words = m_.n / kWordColumns;
  const auto row = std::span(m_.qzeros).subspan(static_cast<std::size_t>(group) * row_words,
                                                static_cast<std::size_t>(row_words));
  const PaddedWords zeros = LoadWords(row.subspan(static_cast<std::size_t>(block) * kBlockWords));
  DequantiseBlock(zeros.data(), 0, 1, zero_points, kind_ == WeightKind::kContract, metadata_.bias);
}

template <typename Scalar>
void BlockDecoder::Decode(int first_row, int block, WeightBlock<Scalar>& out) {
  LoadMetadata(first_row / m_.group, block);
  const bool round = kind_ == WeightKind::kContract;
  const int row_words = m_.n / kWordColumns;
  const std::uint32_t* words = m_.qweight.data() +
                               static_cast<std::ptrdiff_t>(first_row) * row_words +
                               static_cast<std::ptrdiff_t>(block) * kBlockWords;
  alignas(64) float decoded[kBlockRows * kBlockColumns];
  float* target = decoded;
  if constexpr (std::is_same_v<Scalar, float>) {
    target = out.data();
  }
  const int words_here = std::min(row_words - block * kBlockWords, kBlockWords);
  if (words_here == kBlockWords) {
    DequantiseBlock(words, row_words, kBlockRows, metadata_, round, target);
  } else {
    std::array<PaddedWords, kBlockRows> padded;
    for (int r = 0; r < kBlockRows; ++r) {
      padded[static_cast<std::size_t>(r)] =
          LoadWords({words + static_cast<std::ptrdiff_t>(r) * row_words,
                     static_cast<std::size_t>(words_here)});
    }
    DequantiseBlock(padded.front().data(), kBlockWords, kBlockRows, metadata_, round, target);
  }
  if constexpr (!std::is_same_v<Scalar, float>) {
    out = Eigen::Map<const WeightBlock<float>>(decoded).template cast<Scalar>();
  }
}

template void BlockDecoder::Decode<float>(int, int, WeightBlock<float>&);
template void BlockDecoder::Decode<double>(int, int, WeightBlock<double>&);

}  // namespace voltcheck::reference
