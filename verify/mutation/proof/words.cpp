#include "verify/mutation/proof/words.h"

namespace voltcheck::mutation::proof {

z3::expr Resized(const z3::expr& value, unsigned from, unsigned to, bool is_signed) {
  const z3::expr low = value.get_sort().bv_size() > from ? value.extract(from - 1, 0) : value;
  return to < from    ? low.extract(to - 1, 0)
         : to == from ? low
         : is_signed  ? z3::sext(low, to - from)
                      : z3::zext(low, to - from);
}

std::optional<z3::expr> Compared(const std::string& relation, bool is_signed, const z3::expr& a,
                                 const z3::expr& b) {
  if (relation == "eq") return a == b;
  if (relation == "ne") return a != b;
  if (relation == "lt" || relation == "lo") return is_signed ? a < b : z3::ult(a, b);
  if (relation == "le" || relation == "ls") return is_signed ? a <= b : z3::ule(a, b);
  if (relation == "gt" || relation == "hi") return is_signed ? a > b : z3::ugt(a, b);
  if (relation == "ge" || relation == "hs") return is_signed ? a >= b : z3::uge(a, b);
  return std::nullopt;
}

std::optional<z3::expr> Combined(const std::string& opcode, bool is_signed, const z3::expr& a,
                                 const z3::expr& b) {
  if (opcode == "add") return a + b;
  if (opcode == "sub") return a - b;
  if (opcode == "and") return a & b;
  if (opcode == "or") return a | b;
  if (opcode == "xor") return a ^ b;
  const z3::expr less = is_signed ? a < b : z3::ult(a, b);
  if (opcode == "min") return z3::ite(less, a, b);
  if (opcode == "max") return z3::ite(less, b, a);
  return std::nullopt;
}

std::optional<z3::expr> CombinedTruths(const std::string& opcode, const z3::expr& a,
                                       const z3::expr& b) {
  if (opcode == "and") return a && b;
  if (opcode == "or") return a || b;
  if (opcode == "xor") return a != b;
  return std::nullopt;
}

z3::expr Shifted(bool left, bool is_signed, const z3::expr& a, const z3::expr& amount) {
  const unsigned bits = a.get_sort().bv_size();
  const z3::expr by = Resized(amount, 32, 64, false);
  const z3::expr wide = Resized(a, bits, 64, is_signed);
  const z3::expr shifted = left        ? z3::shl(wide, by)
                           : is_signed ? z3::ashr(wide, by)
                                       : z3::lshr(wide, by);
  return shifted.extract(bits - 1, 0);
}

z3::expr Looked(std::uint64_t table, const z3::expr& a, const z3::expr& b, const z3::expr& c) {
  z3::expr value = a.ctx().bv_val(0, a.get_sort().bv_size());
  for (unsigned minterm = 0; minterm < 8; ++minterm) {
    if ((table >> minterm) & 1U) {
      value = value |
              (((minterm & 4U) ? a : ~a) & ((minterm & 2U) ? b : ~b) & ((minterm & 1U) ? c : ~c));
    }
  }
  return value;
}

z3::expr Inserted(const z3::expr& a, const z3::expr& b, unsigned position, unsigned length) {
  const std::uint64_t ones = length >= 32 ? 0xffffffffU : (std::uint64_t{1} << length) - 1;
  const z3::expr field = a.ctx().bv_val(static_cast<std::uint32_t>(ones << position), 32);
  return (z3::shl(a, a.ctx().bv_val(position, 32)) & field) | (b & ~field);
}

std::optional<z3::expr> Permuted(const z3::expr& a, const z3::expr& b, std::uint64_t selectors) {
  const z3::expr bytes = z3::concat(b, a);
  std::optional<z3::expr> value;
  for (unsigned k = 0; k < 4; ++k) {
    const auto selector = static_cast<unsigned>(selectors >> (4 * k)) & 0xfU;
    if (selector >= 8) {
      return std::nullopt;
    }
    const z3::expr byte = bytes.extract(8 * selector + 7, 8 * selector);
    value = value ? z3::concat(byte, *value) : byte;
  }
  return value;
}

}  // namespace voltcheck::mutation::proof
