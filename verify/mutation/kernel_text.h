#ifndef VOLTCHECK_VERIFY_MUTATION_KERNEL_TEXT_H_
#define VOLTCHECK_VERIFY_MUTATION_KERNEL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::mutation {

namespace ptx = simulator::ptx;

/// A replacement of bytes [begin, end) of a text.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// `text` with all edits made, which must not overlap.
std::string Apply(std::string_view text, std::vector<Edit> edits);

/// PTX text in which every entry but `entry` is blanked out: line numbers stay as they were, so
/// that a finding still points into the file.
std::string OnlyEntry(const std::string& file, const std::string& ptx, std::string_view entry);

/// One kernel as a module of its own: its text, the parsed instructions, and where in the text they
/// stand.
class KernelText {
 public:
  /// Throws Error (status 2) for PTX that does not parse, or has no such entry.
  KernelText(const kernels::ModuleImage& image, const std::string& entry);

  const std::string& file() const { return module_.file; }
  const std::string& entry() const { return entry_; }
  const std::string& text() const { return text_; }
  const std::vector<ptx::Instruction>& body() const { return function_->body; }
  const ptx::Function& function() const { return *function_; }

  /// The whole statement, guard and semicolon included.
  Edit Statement(std::size_t instruction) const;
  /// Opcode and modifiers.
  Edit Mnemonic(std::size_t instruction) const;
  /// `@%p1 ` or `@!%p1 `; empty without a guard.
  Edit Guard(std::size_t instruction) const;
  /// Without the `!` of a negated predicate.
  Edit OperandSpan(std::size_t instruction, std::size_t operand) const;
  /// The part of an address operand `[base+offset]` that is the base.
  Edit AddressBase(std::size_t instruction, std::size_t operand) const;

  /// The texts of these spans.
  std::string_view View(const Edit& span) const {
    return std::string_view(text_).substr(span.begin, span.end - span.begin);
  }
  std::string_view OperandText(std::size_t instruction, std::size_t operand) const {
    return View(OperandSpan(instruction, operand));
  }
  /// Whether a label stands directly before the instruction: a basic block begins.
  bool IsLabelled(std::size_t instruction) const { return labelled_[instruction]; }

 private:
  std::size_t OffsetOf(const ptx::Location& location) const;

  std::string entry_;
  std::string text_;
  ptx::Module module_;
  const ptx::Function* function_ = nullptr;
  std::vector<std::size_t> line_starts_;
  std::vector<bool> labelled_;
};

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_KERNEL_TEXT_H_
