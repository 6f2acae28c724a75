#include "verify/mutation/kernel_text.h"

#include <algorithm>

#include "fixtures/case/error.h"
#include "kernels/simulator/ptx/lexer.h"

namespace voltcheck::mutation {
namespace {

using ptx::Token;

std::vector<std::size_t> LineStarts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      starts.push_back(i + 1);
    }
  }
  return starts;
}

bool IsLinkage(const Token& token) {
  return token.kind == Token::Kind::kWord &&
         (token.text == "visible" || token.text == "weak" || token.text == "extern");
}

struct EntryRange {
  std::string_view name;
  std::size_t begin;
  std::size_t end;
};

// Every `.visible .entry NAME ... { ... }` of the text, by its braces.
std::vector<EntryRange> FindEntries(const std::string& file, std::string_view text) {
  std::vector<EntryRange> entries;
  ptx::Lexer lexer(file, text);
  const auto at = [&](const Token& token) {
    return static_cast<std::size_t>(token.text.data() - text.data());
  };
  int depth = 0;
  bool open = false;  // inside an entry
  std::size_t linkage = std::string_view::npos;
  for (Token token = lexer.Next(); token.kind != Token::Kind::kEnd; token = lexer.Next()) {
    const bool is_brace = token.kind == Token::Kind::kPunctuation;
    if (is_brace && token.text == "{") {
      ++depth;
    } else if (is_brace && token.text == "}") {
      --depth;
      if (depth == 0 && open) {
        entries.back().end = at(token) + 1;
        open = false;
      }
    } else if (depth == 0 && token.kind == Token::Kind::kWord && token.text == "entry") {
      const std::size_t begin = linkage != std::string_view::npos ? linkage : at(token) - 1;
      const Token name = lexer.Next();
      entries.push_back({name.text, begin, text.size()});
      open = true;
    }
    linkage = IsLinkage(token) ? at(token) - 1 : std::string_view::npos;
  }
  return entries;
}

std::string_view TrimmedEnd(std::string_view text, std::string_view unwanted) {
  const std::size_t last = text.find_last_not_of(unwanted);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::string Apply(std::string_view text, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    result.append(text.substr(done, edit.begin - done)).append(edit.text);
    done = edit.end;
  }
  return result.append(text.substr(done));
}

std::string OnlyEntry(const std::string& file, const std::string& ptx, std::string_view entry) {
  std::string text = ptx;
  bool found = false;
  for (const EntryRange& range : FindEntries(file, ptx)) {
    if (range.name == entry) {
      found = true;
      continue;
    }
    for (std::size_t i = range.begin; i < range.end; ++i) {
      text[i] = text[i] == '\n' ? '\n' : ' ';
    }
  }
  if (!found) {
    throw BadInput(file, "has no entry " + Quote(entry), "name one that it has");
  }
  return text;
}

KernelText::KernelText(const kernels::ModuleImage& image, const std::string& entry)
    : entry_(entry),
      text_(OnlyEntry(image.name, image.ptx, entry)),
      module_(ptx::ParseModule(image.name, text_)),
      line_starts_(LineStarts(text_)) {
  for (const ptx::Function& function : module_.functions) {
    if (function.entry && function.name == entry) {
      function_ = &function;
    }
  }
  if (function_ == nullptr) {
    throw BadInput(image.name, "has no entry " + Quote(entry), "name one that it has");
  }
  labelled_.assign(function_->body.size() + 1, false);
  for (const auto& [label, index] : function_->labels) {
    labelled_[index] = true;
  }
}

std::size_t KernelText::OffsetOf(const ptx::Location& location) const {
  return line_starts_[location.line - 1] + location.column - 1;
}

Edit KernelText::Statement(std::size_t instruction) const {
  const Edit guard = Guard(instruction);
  const std::size_t opcode = OffsetOf(body()[instruction].location);
  return {guard.begin, text_.find(';', opcode) + 1, {}};
}

Edit KernelText::Mnemonic(std::size_t instruction) const {
  const std::size_t begin = OffsetOf(body()[instruction].location);
  return {begin, text_.find_first_of(" \t\r\n;{[", begin), {}};
}

Edit KernelText::Guard(std::size_t instruction) const {
  const std::size_t opcode = OffsetOf(body()[instruction].location);
  if (body()[instruction].guard.empty()) {
    return {opcode, opcode, {}};
  }
  return {text_.rfind('@', opcode), opcode, {}};
}

Edit KernelText::OperandSpan(std::size_t instruction, std::size_t operand) const {
  const ptx::Instruction& i = body()[instruction];
  const std::size_t begin = OffsetOf(i.operands[operand].location);
  const bool last = operand + 1 == i.operands.size();
  const std::size_t limit =
      last ? text_.find(';', begin) : OffsetOf(i.operands[operand + 1].location);
  std::string_view operand_text = std::string_view(text_).substr(begin, limit - begin);
  operand_text = TrimmedEnd(operand_text, last ? " \t\r\n" : "!, \t\r\n");  // `!` of the next one
  return {begin, begin + operand_text.size(), {}};
}

Edit KernelText::AddressBase(std::size_t instruction, std::size_t operand) const {
  const Edit whole = OperandSpan(instruction, operand);
  const std::size_t begin = text_.find_first_not_of("[ \t", whole.begin);
  return {begin, text_.find_first_of("+] \t", begin), {}};
}

}  // namespace voltcheck::mutation
