#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_WORDS_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_WORDS_H_

#include <z3++.h>

#include <cstdint>
#include <optional>
#include <string>

namespace voltcheck::mutation::proof {

// What PTX's integer instructions do to words, as formulas (PTX ISA, "Integer Arithmetic
// Instructions", "Logic and Shift Instructions"). Words that meet have equal sizes unless it is
// said otherwise.

/// The low `from` bits of a word as one of `to` bits, filled up with zeros or the sign.
z3::expr Resized(const z3::expr& value, unsigned from, unsigned to, bool is_signed);

/// setp's relation; nothing for a name that compares no integers.
std::optional<z3::expr> Compared(const std::string& relation, bool is_signed, const z3::expr& a,
                                 const z3::expr& b);

/// add, sub, and, or, xor, min, max; nothing for any other opcode.
std::optional<z3::expr> Combined(const std::string& opcode, bool is_signed, const z3::expr& a,
                                 const z3::expr& b);
/// and, or, xor of predicates.
std::optional<z3::expr> CombinedTruths(const std::string& opcode, const z3::expr& a,
                                       const z3::expr& b);

/// shl or shr by an amount of 32 bits: as many as there are or more give zeros, or the sign.
z3::expr Shifted(bool left, bool is_signed, const z3::expr& a, const z3::expr& amount);

/// lop3 with its table of eight bits.
z3::expr Looked(std::uint64_t table, const z3::expr& a, const z3::expr& b, const z3::expr& c);

/// bfi of 32 bits: the low bits of `a` at `position` (below 32) of `b`.
z3::expr Inserted(const z3::expr& a, const z3::expr& b, unsigned position, unsigned length);

/// prmt without a mode; nothing for a selector that copies a sign.
std::optional<z3::expr> Permuted(const z3::expr& a, const z3::expr& b, std::uint64_t selectors);

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_WORDS_H_
