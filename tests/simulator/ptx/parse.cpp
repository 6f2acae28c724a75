#include "parse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "fixtures/case/error.h"

namespace voltcheck::simulator::ptx {
namespace {

const char kHeader[] = ".version 7.8 .target sm_70 .address_size 64\n";

std::string BodyText(const std::string& text) {
  return ".version 7.8 .target sm_70 .entry k() { .reg .b32 %r<10>; .reg .f32 %f<10>; "
         ".reg .b64 %rd<10>; .reg .pred %p<10>;\n" +
         text + "\n}";
}

}  // namespace

Module ParseItems(const std::string& text) { return ParseModule("test.ptx", kHeader + text); }

Function ParseBodyText(const std::string& text) {
  return ParseModule("test.ptx", BodyText(text)).functions.at(0);
}

std::vector<Operand> ParseOperands(const std::string& instruction) {
  return ParseBodyText(instruction).body.at(0).operands;
}

std::string ErrorOf(const std::string& whole_text) {
  try {
    ParseModule("test.ptx", whole_text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

std::string BodyError(const std::string& text) { return ErrorOf(BodyText(text)); }
std::string ItemError(const std::string& text) { return ErrorOf(kHeader + text); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const Variable& VariableNamed(const std::vector<Variable>& variables, std::string_view name) {
  for (const Variable& variable : variables) {
    if (variable.name == name) {
      return variable;
    }
  }
  throw std::out_of_range("no variable " + std::string(name));
}

const Function& FunctionNamed(const Module& module, std::string_view name) {
  for (const Function& function : module.functions) {
    if (function.name == name) {
      return function;
    }
  }
  throw std::out_of_range("no function " + std::string(name));
}

}  // namespace voltcheck::simulator::ptx
