#include "kernels/simulator/program/register_rows.h"

#include <algorithm>
#include <queue>

#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

bool IsFrame(Ref ref) { return BaseOf(ref) == RowBase::kFrame; }
std::uint32_t NumberOf(Ref ref) { return ref >> 2; }

/// Calls read(number) for what the instruction reads, then write(number, certain) for what it
/// writes. `certain` is false under a guard, where the old value may survive.
template <typename Read, typename Write>
void VisitRegisters(const Program& program, std::uint32_t pc, const OperandShape& shape,
                    const Read& read, const Write& write) {
  const Instr& instr = program.code[pc];
  const bool certain = instr.guard == kTrue;
  if (IsFrame(instr.guard)) {
    read(NumberOf(instr.guard));
  }
  for (std::uint32_t i = shape.destinations; i < shape.total; ++i) {
    if (IsFrame(instr.op[i])) {
      read(NumberOf(instr.op[i]));
    }
  }
  const Ref* pool = program.pool.data() + shape.pool_begin;
  for (std::uint32_t i = shape.pool_destinations; i < shape.pool_total; ++i) {
    if (IsFrame(pool[i])) {
      read(NumberOf(pool[i]));
    }
  }
  for (std::uint32_t i = 0; i < shape.destinations; ++i) {
    if (IsFrame(instr.op[i])) {
      write(NumberOf(instr.op[i]), certain);
    }
  }
  for (std::uint32_t i = 0; i < shape.pool_destinations; ++i) {
    if (IsFrame(pool[i])) {
      write(NumberOf(pool[i]), certain);
    }
  }
}

class BitSet {
 public:
  explicit BitSet(std::size_t bits) : words_((bits + 63) / 64) {}
  void Set(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool Has(std::uint32_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  /// this |= (other & ~without); true when something was added.
  bool Merge(const BitSet& other, const BitSet* without) {
    std::uint64_t added = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const std::uint64_t bits =
          other.words_[w] & ~(without == nullptr ? 0 : without->words_[w]) & ~words_[w];
      words_[w] |= bits;
      added |= bits;
    }
    return added != 0;
  }
  template <typename F>
  void ForEach(const F& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// First and last pc at which a register holds a value that may still be read.
struct Interval {
  std::uint32_t number = 0;
  std::uint32_t begin = kNone;
  std::uint32_t end = 0;
  void Include(std::uint32_t pc) {
    begin = std::min(begin, pc);
    end = std::max(end, pc);
  }
};

std::vector<Interval> LiveIntervals(const Program& program, const FlowGraph& graph,
                                    const std::vector<OperandShape>& shapes,
                                    std::size_t registers) {
  const std::size_t count = graph.blocks.size();
  std::vector<BitSet> reads(count, BitSet(registers));   // before any certain write in the block
  std::vector<BitSet> writes(count, BitSet(registers));  // certainly
  std::vector<Interval> intervals(registers);
  for (std::uint32_t b = 0; b < count; ++b) {
    for (std::uint32_t pc = graph.blocks[b].begin; pc < graph.blocks[b].end; ++pc) {
      VisitRegisters(
          program, pc, shapes[pc - graph.first_pc],
          [&](std::uint32_t number) {
            intervals[number].Include(pc);
            if (!writes[b].Has(number)) {
              reads[b].Set(number);
            }
          },
          [&](std::uint32_t number, bool certain) {
            intervals[number].Include(pc);
            if (certain) {
              writes[b].Set(number);
            }
          });
    }
  }
  std::vector<BitSet>& live_in = reads;
  std::vector<BitSet> live_out(count, BitSet(registers));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = count; b-- > 0;) {
      for (const std::uint32_t s : graph.blocks[b].successors) {
        live_out[b].Merge(live_in[s], nullptr);
      }
      changed |= live_in[b].Merge(live_out[b], &writes[b]);
    }
  }
  for (std::size_t b = 0; b < count; ++b) {
    live_in[b].ForEach([&](std::uint32_t n) { intervals[n].Include(graph.blocks[b].begin); });
    live_out[b].ForEach([&](std::uint32_t n) { intervals[n].Include(graph.blocks[b].end - 1); });
  }
  for (std::uint32_t n = 0; n < registers; ++n) {
    intervals[n].number = n;
  }
  return intervals;
}

}  // namespace

RowAssignment AssignRows(const Program& program, const FlowGraph& graph,
                         const std::vector<OperandShape>& shapes,
                         const std::vector<RowClass>& classes) {
  RowAssignment rows;
  rows.row.assign(classes.size(), kNone);
  std::vector<Interval> intervals = LiveIntervals(program, graph, shapes, classes.size());
  std::erase_if(intervals, [](const Interval& i) { return i.begin == kNone; });
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  struct Busy {
    std::uint32_t end;
    std::uint32_t row;
    bool operator>(const Busy& other) const {
      return end != other.end ? end > other.end : row > other.row;
    }
  };
  using Heap = std::priority_queue<Busy, std::vector<Busy>, std::greater<>>;
  using FreeRows = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  std::array<Heap, kRowClasses> busy;
  std::array<FreeRows, kRowClasses> free_rows;
  for (const Interval& interval : intervals) {
    const auto c = static_cast<std::size_t>(classes[interval.number]);
    while (!busy[c].empty() && busy[c].top().end < interval.begin) {
      free_rows[c].push(busy[c].top().row);
      busy[c].pop();
    }
    std::uint32_t row = 0;
    if (free_rows[c].empty()) {
      row = rows.counts[c]++;
    } else {
      row = free_rows[c].top();
      free_rows[c].pop();
    }
    rows.row[interval.number] = row;
    busy[c].push({interval.end, row});
  }
  return rows;
}

FrameLayout LayOutFrame(const RowCounts& counts) {
  FrameLayout layout;
  layout.begin[static_cast<std::size_t>(RowClass::k64)] = 0;
  layout.begin[static_cast<std::size_t>(RowClass::k32)] = counts[0] * kRow64Bytes;
  layout.begin[static_cast<std::size_t>(RowClass::kPredicate)] =
      counts[0] * kRow64Bytes + counts[1] * kRow32Bytes;
  const std::uint32_t end =
      layout.begin[static_cast<std::size_t>(RowClass::kPredicate)] + counts[2] * 4;
  layout.bytes = (end + 63) / 64 * 64;
  return layout;
}

Ref RewriteRef(Ref ref, const std::vector<RowClass>& classes, const RowAssignment& rows,
               const FrameLayout& layout) {
  if (!IsFrame(ref)) {
    return ref;
  }
  const std::uint32_t number = NumberOf(ref);
  if (rows.row[number] == kNone) {
    return kNone;
  }
  constexpr std::uint32_t kRowBytes[kRowClasses] = {kRow64Bytes, kRow32Bytes, 4};
  const auto c = static_cast<std::size_t>(classes[number]);
  return MakeRef(RowBase::kFrame, layout.begin[c] + rows.row[number] * kRowBytes[c]);
}

void RewriteRefs(Program& program, const FlowGraph& graph, const std::vector<OperandShape>& shapes,
                 const std::vector<RowClass>& classes, const RowAssignment& rows,
                 const FrameLayout& layout) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Instr& instr = program.code[graph.first_pc + i];
    instr.guard = RewriteRef(instr.guard, classes, rows, layout);
    for (std::uint32_t o = 0; o < shapes[i].total; ++o) {
      instr.op[o] = RewriteRef(instr.op[o], classes, rows, layout);
    }
    for (std::uint32_t o = 0; o < shapes[i].pool_total; ++o) {
      Ref& ref = program.pool[shapes[i].pool_begin + o];
      ref = RewriteRef(ref, classes, rows, layout);
    }
  }
}

}  // namespace voltcheck::simulator
