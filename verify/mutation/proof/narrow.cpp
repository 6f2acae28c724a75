#include "verify/mutation/proof/narrow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/simulator/simulator.h"
#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

constexpr unsigned kMostBits = 18;       // of all inputs together
constexpr unsigned kMostLeafBits = 16;   // of one
constexpr std::size_t kMostSteps = 400;  // instructions looked at behind the changed one
constexpr std::size_t kMostSlice = 64;   // instructions that are run
constexpr std::uint32_t kThreads = 128;

// A register that the slice begins at, and what it can hold.
struct Input {
  std::string name;
  std::uint64_t fixed = 0;
  std::vector<unsigned> free;  // bit numbers
};

struct Slice {
  std::set<std::uint32_t> nodes;
  std::vector<Input> inputs;
  unsigned bits = 0;
};

bool IsPlain(const ptx::Instruction& i) {
  static const std::set<std::string, std::less<>> kOpcodes{
      "abs",  "add", "and", "bfe", "bfi", "cvt", "div",  "ex2",  "fma",  "lop3", "mad",
      "max",  "min", "mov", "mul", "neg", "not", "or",   "prmt", "rcp",  "rem",  "selp",
      "setp", "shf", "shl", "shr", "sub", "xor", "sqrt", "lg2",  "popc", "clz"};
  return kOpcodes.contains(i.opcode) && i.guard.empty();
}

bool NamesSpecial(const ptx::Operand& operand) {
  return (operand.kind == ptx::Operand::Kind::kSymbol &&
          operand.name.find('.') != std::string::npos && operand.name.starts_with("%")) ||
         std::any_of(operand.elements.begin(), operand.elements.end(), NamesSpecial);
}

class Search {
 public:
  Search(const KernelText& kernel, const Flow& flow, Formulas& formulas, std::uint32_t node)
      : kernel_(kernel), flow_(flow), formulas_(formulas), node_(node) {}

  std::string Run(const std::string& instead) {
    const std::vector<std::string> sets = flow_.Sets(node_);
    if (sets.size() != 1 || !IsPlain(flow_.at(node_))) {
      return {};
    }
    changed_.insert(sets.front());
    for (std::uint32_t n = node_; n < flow_.exit() && n < node_ + kMostSteps; ++n) {
      if (n > node_ && (kernel_.IsLabelled(n) || IsBranch(flow_.at(n)))) {
        break;
      }
      if (n > node_ && !Spread(n)) {
        continue;
      }
      if (const auto only = OnlyOneLeft(n)) {
        const std::string seen = Try(*only, instead);
        if (!seen.empty()) {
          return seen;
        }
      }
      if (stuck_) {
        break;
      }
    }
    return {};
  }

 private:
  // Whether the instruction reads what has changed; then its result has changed, too.
  bool Spread(std::uint32_t n) {
    const std::vector<std::string> reads = flow_.Reads(n);
    const bool reached = std::any_of(
        reads.begin(), reads.end(), [&](const std::string& reg) { return changed_.contains(reg); });
    if (reached) {
      const std::vector<std::string> sets = flow_.Sets(n);
      stuck_ = stuck_ || !IsPlain(flow_.at(n)) || sets.empty();
      changed_.insert(sets.begin(), sets.end());
      spread_.insert(n);
    }
    return reached;
  }

  // The changed register that alone is read behind `n`, if it is one.
  std::optional<std::string> OnlyOneLeft(std::uint32_t n) const {
    std::optional<std::string> only;
    for (const std::string& reg : changed_) {
      if (flow_.SetsOf(reg).size() != 1) {
        return std::nullopt;
      }
      const auto& reads = flow_.ReadsOf(reg);
      const bool left = std::any_of(reads.begin(), reads.end(), [&](std::uint32_t read) {
        return read > n || !(spread_.contains(read) || read == node_);
      });
      if (left && only) {
        return std::nullopt;
      }
      if (left) {
        only = reg;
      }
    }
    return only;
  }

  std::string Try(const std::string& result, const std::string& instead) {
    Slice slice;
    if (!Collect(result, Flow::kNone, slice) || !slice.nodes.contains(node_)) {
      return {};
    }
    const auto ours = Compute(slice, result, kernel_.View(kernel_.Statement(node_)));
    const auto theirs = Compute(slice, result, instead);
    if (!ours || !theirs || *ours != *theirs) {
      return {};
    }
    std::string names;
    for (const Input& input : slice.inputs) {
      names += input.free.empty() ? "" : (names.empty() ? "" : ", ") + input.name;
    }
    return "gives the same " + result + " for all " + std::to_string(std::size_t{1} << slice.bits) +
           " values of " + (names.empty() ? "its inputs" : names);
  }

  // Everything that `reg` is made of, back to registers that hold few values.
  bool Collect(const std::string& reg, std::uint32_t use, Slice& slice) {
    const bool seen = std::any_of(slice.inputs.begin(), slice.inputs.end(),
                                  [&](const Input& input) { return input.name == reg; });
    if (seen) {
      return true;
    }
    const auto& sets = flow_.SetsOf(reg);
    const bool single = sets.size() == 1 && (use == Flow::kNone || flow_.Dominates(sets[0], use));
    const bool plain = single && IsPlain(flow_.at(sets[0])) &&
                       std::none_of(flow_.at(sets[0]).operands.begin(),
                                    flow_.at(sets[0]).operands.end(), NamesSpecial);
    if (single && slice.nodes.contains(sets[0])) {
      return true;
    }
    if (!changed_.contains(reg)) {
      Input input{reg, 0, {}};
      if (FreeBits(input) && slice.bits + input.free.size() <= kMostBits) {
        slice.bits += static_cast<unsigned>(input.free.size());
        slice.inputs.push_back(std::move(input));
        return true;
      }
    }
    if (!plain || slice.nodes.size() >= kMostSlice) {
      return false;
    }
    slice.nodes.insert(sets[0]);
    const std::vector<std::string> reads = flow_.Reads(sets[0]);
    return std::all_of(reads.begin(), reads.end(),
                       [&](const std::string& read) { return Collect(read, sets[0], slice); });
  }

  // Which bits of an input may be either; false for more than kMostLeafBits. A bit that is seen to
  // be constant by rewriting alone is left out; any other is tried both ways.
  bool FreeBits(Input& input) {
    const ptx::Type type = flow_.TypeOf(input.name);
    const unsigned bits = BitsOf(type);
    if (type == ptx::Type::kPred || type == ptx::Type::kF32 || type == ptx::Type::kF64) {
      return false;
    }
    const z3::expr value = formulas_.Register(input.name, node_);
    for (unsigned bit = 0; bit < bits; ++bit) {
      const z3::expr one = value.extract(bit, bit).simplify();
      if (one.is_numeral() && flow_.SetsOf(input.name).size() == 1) {
        input.fixed |= one.get_numeral_uint64() << bit;
        continue;
      }
      input.free.push_back(bit);
      if (input.free.size() > kMostLeafBits) {
        return false;
      }
    }
    return true;
  }

  // The result for every value of the inputs, with `changed` as the text at the changed place;
  // nothing when the simulator does not take the program.
  std::optional<std::vector<std::uint64_t>> Compute(const Slice& slice, const std::string& result,
                                                    std::string_view changed) const;

  const KernelText& kernel_;
  const Flow& flow_;
  Formulas& formulas_;
  std::uint32_t node_;
  std::set<std::string> changed_;
  std::set<std::uint32_t> spread_;
  bool stuck_ = false;
};

std::string TypeName(ptx::Type type) {
  switch (type) {
    case ptx::Type::kPred:
      return "pred";
    case ptx::Type::kF32:
      return "f32";
    case ptx::Type::kF64:
      return "f64";
    default:
      return "b" + std::to_string(BitsOf(type));
  }
}

// `to`, of type `type`, from the 64-bit register `from`.
std::string FromWide(const std::string& to, ptx::Type type, const std::string& from) {
  const unsigned bits = BitsOf(type);
  return bits == 64 ? "mov.b64 " + to + ", " + from + ";\n"
                    : "cvt.u" + std::to_string(bits) + ".u64 " + to + ", " + from + ";\n";
}

std::optional<std::vector<std::uint64_t>> Search::Compute(const Slice& slice,
                                                          const std::string& result,
                                                          std::string_view changed) const {
  std::map<std::string, ptx::Type> registers{{result, flow_.TypeOf(result)}};
  std::string load, body;
  for (std::size_t k = 0; k < slice.inputs.size(); ++k) {
    const std::string& name = slice.inputs[k].name;
    registers[name] = flow_.TypeOf(name);
    load += "ld.global.u64 %vc_w, [%vc_in+" + std::to_string(8 * k) + "];\n" +
            FromWide(name, flow_.TypeOf(name), "%vc_w");
  }
  for (const std::uint32_t n : slice.nodes) {
    for (const std::string& reg : flow_.Sets(n)) {
      registers[reg] = flow_.TypeOf(reg);
    }
    body += n == node_ ? std::string(changed) : std::string(kernel_.View(kernel_.Statement(n)));
    body += "\n";
  }
  std::string declared;
  for (const auto& [name, type] : registers) {
    declared += ".reg ." + TypeName(type) + " " + name + ";\n";
  }
  const ptx::Type type = flow_.TypeOf(result);
  std::string store = "mov.u64 %vc_w, 0;\n";
  if (type == ptx::Type::kPred) {
    store += "selp.u64 %vc_w, 1, 0, " + result + ";\n";
  } else if (type == ptx::Type::kF32) {
    store += "mov.b32 %vc_n, " + result + ";\ncvt.u64.u32 %vc_w, %vc_n;\n";
  } else if (BitsOf(type) == 64) {
    store += "mov.b64 %vc_w, " + result + ";\n";
  } else {
    store += "cvt.u64.u" + std::to_string(BitsOf(type)) + " %vc_w, " + result + ";\n";
  }
  const std::size_t count = std::size_t{1} << slice.bits;
  const std::size_t width = std::max<std::size_t>(1, slice.inputs.size());
  const std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry narrow(.param .u64 in, .param .u64 out, .param .u32 count) {\n"
      ".reg .b32 %vc_i, %vc_c, %vc_t, %vc_n; .reg .b64 %vc_in, %vc_out, %vc_w; .reg .pred "
      "%vc_p;\n" +
      declared +
      "mov.u32 %vc_i, %ctaid.x;\nmov.u32 %vc_c, %ntid.x;\nmov.u32 %vc_t, %tid.x;\n"
      "mad.lo.u32 %vc_i, %vc_i, %vc_c, %vc_t;\nld.param.u32 %vc_n, [count];\n"
      "setp.ge.u32 %vc_p, %vc_i, %vc_n;\n@%vc_p bra done;\n"
      "ld.param.u64 %vc_in, [in];\nmul.wide.u32 %vc_w, %vc_i, " +
      std::to_string(8 * width) +
      ";\n"
      "add.s64 %vc_in, %vc_in, %vc_w;\nld.param.u64 %vc_out, [out];\n"
      "mul.wide.u32 %vc_w, %vc_i, 8;\nadd.s64 %vc_out, %vc_out, %vc_w;\n" +
      load + body + store + "st.global.u64 [%vc_out], %vc_w;\ndone:\nret;\n}\n";
  std::vector<std::uint64_t> in(count * width, 0), out(count, 0);
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t left = n;
    for (std::size_t k = 0; k < slice.inputs.size(); ++k) {
      std::uint64_t value = slice.inputs[k].fixed;
      for (const unsigned bit : slice.inputs[k].free) {
        value |= std::uint64_t{left & 1U} << bit;
        left >>= 1;
      }
      in[n * width + k] = value;
    }
  }
  try {
    simulator::Options options;
    options.jobs = 1;
    const auto device = simulator::MakeSimulator(options);
    const auto kernel = device->FindKernel(device->LoadModule({"narrow.ptx", text, {}}), "narrow");
    const auto from = device->Allocate(in.size() * 8, "in");
    const auto to = device->Allocate(out.size() * 8, "out");
    device->CopyToDevice(from, std::as_bytes(std::span(in)));
    kernels::Launch launch;
    launch.kernel = kernel;
    launch.grid = {static_cast<std::uint32_t>((count + kThreads - 1) / kThreads), 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.arguments = {kernels::ArgumentBytes(from), kernels::ArgumentBytes(to),
                        kernels::ArgumentBytes(static_cast<std::uint32_t>(count))};
    device->Run(launch);
    device->Synchronize();
    if (device->faulted()) {
      return std::nullopt;
    }
    device->CopyFromDevice(std::as_writable_bytes(std::span(out)), to);
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

std::string EqualOnAllInputs(const KernelText& kernel, const Flow& flow, Formulas& formulas,
                             std::uint32_t node, const std::string& instead) {
  return Search(kernel, flow, formulas, node).Run(instead);
}

}  // namespace voltcheck::mutation::proof
