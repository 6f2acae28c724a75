#include "reference/all_reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/rounding.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;

// Adds the children of `rank` in NCCL's binary tree over `ranks`, each after its own children. Its
// root is rank 0; a rank whose lowest set bit is b has the children rank - b/2 and, at the end of
// the row the nearest that exists, rank + b/2.
void AddBinaryTree(int rank, int ranks, std::vector<std::pair<int, int>>& adds) {
  const int bit =
      rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) : rank & -rank;
  std::vector<int> children;
  int step = bit / 2;
  if (rank != 0 && step > 0) {
    children.push_back(rank - step);
  }
  while (step > 0 && rank + step >= ranks) {
    step /= 2;
  }
  if (step > 0) {
    children.push_back(rank + step);
  }
  for (const int child : children) {
    AddBinaryTree(child, ranks, adds);
  }
  for (const int child : children) {
    adds.emplace_back(rank, child);
  }
}

// The second tree is the first one mirrored for an even number of ranks, else shifted by one.
SumOrder DoubleTree(int ranks, bool second) {
  SumOrder order{second ? "tree, second half" : "tree, first half", {}, 0};
  AddBinaryTree(0, ranks, order.adds);
  if (second) {
    const auto other = [ranks](int r) { return ranks % 2 == 0 ? ranks - 1 - r : (r + 1) % ranks; };
    for (auto& [to, from] : order.adds) {
      to = other(to);
      from = other(from);
    }
    order.root = other(0);
  }
  return order;
}

SumOrder Ring(int ranks, int chunk) {
  SumOrder order{"ring, chunk " + std::to_string(chunk), {}, chunk};
  for (int i = 1; i < ranks; ++i) {
    order.adds.emplace_back((chunk + i + 1) % ranks, (chunk + i) % ranks);
  }
  return order;
}

SumOrder Chain(int ranks) {
  SumOrder order{"tree inside a node", {}, 0};
  for (int r = ranks - 1; r > 0; --r) {
    order.adds.emplace_back(r - 1, r);
  }
  return order;
}

SumOrder Halving(int ranks) {
  SumOrder order{"recursive halving", {}, 0};
  for (int half = ranks / 2; half > 0; half /= 2) {
    for (int r = 0; r < half; ++r) {
      order.adds.emplace_back(r, r + half);
    }
  }
  return order;
}

// The sum as text in which the two sides of an addition stand in a fixed order.
std::string Canonical(const SumOrder& order) {
  std::vector<std::string> text;
  for (const auto& [to, from] : order.adds) {
    const auto most = static_cast<std::size_t>(std::max(to, from)) + 1;
    for (std::size_t r = text.size(); r < most; ++r) {
      text.push_back("r" + std::to_string(r));
    }
    std::string& a = text[static_cast<std::size_t>(to)];
    std::string b = text[static_cast<std::size_t>(from)];
    if (b < a) {
      std::swap(a, b);
    }
    a = "(" + a + "+" + b + ")";
  }
  return text[static_cast<std::size_t>(order.root)];
}

// Columns [first, first + count) of packed words, and [second, second + count) behind them.
template <typename Word>
std::vector<Word> TakeColumns(const std::vector<Word>& words, int width, int first, int second,
                              int count) {
  std::vector<Word> out;
  for (std::size_t row = 0; row < words.size() / static_cast<std::size_t>(width); ++row) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(row) * width;
    out.insert(out.end(), begin + first, begin + first + count);
    out.insert(out.end(), begin + second, begin + second + count);
  }
  return out;
}

template <typename Word>
std::vector<Word> TakeRows(const std::vector<Word>& words, int width, int first, int count) {
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first) * width;
  return {begin, begin + static_cast<std::ptrdiff_t>(count) * width};
}

}  // namespace

std::string SumOrder::Text() const {
  std::vector<std::string> text;
  for (const auto& [to, from] : adds) {
    const auto most = static_cast<std::size_t>(std::max(to, from)) + 1;
    for (std::size_t r = text.size(); r < most; ++r) {
      text.push_back("r" + std::to_string(r));
    }
    std::string& sum = text[static_cast<std::size_t>(to)];
    // The longer side first: what came before.
    const std::string& other = text[static_cast<std::size_t>(from)];
    sum = other.size() > sum.size() ? "(" + other + "+" + sum + ")" : "(" + sum + "+" + other + ")";
  }
  const std::string& whole = text[static_cast<std::size_t>(root)];
  return whole.substr(1, whole.size() - 2);
}

std::vector<SumOrder> AllReduceOrders(int ranks) {
  if (ranks < 2) {
    throw BadInput("ranks", "cannot be " + std::to_string(ranks), "give two or more");
  }
  std::vector<SumOrder> all;
  for (int chunk = 0; chunk < ranks; ++chunk) {
    all.push_back(Ring(ranks, chunk));
  }
  all.push_back(Chain(ranks));
  all.push_back(DoubleTree(ranks, false));
  all.push_back(DoubleTree(ranks, true));
  if (std::has_single_bit(static_cast<unsigned>(ranks))) {
    all.push_back(Halving(ranks));
  }
  std::vector<SumOrder> orders;
  for (SumOrder& order : all) {
    const std::string key = Canonical(order);
    const auto same = std::find_if(orders.begin(), orders.end(),
                                   [&](const SumOrder& o) { return Canonical(o) == key; });
    if (same == orders.end()) {
      orders.push_back(std::move(order));
    } else {
      same->name += "; " + order.name;
    }
  }
  return orders;
}

std::vector<float> SumRanks(const SumOrder& order, std::span<const std::span<const float>> values,
                            SumType type) {
  std::vector<std::vector<float>> sums;
  for (const std::span<const float> rank : values) {
    sums.emplace_back(rank.begin(), rank.end());
    if (type == SumType::kHalf) {
      std::transform(sums.back().begin(), sums.back().end(), sums.back().begin(),
                     [](float x) { return RoundToHalf(x); });
    }
  }
  for (const auto& [to, from] : order.adds) {
    std::vector<float>& a = sums[static_cast<std::size_t>(to)];
    const std::vector<float>& b = sums[static_cast<std::size_t>(from)];
    for (std::size_t i = 0; i < a.size(); ++i) {
      // The fp32 sum of two halves, rounded to half, is their half sum: fp32 has more than twice
      // the digits of half.
      const float sum = a[i] + b[i];
      a[i] = type == SumType::kHalf ? RoundToHalf(sum) : sum;
    }
  }
  return sums[static_cast<std::size_t>(order.root)];
}

OrderSpread SpreadOfOrders(std::span<const std::span<const float>> values, SumType type) {
  OrderSpread spread;
  spread.elements = values.front().size();
  std::vector<std::vector<float>> sums;
  for (const SumOrder& order : AllReduceOrders(static_cast<int>(values.size()))) {
    spread.orders.push_back({order, 0, 0});
    sums.push_back(SumRanks(order, values, type));
  }
  double squares = 0;
  for (std::size_t i = 0; i < spread.elements; ++i) {
    double exact = 0;
    for (const std::span<const float> rank : values) {
      exact += static_cast<double>(rank[i]);
    }
    double low = static_cast<double>(sums[0][i]);
    double high = low;
    bool finite = std::isfinite(exact);
    for (const std::vector<float>& sum : sums) {
      const auto x = static_cast<double>(sum[i]);
      finite = finite && std::isfinite(x);
      low = std::min(low, x);
      high = std::max(high, x);
    }
    if (!finite) {
      ++spread.nonfinite;
      continue;
    }
    for (std::size_t o = 0; o < sums.size(); ++o) {
      const double error = std::abs(static_cast<double>(sums[o][i]) - exact);
      spread.orders[o].max_error = std::max(spread.orders[o].max_error, error);
      spread.orders[o].rms_error += error * error;
    }
    const double distance = high - low;
    spread.differing += distance > 0 ? 1 : 0;
    squares += distance * distance;
    if (distance > spread.max || spread.max_element < 0) {
      spread.max = distance;
      spread.max_element = static_cast<std::int64_t>(i);
    }
  }
  const auto finite = static_cast<double>(spread.elements - spread.nonfinite);
  if (finite > 0) {
    spread.rms = std::sqrt(squares / finite);
    for (OrderSpread::Order& order : spread.orders) {
      order.rms_error = std::sqrt(order.rms_error / finite);
    }
  }
  return spread;
}

Problem ShardOf(const Problem& problem, int rank, int ranks) {
  const Shape& whole = problem.c.shape;
  const int own = whole.intermediate / ranks;
  constexpr int kWordColumns = 8;
  if (whole.intermediate % ranks != 0 || own % kWordColumns != 0 || own % whole.group != 0) {
    throw BadInput("i=" + std::to_string(whole.intermediate),
                   "does not split over " + std::to_string(ranks) + " ranks in whole groups of " +
                       std::to_string(whole.group),
                   "choose an intermediate size that is a multiple of ranks x group");
  }
  Problem shard = problem;
  shard.head = nullptr;
  shard.captured = nullptr;
  shard.c.shape.intermediate = own;
  const int first = rank * own;
  for (std::shared_ptr<const ExpertWeights>& expert : shard.experts) {
    ExpertWeights part;
    part.id = expert->id;
    const AwqMatrix& w13 = expert->w13;
    const int words = own / kWordColumns;
    const auto columns = [&](const std::vector<std::uint32_t>& packed) {
      return TakeColumns(packed, w13.n / kWordColumns, first / kWordColumns,
                         (whole.intermediate + first) / kWordColumns, words);
    };
    part.w13 = {w13.k,
                2 * own,
                w13.group,
                columns(w13.qweight),
                columns(w13.qzeros),
                TakeColumns(w13.scales, w13.n, first, whole.intermediate + first, own)};
    const AwqMatrix& w2 = expert->w2;
    part.w2 = {own,
               w2.n,
               w2.group,
               TakeRows(w2.qweight, w2.n / kWordColumns, first, own),
               TakeRows(w2.qzeros, w2.n / kWordColumns, first / w2.group, own / w2.group),
               TakeRows(w2.scales, w2.n, first / w2.group, own / w2.group)};
    expert = std::make_shared<const ExpertWeights>(std::move(part));
  }
  return shard;
}

}  // namespace voltcheck::reference
