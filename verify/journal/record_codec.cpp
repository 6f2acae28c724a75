#include "verify/journal/record_codec.h"

#include <zstd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

// Records are repetitive: the fastest level takes four fifths off them.
constexpr int kCompressionLevel = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of one record; nothing real comes near

// How many values an enumeration has: bytes from a file must not become one that does not exist.
template <typename E>
constexpr int kValues = 0;
template <>
constexpr int kValues<Verdict> = static_cast<int>(kVerdicts);
template <>
constexpr int kValues<Stage> = static_cast<int>(kStages.size());
template <>
constexpr int kValues<RoutingKind> = static_cast<int>(RoutingKind::kInvalid) + 1;
template <>
constexpr int kValues<Routing::Hole> = static_cast<int>(Routing::Hole::kMost) + 1;
template <>
constexpr int kValues<SlotLayout> = static_cast<int>(SlotLayout::kShuffled) + 1;
template <>
constexpr int kValues<Path> = static_cast<int>(Path::kIndexed) + 1;
template <>
constexpr int kValues<Metadata> = static_cast<int>(Metadata::k3Byte) + 1;
template <>
constexpr int kValues<Columns> = static_cast<int>(Columns::kHalves) + 1;
template <>
constexpr int kValues<Data> = static_cast<int>(Data::kFixture) + 1;
template <>
constexpr int kValues<Numerics> = static_cast<int>(Numerics::kSm90) + 1;
template <>
constexpr int kValues<StageSelection> = static_cast<int>(StageSelection::kOutput) + 1;

template <typename T, typename Plain>
concept Is = std::is_same_v<std::remove_const_t<T>, Plain>;

// The members of each structure that holds text, lists or enumerations; figures are copied as they
// lie in memory. A structured binding names all members, so one that is added to a structure does
// not compile until it is added here, and none is forgotten on the way to the file.
template <Is<Routing> T>
auto Members(T& x) {
  auto& [kind, exponent, expert, hole] = x;
  return std::tie(kind, exponent, expert, hole);
}
template <Is<Case> T>
auto Members(T& x) {
  auto& [shape, routing, layout, path, metadata, columns, w13, w2, data, numerics, stage, ep_rank,
         ep_ranks, fixture, fixture_hash, head, seed] = x;
  return std::tie(shape, routing, layout, path, metadata, columns, w13, w2, data, numerics, stage,
                  ep_rank, ep_ranks, fixture, fixture_hash, head, seed);
}
template <Is<kernels::Finding> T>
auto Members(T& x) {
  auto& [checker, kernel, message, file, line, source, block, thread, address] = x;
  return std::tie(checker, kernel, message, file, line, source, block, thread, address);
}
template <Is<kernels::DeviceDescription> T>
auto Members(T& x) {
  auto& [kind, name, driver, numerics, code, tables] = x;
  return std::tie(kind, name, driver, numerics, code, tables);
}
template <Is<StageProfile> T>
auto Members(T& x) {
  auto& [density, experts, tiles] = x;
  return std::tie(density, experts, tiles);
}
template <Is<StageRecord> T>
auto Members(T& x) {
  auto& [present, verdict, reason, own, posterior, end_to_end, reference, compared, differing, open,
         first, departure, exact, exact_differing, hidden, reference_over, worst, breakdown, hash,
         profile] = x;
  return std::tie(present, verdict, reason, own, posterior, end_to_end, reference, compared,
                  differing, open, first, departure, exact, exact_differing, hidden, reference_over,
                  worst, breakdown, hash, profile);
}
template <Is<FailureArrays> T>
auto Members(T& x) {
  auto& [stage, rows, cols, first_row, first_col, got, want, budget, logits] = x;
  return std::tie(stage, rows, cols, first_row, first_col, got, want, budget, logits);
}
template <Is<CaseRecord> T>
auto Members(T& x) {
  auto& [index, descriptor, c, active_experts, verdict, reason, reproduction, stages, logits,
         kernels, findings, failures, counters, device, seconds] = x;
  return std::tie(index, descriptor, c, active_experts, verdict, reason, reproduction, stages,
                  logits, kernels, findings, failures, counters, device, seconds);
}

template <typename T>
concept HasMembers = requires(T& x) {
  Members(x);
};
// Any bytes are a value: numbers, and structures of nothing but numbers.
template <typename T>
concept IsPlain = std::is_trivially_copyable_v<T> && !std::is_enum_v<T> && !HasMembers<T> &&
                  !std::is_same_v<T, bool>;

// Values as they lie in memory, counts before what varies in length.
class Packer {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      Add(static_cast<std::uint8_t>(value));
    } else if constexpr (IsPlain<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      std::apply([this](const auto&... members) { (Add(members), ...); }, Members(value));
    }
  }
  void Add(const std::string& text) {
    Add(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) {
      Add(value);
    }
  }
  template <typename T, std::size_t kCount>
  void Add(const std::array<T, kCount>& values) {
    for (const T& value : values) {
      Add(value);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Thrown by Unpacker; DecodeRecord makes the user's line of it.
struct NoRecord {};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  void Take(T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::uint8_t number = 0;
      Take(number);
      Require(number < kValues<T>);
      value = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t number = 0;
      Take(number);
      Require(number <= 1);
      value = number == 1;
    } else if constexpr (IsPlain<T>) {
      Require(rest_.size() >= sizeof(value));
      std::memcpy(&value, rest_.data(), sizeof(value));
      rest_.remove_prefix(sizeof(value));
    } else {
      std::apply([this](auto&... members) { (Take(members), ...); }, Members(value));
    }
  }
  void Take(std::string& text) {
    const std::size_t size = TakeCount();
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <typename T>
  void Take(std::vector<T>& values) {
    const std::size_t size = TakeCount();
    values.clear();
    for (std::size_t i = 0; i < size; ++i) {
      Take(values.emplace_back());
    }
  }
  template <typename T, std::size_t kCount>
  void Take(std::array<T, kCount>& values) {
    for (T& value : values) {
      Take(value);
    }
  }
  void RequireEnd() const { Require(rest_.empty()); }

 private:
  static void Require(bool holds) {
    if (!holds) {
      throw NoRecord();
    }
  }
  // Every element takes at least a byte.
  std::size_t TakeCount() {
    std::uint32_t count = 0;
    Take(count);
    Require(count <= rest_.size());
    return count;
  }

  std::string_view rest_;
};

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

std::string EncodeRecord(const CaseRecord& record) {
  Packer packer;
  packer.Add(record);
  const std::string& raw = packer.bytes();
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  // Making a context costs as much as compressing a record.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  const std::size_t size = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(),
                                             raw.data(), raw.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0) {
    throw std::bad_alloc();  // the buffer is large enough, so nothing else can be wrong
  }
  packed.resize(size);
  return packed;
}

CaseRecord DecodeRecord(const std::string& where, std::span<const std::byte> bytes) {
  try {
    const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kMostBytes) {
      throw NoRecord();
    }
    std::string raw(size, '\0');
    thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
    const std::size_t got =
        ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) != 0 || got != raw.size()) {
      throw NoRecord();
    }
    Unpacker unpacker(raw);
    CaseRecord record;
    unpacker.Take(record);
    unpacker.RequireEnd();
    return record;
  } catch (const NoRecord&) {
    throw BadInput(where, "holds a damaged record", "run the cases again");
  }
}

}  // namespace voltcheck::verify
