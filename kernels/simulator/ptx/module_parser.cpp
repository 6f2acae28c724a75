#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/simulator/ptx/body_parser.h"
#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/declaration.h"
#include "kernels/simulator/ptx/directives.h"
#include "kernels/simulator/ptx/limits.h"
#include "kernels/simulator/ptx/module.h"
#include "kernels/simulator/ptx/module_context.h"

namespace voltcheck::simulator::ptx {
namespace {

class ModuleParser {
 public:
  ModuleParser(const std::string& file, const std::string& text) : cursor_(file, text) {
    context_.module.file = file;
  }

  Module Parse() {
    Header();
    while (!cursor_.AtEnd()) {
      Item();
    }
    CheckInitialisers();
    ResolveAliases();
    return std::move(context_.module);
  }

 private:
  void Header() {
    if (!cursor_.TryWord("version")) {
      cursor_.FailExpected(".version at the start of a PTX file", "give a PTX file");
    }
    Version();
    if (!cursor_.TryWord("target")) {
      cursor_.FailExpected(".target after .version", "add it, as in '.target sm_70'");
    }
    Target();
  }

  void Version() {
    const Token token = cursor_.Take();
    const std::size_t dot = token.text.find('.');
    const std::string major(token.text.substr(0, dot));
    const std::string minor(dot == std::string_view::npos ? "" : token.text.substr(dot + 1));
    const auto is_number = [](const std::string& digits) {
      return !digits.empty() && digits.size() <= 4 &&
             digits.find_first_not_of("0123456789") == std::string::npos;
    };
    if (token.kind != Token::Kind::kDecimal || !is_number(major) || !is_number(minor)) {
      cursor_.Fail(token.location, "the PTX version " + Quote(token.text), "write one such as 7.8");
    }
    context_.module.version_major = static_cast<std::uint32_t>(std::stoul(major));
    context_.module.version_minor = static_cast<std::uint32_t>(std::stoul(minor));
  }

  void Target() {
    do {
      const Token target = cursor_.ExpectName("an architecture");
      if (context_.module.target.empty()) {
        context_.module.target = std::string(target.text);
        context_.module.target_location = target.location;
      }
    } while (cursor_.Try(","));
  }

  void Item() {
    const Token start = cursor_.Peek();
    if (start.kind != Token::Kind::kWord) {
      cursor_.FailExpected("a directive", "begin with .visible, .entry, .func, .global, ...");
    }
    bool external = false;
    Token word = cursor_.Take();
    while (word.text == "visible" || word.text == "extern" || word.text == "weak" ||
           word.text == "common") {
      external = external || word.text == "extern";
      if (cursor_.Peek().kind != Token::Kind::kWord) {
        cursor_.FailExpected("a declaration", "write .entry, .func or a state space");
      }
      word = cursor_.Take();
    }
    if (word.text == "entry" || word.text == "func") {
      FunctionItem(word.text == "entry");
    } else if (const auto space = FindSpace(word.text)) {
      VariableItem(*space, external, word);
    } else if (word.text == "version") {
      Version();
    } else if (word.text == "target") {
      Target();
    } else if (word.text == "address_size") {
      const Location where = cursor_.Peek().location;
      if (cursor_.ExpectInteger("an address size") != 64) {
        cursor_.Fail(where, "addresses that are not 64 bits wide", "compile with -m64");
      }
    } else if (word.text == "file") {
      ParseFile(cursor_, context_.module);
    } else if (word.text == "section") {
      SkipSection(cursor_);
    } else if (word.text == "pragma") {
      SkipPragma(cursor_);
    } else if (word.text == "loc") {
      ParseLoc(cursor_);
    } else if (word.text == "alias") {
      Alias();
    } else {
      cursor_.Fail(word.location,
                   "the directive " + Quote("." + std::string(word.text)) + " is not known",
                   "remove it");
    }
  }

  void VariableItem(StateSpace space, bool external, const Token& word) {
    if (space != StateSpace::kGlobal && space != StateSpace::kConst &&
        space != StateSpace::kShared) {
      cursor_.Fail(word.location, Quote("." + std::string(word.text)) + " outside a function",
                   "move the declaration into a function");
    }
    const Specifiers specifiers = ParseSpecifiers(cursor_, space);
    do {
      Declarator declarator = ParseDeclarator(cursor_, specifiers, false);
      Variable& variable = declarator.variable;
      variable.external = external;
      if (space != StateSpace::kShared && cursor_.Try("=")) {
        ParseInitialiser(cursor_, declarator, context_);
      }
      if (variable.elements == 0 && !external) {
        cursor_.Fail(variable.location, Quote(variable.name) + " has no size",
                     "write its size, or declare it .extern");
      }
      AddVariable(std::move(variable));
    } while (cursor_.Try(","));
    cursor_.Expect(";", "after a declaration");
  }

  /// Adds a variable; a definition replaces an external declaration, which may be repeated.
  void AddVariable(Variable variable) {
    if (context_.functions.count(variable.name) != 0) {
      cursor_.Fail(variable.location, Quote(variable.name) + " is a function already",
                   "rename one");
    }
    const auto [place, fresh] =
        context_.variables.try_emplace(variable.name, context_.module.variables.size());
    if (fresh) {
      context_.module.variables.push_back(std::move(variable));
      return;
    }
    Variable& earlier = context_.module.variables[place->second];
    if (earlier.space != variable.space || (!earlier.external && !variable.external)) {
      cursor_.Fail(variable.location,
                   Quote(variable.name) + " is declared already, in line " +
                       std::to_string(earlier.location.line),
                   "rename one of them");
    }
    if (earlier.external) {
      earlier = std::move(variable);
    }
  }

  void FunctionItem(bool entry) {
    Function function;
    function.entry = entry;
    SkipAttributes();
    while (SkipFunctionProperty(cursor_)) {
    }
    if (!entry && cursor_.At("(")) {
      function.returns = ParseParameters(cursor_, false);
    }
    const Token name =
        cursor_.ExpectName(entry ? "the name of a kernel" : "the name of a function");
    function.name = std::string(name.text);
    function.location = name.location;
    cursor_.Charge(1);
    if (cursor_.At("(")) {
      function.parameters = ParseParameters(cursor_, false);
    }
    if (entry) {
      ParseTuning(cursor_, function);
    }
    while (SkipFunctionProperty(cursor_)) {
    }
    if (cursor_.Try(";")) {
      function.declaration = true;
      AddFunction(std::move(function));
      return;
    }
    const std::size_t index = AddFunction(Function(function));
    ParseBody(cursor_, context_, function);
    context_.module.functions[index] = std::move(function);
  }

  void SkipAttributes() {
    while (cursor_.TryWord("attribute")) {
      SkipAttribute(cursor_);
    }
  }

  /// Adds a function, or lets a definition replace its declaration. Returns its index.
  std::size_t AddFunction(Function function) {
    if (context_.variables.count(function.name) != 0) {
      cursor_.Fail(function.location, Quote(function.name) + " is a variable already",
                   "rename one");
    }
    auto& functions = context_.module.functions;
    const auto [place, fresh] = context_.functions.try_emplace(function.name, functions.size());
    if (fresh) {
      functions.push_back(std::move(function));
      return place->second;
    }
    Function& earlier = functions[place->second];
    if (!earlier.declaration && !function.declaration) {
      cursor_.Fail(function.location,
                   Quote(function.name) + " is defined already, in line " +
                       std::to_string(earlier.location.line),
                   "rename one of them");
    }
    if (earlier.declaration) {
      earlier = std::move(function);
    }
    return place->second;
  }

  /// `.alias name, function;`
  void Alias() {
    const Token name = cursor_.ExpectName("the name of an alias");
    cursor_.Expect(",", "between the names of an alias");
    const Token target = cursor_.ExpectName("the function of an alias");
    cursor_.Expect(";", "after .alias");
    cursor_.Charge(1);
    const auto found = context_.functions.find(std::string(target.text));
    if (found == context_.functions.end() || context_.module.functions[found->second].declaration) {
      cursor_.Fail(target.location, Quote(target.text) + " is not a defined function",
                   "define it before its alias");
    }
    aliases_[std::string(name.text)] = std::string(target.text);
  }

  /// Makes calls of an alias calls of its function; an alias may follow its uses.
  void ResolveAliases() {
    if (aliases_.empty()) {
      return;
    }
    for (Function& function : context_.module.functions) {
      for (Instruction& instruction : function.body) {
        for (Operand& operand : instruction.operands) {
          const auto found =
              operand.kind == Operand::Kind::kSymbol ? aliases_.find(operand.name) : aliases_.end();
          if (found != aliases_.end()) {
            cursor_.Charge(1 + found->second.size() / 64);
            operand.name = found->second;
          }
        }
      }
    }
  }

  void CheckInitialisers() const {
    for (const ModuleContext::SymbolUse& use : context_.initialiser_symbols) {
      if (!context_.Has(use.name)) {
        cursor_.Fail(use.location, Quote(use.name) + " is not declared in this module",
                     "declare it");
      }
    }
  }

  Cursor cursor_;
  ModuleContext context_;
  std::unordered_map<std::string, std::string> aliases_;
};

}  // namespace

std::string Instruction::Mnemonic() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) {
    text += "." + modifier;
  }
  return text;
}

Module ParseModule(const std::string& file, const std::string& text) {
  if (text.size() > kMaxTextBytes) {
    FailAt(file, {1, 1}, "the file has " + std::to_string(text.size()) + " bytes",
           "the largest PTX text allowed is " + std::to_string(kMaxTextBytes) + " bytes");
  }
  return ModuleParser(file, text).Parse();
}

}  // namespace voltcheck::simulator::ptx
