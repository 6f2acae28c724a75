#include "kernels/simulator/ptx/body_parser.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/simulator/ptx/declaration.h"
#include "kernels/simulator/ptx/directives.h"
#include "kernels/simulator/ptx/name_scopes.h"
#include "kernels/simulator/ptx/operand_parser.h"

namespace voltcheck::simulator::ptx {
namespace {

class BodyParser {
 public:
  BodyParser(Cursor& cursor, ModuleContext& context, Function& function)
      : cursor_(cursor),
        context_(context),
        function_(function),
        scopes_(cursor, context, function),
        operands_(cursor, context, scopes_) {}

  void Parse() {
    scopes_.Open(cursor_.Peek().location);
    for (std::vector<Variable>* list : {&function_.returns, &function_.parameters}) {
      for (Variable& variable : *list) {
        DeclareLocal(variable);
      }
    }
    cursor_.Expect("{", "before the body of a function");
    scopes_.Open(cursor_.Peek().location);  // a local may hide a parameter
    while (scopes_.depth() > 1) {
      Statement();
    }
    scopes_.Close();
  }

 private:
  void DeclareLocal(Variable& variable) {
    const bool in_memory = variable.space != StateSpace::kRegister;
    variable.name = scopes_.Declare(variable.name, variable.location, NameScopes::Kind::kLocal,
                                    in_memory ? variable.element_bytes() : 0);
  }

  void Statement() {
    const Token token = cursor_.Peek();
    if (cursor_.AtEnd()) {
      cursor_.Fail(function_.location, "the body of " + Quote(function_.name) + " never ends",
                   "close it with '}'");
    }
    if (cursor_.Try("{")) {
      scopes_.Open(token.location);
    } else if (cursor_.Try("}")) {
      scopes_.Close();
    } else if (token.kind == Token::Kind::kWord) {
      Directive(cursor_.Take());
    } else if (token.kind == Token::Kind::kName && cursor_.PeekSecond().text == ":" &&
               cursor_.PeekSecond().kind == Token::Kind::kPunctuation) {
      Label(cursor_.Take());
    } else if (token.kind == Token::Kind::kName || cursor_.At("@")) {
      ParseInstruction();
    } else {
      cursor_.FailExpected("an instruction, a label or a directive", "remove it");
    }
  }

  void Directive(const Token& word) {
    if (const auto space = FindSpace(word.text)) {
      Declaration(*space);
    } else if (word.text == "loc") {
      source_ = ParseLoc(cursor_);
    } else if (word.text == "pragma") {
      SkipPragma(cursor_);
    } else if (word.text == "file") {
      ParseFile(cursor_, context_.module);
    } else if (word.text == "section") {
      SkipSection(cursor_);
    } else {
      cursor_.Fail(word.location,
                   "the directive " + Quote("." + std::string(word.text)) + " in a function",
                   "remove it, or write an instruction without the dot");
    }
  }

  void Declaration(StateSpace space) {
    const Specifiers specifiers = ParseSpecifiers(cursor_, space);
    do {
      if (space == StateSpace::kRegister) {
        for (Variable& variable : ParseRegisters(cursor_, specifiers, context_)) {
          DeclareLocal(variable);
          function_.variables.push_back(std::move(variable));
        }
        continue;
      }
      Declarator declarator = ParseDeclarator(cursor_, specifiers, false);
      Variable& variable = declarator.variable;
      const bool hoisted = space == StateSpace::kGlobal || space == StateSpace::kConst;
      if (hoisted && cursor_.Try("=")) {
        ParseInitialiser(cursor_, declarator, context_);
      }
      if (variable.elements == 0) {
        cursor_.Fail(variable.location, Quote(variable.name) + " has no size", "write its size");
      }
      if (hoisted) {
        variable.name = scopes_.Declare(variable.name, variable.location,
                                        NameScopes::Kind::kHoisted, variable.element_bytes());
        context_.variables.emplace(variable.name, context_.module.variables.size());
        context_.module.variables.push_back(std::move(variable));
      } else {
        DeclareLocal(variable);
        function_.variables.push_back(std::move(variable));
      }
    } while (cursor_.Try(","));
    cursor_.Expect(";", "after a declaration");
  }

  void Label(const Token& name) {
    cursor_.Expect(":", "after a label");
    cursor_.Charge(1);
    const std::string unique =
        scopes_.Declare(std::string(name.text), name.location, NameScopes::Kind::kForward);
    if (cursor_.TryWord("branchtargets")) {
      BranchTargets(unique);
    } else if (cursor_.TryWord("calltargets")) {
      CallTargets(unique);
    } else if (cursor_.TryWord("callprototype")) {
      Prototype(unique);
    } else {
      function_.labels[unique] = static_cast<std::uint32_t>(function_.body.size());
    }
  }

  void BranchTargets(const std::string& table) {
    std::vector<std::string>& targets = function_.branch_targets[table];
    do {
      const Token name = cursor_.ExpectName("a label");
      cursor_.Charge(2);
      scopes_.UseForward({std::string(name.text), name.location, 0, targets.size(), table});
      targets.emplace_back(name.text);
    } while (cursor_.Try(","));
    cursor_.Expect(";", "after the last label");
  }

  void CallTargets(const std::string& table) {
    std::vector<std::string>& targets = function_.call_targets[table];
    do {
      const Token name = cursor_.ExpectName("a function");
      cursor_.Charge(1);
      targets.push_back(operands_.ResolveName(name));
    } while (cursor_.Try(","));
    cursor_.Expect(";", "after the last function");
  }

  /// `(.param .b32 _) _ (.param .b64 _) .noreturn;`
  void Prototype(const std::string& unique) {
    Function prototype;
    prototype.name = unique;
    prototype.declaration = true;
    prototype.location = cursor_.Peek().location;
    if (cursor_.At("(")) {
      prototype.returns = ParseParameters(cursor_, true);
    }
    if (!cursor_.AtName()) {
      cursor_.FailExpected("'_' in a prototype", "write it for the function's name");
    }
    cursor_.Take();
    if (cursor_.At("(")) {
      prototype.parameters = ParseParameters(cursor_, true);
    }
    while (SkipFunctionProperty(cursor_)) {
    }
    cursor_.Expect(";", "after a prototype");
    function_.prototypes.emplace(unique, std::move(prototype));
  }

  void ParseInstruction() {
    Instruction instruction;
    if (cursor_.Try("@")) {
      instruction.guard_negated = cursor_.Try("!");
      const Token guard = cursor_.ExpectName("a predicate register");
      instruction.guard = operands_.ResolveName(guard);
    }
    const Token opcode = cursor_.ExpectName("an instruction");
    instruction.opcode = std::string(opcode.text);
    instruction.location = opcode.location;
    instruction.source_file = source_.file;
    instruction.source_line = source_.line;
    cursor_.Charge(1);
    while (cursor_.Peek().kind == Token::Kind::kWord) {
      cursor_.Charge(1);
      instruction.modifiers.emplace_back(cursor_.Take().text);
    }
    operands_.ParseAll(instruction, function_.body.size());
    cursor_.Expect(";", "after the instruction");
    function_.body.push_back(std::move(instruction));
  }

  Cursor& cursor_;
  ModuleContext& context_;
  Function& function_;
  NameScopes scopes_;
  OperandParser operands_;
  SourcePosition source_;
};

}  // namespace

void ParseBody(Cursor& cursor, ModuleContext& context, Function& function) {
  BodyParser(cursor, context, function).Parse();
}

}  // namespace voltcheck::simulator::ptx
