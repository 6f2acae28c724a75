#include "reference/weight_block.h"

#include <algorithm>
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

}  // namespace

BlockDecoder::BlockDecoder(const AwqMatrix& m, WeightKind kind) : m_(m), kind_(kind) {
  CheckSizes(m);
  metadata_.resize(static_cast<std::size_t>((m.n + kBlockColumns - 1) / kBlockColumns));
  words_.resize(kBlockRows * kBlockWords * metadata_.size());
}

void BlockDecoder::LoadGroup(int group) {
  group_ = group;
  const auto columns = static_cast<std::size_t>(m_.n);
  std::vector<float> scales(kBlockColumns * metadata_.size());
  arith::HalfToFloat(m_.scales.data() + group * columns, scales.data(), columns);
  std::vector<std::uint32_t> zeros(kBlockWords * metadata_.size());
  const std::size_t row_words = columns / kWordColumns;
  std::copy_n(m_.qzeros.data() + group * row_words, row_words, zeros.data());
  for (std::size_t block = 0; block < metadata_.size(); ++block) {
    BlockMetadata& metadata = metadata_[block];
    // The bias is the product -z * s, so the zero points are decoded like weights, with scale -s
    // and no bias; rounded for the contract weight, exact for the ideal one.
    BlockMetadata zero_points{};
    for (int c = 0; c < kBlockColumns; ++c) {
      metadata.scale[c] = scales[static_cast<std::size_t>(BlockColumn(static_cast<int>(block), c))];
      zero_points.scale[c] = -metadata.scale[c];
    }
    DequantiseBlock(zeros.data() + block * kBlockWords, 0, 1, zero_points,
                    kind_ == WeightKind::kContract, metadata.bias);
  }
}

void BlockDecoder::LoadRows(int first_row) {
  if (first_row / m_.group != group_) {
    LoadGroup(first_row / m_.group);
  }
  // Copying reads memory in one stretch, which is faster than fetching every row's share of a block
  // when it is needed.
  const auto row_words = static_cast<std::size_t>(m_.n / kWordColumns);
  const std::size_t padded_words = kBlockWords * metadata_.size();
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    std::copy_n(m_.qweight.data() + (static_cast<std::size_t>(first_row) + r) * row_words,
                row_words, words_.data() + r * padded_words);
  }
}

template <typename Scalar>
void BlockDecoder::Decode(int block, WeightBlock<Scalar>& out) const {
  const std::uint32_t* words = words_.data() + static_cast<std::ptrdiff_t>(block) * kBlockWords;
  const int stride = blocks() * kBlockWords;
  const BlockMetadata& metadata = metadata_[static_cast<std::size_t>(block)];
  const bool round = kind_ == WeightKind::kContract;
  if constexpr (std::is_same_v<Scalar, float>) {
    DequantiseBlock(words, stride, kBlockRows, metadata, round, out.data());
  } else {
    alignas(64) float decoded[kBlockRows * kBlockColumns];
    DequantiseBlock(words, stride, kBlockRows, metadata, round, decoded);
    out = Eigen::Map<const WeightBlock<float>>(decoded).template cast<Scalar>();
  }
}

template void BlockDecoder::Decode<float>(int, WeightBlock<float>&) const;
template void BlockDecoder::Decode<double>(int, WeightBlock<double>&) const;

}  // namespace voltcheck::reference
