#include "kernels/simulator/ptx/contraction.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace voltcheck::simulator::ptx {
namespace {

constexpr std::string_view kContractedTypes[] = {"f32", "f64", "f16", "f16x2"};
/// Instructions whose first operand is no destination.
constexpr std::string_view kWithoutDestination[] = {"st",  "red",  "bra",  "brx",    "bar",
                                                    "ret", "exit", "call", "barrier"};
constexpr std::string_view kEndOfPiece[] = {"bra", "brx", "ret", "exit", "trap", "call"};

template <std::size_t kSize>
bool IsOneOf(const std::string_view (&words)[kSize], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool Has(const Instruction& instruction, std::string_view modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

/// mul, add or sub of a floating-point type, without a rounding modifier.
bool IsOpen(const Instruction& instruction, std::string_view opcode) {
  if (instruction.opcode != opcode || instruction.modifiers.empty() ||
      instruction.operands.size() != 3 ||
      !IsOneOf(kContractedTypes, instruction.modifiers.back())) {
    return false;
  }
  return std::all_of(instruction.modifiers.begin(), instruction.modifiers.end() - 1,
                     [](const std::string& m) { return m == "ftz" || m == "sat"; });
}

bool Names(const Operand& operand, const std::string& name) {
  return (operand.kind == Operand::Kind::kSymbol && operand.name == name) ||
         std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& element) { return Names(element, name); });
}

bool HasDestination(const Instruction& instruction) {
  return !instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::kAddress &&
         !IsOneOf(kWithoutDestination, instruction.opcode);
}
bool Writes(const Instruction& instruction, const std::string& name) {
  return HasDestination(instruction) && Names(instruction.operands[0], name);
}
int Reads(const Instruction& instruction, const std::string& name) {
  int reads = instruction.guard == name ? 1 : 0;
  for (std::size_t i = HasDestination(instruction) ? 1 : 0; i < instruction.operands.size(); ++i) {
    reads += Names(instruction.operands[i], name) ? 1 : 0;
  }
  return reads;
}

/// The pairs of one function.
class Finder {
 public:
  explicit Finder(const Function& function) : function_(function) {
    for (const auto& [name, index] : function.labels) {
      heads_.insert(index);
    }
  }

  void Append(std::vector<ContractionPair>& pairs) const {
    std::set<std::size_t> taken;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& multiply = function_.body[i];
      if (!IsOpen(multiply, "mul") || Has(multiply, "sat") ||
          multiply.operands[0].kind != Operand::Kind::kSymbol) {
        continue;
      }
      const std::size_t add = FindAdd(i);
      if (add < function_.body.size() && taken.insert(add).second) {
        pairs.push_back({function_.name, multiply.location, function_.body[add].location,
                         multiply.modifiers.back()});
      }
    }
  }

 private:
  bool SameGuard(const Instruction& a, const Instruction& b) const {
    return a.guard.empty() || (a.guard == b.guard && a.guard_negated == b.guard_negated);
  }

  /// The only reader of the product, when it is an addition that may be fused with it.
  std::size_t FindAdd(std::size_t i) const {
    const auto& body = function_.body;
    const Instruction& multiply = body[i];
    const std::string& product = multiply.operands[0].name;
    for (std::size_t j = i + 1; j < body.size() && heads_.count(j) == 0; ++j) {
      const Instruction& next = body[j];
      if (const int reads = Reads(next, product); reads != 0) {
        const bool fits = reads == 1 && (IsOpen(next, "add") || IsOpen(next, "sub")) &&
                          next.modifiers.back() == multiply.modifiers.back() &&
                          Has(next, "ftz") == Has(multiply, "ftz") && SameGuard(multiply, next);
        return fits && (Writes(next, product) || IsDeadAfter(j, product)) ? j : body.size();
      }
      const bool changed = Writes(next, product) || WritesAnOperand(next, multiply);
      if (changed || IsOneOf(kEndOfPiece, next.opcode)) {
        break;
      }
    }
    return body.size();
  }

  static bool WritesAnOperand(const Instruction& next, const Instruction& multiply) {
    if (!multiply.guard.empty() && Writes(next, multiply.guard)) {
      return true;
    }
    return std::any_of(
        multiply.operands.begin() + 1, multiply.operands.end(), [&](const Operand& operand) {
          return operand.kind == Operand::Kind::kSymbol && Writes(next, operand.name);
        });
  }

  /// No path from behind instruction `j` reads the register before it is written again.
  bool IsDeadAfter(std::size_t j, const std::string& name) const {
    std::vector<std::size_t> open = {j + 1};
    std::set<std::size_t> seen;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (at >= function_.body.size() || !seen.insert(at).second) {
        continue;
      }
      const Instruction& instruction = function_.body[at];
      if (Reads(instruction, name) != 0) {
        return false;
      }
      if (Writes(instruction, name) && instruction.guard.empty()) {
        continue;
      }
      const bool leaves = instruction.opcode == "ret" || instruction.opcode == "exit";
      const bool jumps = instruction.opcode == "bra" || instruction.opcode == "brx";
      if (jumps) {
        for (const std::size_t target : Targets(instruction)) {
          open.push_back(target);
        }
      }
      if ((!leaves && !jumps) || !instruction.guard.empty()) {
        open.push_back(at + 1);
      }
    }
    return true;
  }

  std::vector<std::size_t> Targets(const Instruction& instruction) const {
    std::vector<std::size_t> targets;
    const auto add = [&](const std::string& label) {
      const auto found = function_.labels.find(label);
      if (found != function_.labels.end()) {
        targets.push_back(found->second);
      }
    };
    const std::string& name =
        instruction.operands.empty() ? function_.name : instruction.operands.back().name;
    add(name);
    const auto table = function_.branch_targets.find(name);
    if (table != function_.branch_targets.end()) {
      std::for_each(table->second.begin(), table->second.end(), add);
    }
    return targets;
  }

  const Function& function_;
  std::set<std::size_t> heads_;  ///< where labels stand
};

// --- rewriting the text ---

std::vector<std::size_t> LineStarts(const std::string& text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      starts.push_back(i + 1);
    }
  }
  return starts;
}

/// Blanks out comments, so that only code has semicolons and commas. Keeps every position.
std::string WithoutComments(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"') {  // a file name may hold what looks like a comment
      i = std::min(text.find('"', i + 1), text.size() - 1);
      continue;
    }
    if (text[i] != '/' || (text[i + 1] != '/' && text[i + 1] != '*')) {
      continue;
    }
    const bool line = text[i + 1] == '/';
    const std::size_t found = line ? text.find('\n', i) : text.find("*/", i + 2);
    const std::size_t end = found == std::string::npos ? text.size() : found + (line ? 0 : 2);
    for (; i < end; ++i) {
      text[i] = text[i] == '\n' ? '\n' : ' ';
    }
    --i;
  }
  return text;
}

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

/// An instruction in the text: from its opcode up to its semicolon.
struct Statement {
  std::size_t begin;
  std::size_t end;
  std::string mnemonic;
  std::vector<std::string> operands;
};

Statement Cut(const std::string& code, std::size_t begin) {
  Statement statement{begin, code.find(';', begin), "", {}};
  const std::string body = code.substr(begin, statement.end - begin);
  const std::size_t space = body.find_first_of(" \t\r\n");
  statement.mnemonic = body.substr(0, space);
  for (std::size_t at = space; at < body.size();) {
    const std::size_t comma = std::min(body.find(',', at), body.size());
    statement.operands.push_back(Trimmed(std::string_view{body}.substr(at, comma - at)));
    at = comma + 1;
  }
  return statement;
}

/// Puts `by` in place of text[begin, end), and behind it the line breaks that stood there.
void Replace(std::string& text, std::size_t begin, std::size_t end, const std::string& by) {
  std::string breaks;
  std::copy_if(text.begin() + static_cast<std::ptrdiff_t>(begin),
               text.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(breaks),
               [](char c) { return c == '\n'; });
  text.replace(begin, end - begin, by + breaks);
}

std::string FusedText(const Statement& multiply, const Statement& add, const std::string& guard,
                      const std::string& type) {
  const std::string suffix = add.mnemonic.substr(3);  // ".ftz.sat.f32"
  const bool first = add.operands[1] == multiply.operands[0];
  std::string a = multiply.operands[1];
  std::string c = first ? add.operands[2] : add.operands[1];
  std::string before;
  if (add.mnemonic.substr(0, 3) == "sub") {
    std::string& negative = first ? c : a;
    const std::string ftz = suffix.find(".ftz") == std::string::npos ? "" : ".ftz";
    const std::string bits = type == "f64" ? "64" : type == "f16" ? "16" : "32";
    before = ".reg .b" + bits + " %negated; " + guard + "neg" + ftz + "." + type + " %negated, " +
             negative + "; ";
    negative = "%negated";
  }
  return "{ " + before + guard + "fma.rn" + suffix + " " + add.operands[0] + ", " + a + ", " +
         multiply.operands[2] + ", " + c + "; }";
}

}  // namespace

std::vector<ContractionPair> FindContractionPairs(const Module& module) {
  std::vector<ContractionPair> pairs;
  for (const Function& function : module.functions) {
    Finder(function).Append(pairs);
  }
  return pairs;
}

std::string FuseAllPairs(const std::string& file, const std::string& text) {
  return FusePairs(text, FindContractionPairs(ParseModule(file, text)));
}

std::string FusePairs(const std::string& text, const std::vector<ContractionPair>& pairs) {
  const std::string code = WithoutComments(text);
  const std::vector<std::size_t> lines = LineStarts(code);
  struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string by;
  };
  std::vector<Edit> edits;
  // The guard belongs to the statement, too: it goes in front of what replaces the instruction.
  const auto begin_of = [&](std::size_t opcode) {
    const std::size_t before = code.find_last_not_of(" \t\r\n", opcode - 1);
    const std::size_t at = code.find_last_of("@;{}:\n", before);
    return at != std::string::npos && code[at] == '@' ? at : opcode;
  };
  for (const ContractionPair& pair : pairs) {
    const Statement multiply = Cut(code, lines[pair.multiply.line - 1] + pair.multiply.column - 1);
    const Statement add = Cut(code, lines[pair.add.line - 1] + pair.add.column - 1);
    const std::size_t begin = begin_of(add.begin);
    const std::string guard = code.substr(begin, add.begin - begin);
    edits.push_back({begin_of(multiply.begin), multiply.end + 1, ""});
    edits.push_back({begin, add.end + 1, FusedText(multiply, add, guard, pair.type)});
  }
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.begin > b.begin; });
  std::string fused = code;
  for (const Edit& edit : edits) {
    Replace(fused, edit.begin, edit.end, edit.by);
  }
  return fused;
}

}  // namespace voltcheck::simulator::ptx
