// wmma on m16n16k16, m8n32k16 and m32n8k16 halves.
//
// PTX leaves open which lane holds which element, so a kernel cannot depend on it. Here a lane's A
// fragment is one row (lane mod M) with its 16 values of k, its B fragment one column (lane mod N),
// and its C and D fragment the eight elements 8 * lane .. of the row-major tile. Loads and stores
// become ordinary ones.
#include <algorithm>

#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/rows.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

struct WmmaShape {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
};

WmmaShape FindShape(const FunctionLowering& lowering) {
  if (lowering.Has("m16n16k16")) {
    return {16, 16};
  }
  if (lowering.Has("m8n32k16")) {
    return {8, 32};
  }
  if (lowering.Has("m32n8k16")) {
    return {32, 8};
  }
  lowering.FailUnknown();
}

Space FindSpace(const FunctionLowering& lowering) {
  if (lowering.Has("shared") || lowering.Has("shared::cta")) {
    return Space::kShared;
  }
  return lowering.Has("global") ? Space::kGlobal : Space::kGeneric;
}

std::vector<Ref> Fragment(FunctionLowering& lowering, std::size_t index, std::size_t registers,
                          bool destination) {
  const ptx::Operand& operand = lowering.operand(index);
  if (operand.kind != Kind::kVector || operand.elements.size() != registers) {
    lowering.Fail("needs " + std::to_string(registers) + " registers in operand " +
                  std::to_string(index + 1));
  }
  std::vector<Ref> refs;
  for (const ptx::Operand& element : operand.elements) {
    refs.push_back(destination ? lowering.Destination(element, 'w')
                               : lowering.Source(element, 'w'));
  }
  return refs;
}

/// Computes addresses in 64-bit rows.
class AddressMath {
 public:
  explicit AddressMath(FunctionLowering& lowering) : lowering_(lowering) {}
  Ref Combine(const char* key, Ref a, Ref b) {
    const Ref result = lowering_.Temporary('x');
    lowering_.Emit(key, {result}, {a, b});
    return result;
  }
  Ref Widen(Ref a) {
    const Ref result = lowering_.Temporary('x');
    lowering_.Emit("cvt.u64.u32", {result}, {a});
    return result;
  }
  Ref Number(std::uint64_t value) { return lowering_.Constant(value, 'x'); }

 private:
  FunctionLowering& lowering_;
};

/// One ordinary load or store of `count` elements of `bytes` each.
void EmitAccess(FunctionLowering& lowering, bool write, Space space, std::uint8_t bytes,
                const std::vector<Ref>& data, std::uint8_t register_bits, Ref address,
                std::int64_t offset) {
  MemorySite site;
  site.space = space;
  site.bytes = bytes;
  site.vector = static_cast<std::uint8_t>(data.size());
  site.register_bits = register_bits;
  site.write = write;
  Program& program = lowering.program();
  std::vector<Ref> sources = {address};
  if (write) {
    sources.insert(sources.end(), data.begin(), data.end());
  }
  Instr& instr = lowering.Emit(*OpRegistry::Get().Find(write ? "@store" : "@load"),
                               write ? std::vector<Ref>{} : data, sources);
  instr.imm = offset;
  instr.aux = static_cast<std::uint32_t>(program.memory.size());
  program.memory.push_back(site);
  program.visible.back() = 1;
}

void Synchronise(FunctionLowering& lowering) {
  lowering.Emit("@fence", {}, {}).imm = 1;
  lowering.MakeControl(ControlKind::kSync).aligned = true;
}

/// The fragment's place in memory: `rows` run along the leading dimension or across it.
struct Place {
  Ref base = kTrue;       ///< 64-bit address of the lane's first element
  Ref step = kTrue;       ///< bytes from one element of the lane to the next
  bool together = false;  ///< the lane's elements lie side by side
};

Place FindPlace(FunctionLowering& lowering, std::size_t address_operand, std::size_t stride_operand,
                std::uint64_t default_stride, std::uint64_t bytes, Ref major_index, Ref minor_index,
                bool together, std::int64_t& offset) {
  AddressMath math(lowering);
  const AddressOperand address = lowering.Address(lowering.operand(address_operand));
  offset = address.offset;
  const Ref base = address.wide ? address.row : math.Widen(address.row);
  const Ref stride = lowering.operand_count() > stride_operand
                         ? math.Widen(lowering.Source(lowering.operand(stride_operand), 'w'))
                         : math.Number(default_stride);
  const Ref stride_bytes = math.Combine("mul.lo.u64", stride, math.Number(bytes));
  // Address = base + major * stride + minor, where "together" elements continue along minor.
  const Ref major = math.Combine("mul.lo.u64", major_index, stride_bytes);
  const Ref minor = math.Combine("mul.lo.u64", minor_index, math.Number(bytes));
  Place place;
  place.base = math.Combine("add.u64", math.Combine("add.u64", base, major), minor);
  place.step = stride_bytes;
  place.together = together;
  return place;
}

Ref LaneModulo(FunctionLowering& lowering, std::uint32_t n) {
  AddressMath math(lowering);
  const Ref lane = math.Widen(RowRef(WarpRow::kLaneid));
  return math.Combine("and.b64", lane, math.Number(n - 1));
}

void LoadOperand(FunctionLowering& lowering, const WmmaShape& shape, bool is_a, bool row_major) {
  const std::vector<Ref> data = Fragment(lowering, 0, 8, true);
  const Space space = FindSpace(lowering);
  Synchronise(lowering);
  AddressMath math(lowering);
  const Ref own = LaneModulo(lowering, is_a ? shape.m : shape.n);
  const Ref zero = math.Number(0);
  const bool together = is_a == row_major;  // k runs along the leading dimension
  const std::uint64_t other = is_a ? shape.m : shape.n;
  std::int64_t offset = 0;
  const Place place = FindPlace(lowering, 1, 2, together ? 16 : other, 2, together ? own : zero,
                                together ? zero : own, together, offset);
  if (together) {
    EmitAccess(lowering, false, space, 4, {data.begin(), data.begin() + 4}, 32, place.base, offset);
    EmitAccess(lowering, false, space, 4, {data.begin() + 4, data.end()}, 32, place.base,
               offset + 16);
    return;
  }
  Ref address = place.base;
  for (std::size_t i = 0; i < 8; ++i) {
    const Ref halves[2] = {lowering.Temporary('h'), lowering.Temporary('h')};
    for (const Ref half : halves) {
      EmitAccess(lowering, false, space, 2, {half}, 16, address, offset);
      address = math.Combine("add.u64", address, place.step);
    }
    lowering.Emit("@pack.2x16", {data[i]}, {halves[0], halves[1]});
  }
}

/// C or D: eight neighbouring elements of a row.
void MoveAccumulator(FunctionLowering& lowering, const WmmaShape& shape, bool write, bool half,
                     bool row_major) {
  const std::size_t data_operand = write ? 1 : 0;
  const std::vector<Ref> data = Fragment(lowering, data_operand, half ? 4 : 8, !write);
  const Space space = FindSpace(lowering);
  Synchronise(lowering);
  AddressMath math(lowering);
  const Ref lane = math.Widen(RowRef(WarpRow::kLaneid));
  const Ref first = math.Combine("mul.lo.u64", lane, math.Number(8));
  const Ref column = math.Combine("and.b64", first, math.Number(shape.n - 1));
  const Ref row = math.Combine("div.u64", first, math.Number(shape.n));
  const std::uint64_t bytes = half ? 2 : 4;
  std::int64_t offset = 0;
  const Place place =
      FindPlace(lowering, write ? 0 : 1, 2, row_major ? shape.n : shape.m, bytes,
                row_major ? row : column, row_major ? column : row, row_major, offset);
  if (row_major) {
    for (std::size_t i = 0; i < data.size(); i += 4) {
      const auto begin = data.begin() + static_cast<std::ptrdiff_t>(i);
      EmitAccess(lowering, write, space, 4, {begin, begin + 4}, 32, place.base,
                 offset + static_cast<std::int64_t>(4 * i));
    }
    return;
  }
  Ref address = place.base;
  const auto next = [&] { address = math.Combine("add.u64", address, place.step); };
  for (const Ref ref : data) {
    if (!half) {
      EmitAccess(lowering, write, space, 4, {ref}, 32, address, offset);
      next();
      continue;
    }
    const Ref low = lowering.Temporary('h');
    const Ref high = lowering.Temporary('h');
    if (write) {
      lowering.Emit("@unpack.2x16", {low, high}, {ref});
    }
    EmitAccess(lowering, write, space, 2, {low}, 16, address, offset);
    next();
    EmitAccess(lowering, write, space, 2, {high}, 16, address, offset);
    next();
    if (!write) {
      lowering.Emit("@pack.2x16", {ref}, {low, high});
    }
  }
}

void MultiplyTiles(FunctionLowering& lowering, const WmmaShape& shape) {
  // wmma.mma.sync.aligned.<a layout>.<b layout>.<shape>.<d type>.<c type>{.satfinite}
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() != 8 || (modifiers[6] != "f16" && modifiers[6] != "f32") ||
      (modifiers[7] != "f16" && modifiers[7] != "f32")) {
    lowering.FailUnknown();
  }
  lowering.ExpectOperands(4, 4);
  const bool d_half = modifiers[6] == "f16";
  const bool c_half = modifiers[7] == "f16";
  std::vector<Ref> sources = Fragment(lowering, 1, 8, false);
  const std::vector<Ref> b = Fragment(lowering, 2, 8, false);
  const std::vector<Ref> c = Fragment(lowering, 3, c_half ? 4 : 8, false);
  sources.insert(sources.end(), b.begin(), b.end());
  sources.insert(sources.end(), c.begin(), c.end());
  const std::vector<Ref> d = Fragment(lowering, 0, d_half ? 4 : 8, true);
  Instr& instr = lowering.EmitPooled("@wmma." + modifiers[6] + "." + modifiers[7], d, sources);
  instr.imm = shape.n;
  lowering.MakeControl(ControlKind::kSync).aligned = true;
}

}  // namespace

void DecodeWmma(FunctionLowering& lowering) {
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.empty() || !lowering.Has("sync") || !lowering.Has("aligned") ||
      lowering.Has("satfinite")) {
    lowering.FailUnknown();
  }
  const WmmaShape shape = FindShape(lowering);
  if (modifiers[0] == "mma") {
    MultiplyTiles(lowering, shape);
    return;
  }
  const bool row_major = lowering.Has("row");
  const std::string& type = modifiers.back();
  if (row_major == lowering.Has("col") || (type != "f16" && type != "f32")) {
    lowering.FailUnknown();
  }
  lowering.ExpectOperands(2, 3);
  if (modifiers[0] == "store" && lowering.Has("d")) {
    MoveAccumulator(lowering, shape, true, type == "f16", row_major);
  } else if (modifiers[0] == "load" && lowering.Has("c")) {
    MoveAccumulator(lowering, shape, false, type == "f16", row_major);
  } else if (modifiers[0] == "load" && type == "f16" && (lowering.Has("a") || lowering.Has("b"))) {
    LoadOperand(lowering, shape, lowering.Has("a"), row_major);
  } else {
    lowering.FailUnknown();
  }
}

}  // namespace voltcheck::simulator
