// What nvcc emits, compiled while the tests are built, and the file of all forms, which ptxas
// accepts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

/// Every name in the module's code is declared, a label, or a special register.
void ExpectNamesResolved(const Module& module) {
  std::set<std::string> known;
  for (const Variable& variable : module.variables) {
    known.insert(variable.name);
  }
  for (const Function& function : module.functions) {
    known.insert(function.name);
  }
  for (const Function& function : module.functions) {
    std::set<std::string> local = known;
    for (const auto* list : {&function.variables, &function.parameters, &function.returns}) {
      for (const Variable& variable : *list) {
        EXPECT_TRUE(local.insert(variable.name).second) << variable.name << " twice";
      }
    }
    for (const auto& [label, index] : function.labels) {
      EXPECT_TRUE(local.insert(label).second) << label << " twice";
      EXPECT_LE(index, function.body.size());
    }
    for (const auto& [label, targets] : function.branch_targets) {
      EXPECT_TRUE(local.insert(label).second) << label << " twice";
      for (const std::string& target : targets) {
        EXPECT_EQ(function.labels.count(target), 1U) << target;
      }
    }
    for (const auto& [label, prototype] : function.prototypes) {
      EXPECT_TRUE(local.insert(label).second) << label << " twice";
    }
    for (const auto& [label, targets] : function.call_targets) {
      EXPECT_TRUE(local.insert(label).second) << label << " twice";
    }
    const std::set<std::string> special = {"%tid.x", "%ctaid.x", "%ntid.x", "%laneid"};
    const auto check = [&](const Operand& operand, const auto& self) -> void {
      if (operand.kind == Operand::Kind::kSymbol) {
        const std::string base = operand.name.substr(0, operand.name.find('.'));
        EXPECT_TRUE(local.count(base) != 0 || special.count(operand.name) != 0) << operand.name;
      }
      for (const Operand& element : operand.elements) {
        self(element, self);
      }
    };
    for (const Instruction& instruction : function.body) {
      for (const Operand& operand : instruction.operands) {
        check(operand, check);
      }
    }
  }
}

class Compiled : public testing::TestWithParam<const char*> {};

TEST_P(Compiled, ParsesAndResolvesEveryName) {
  const std::string path = std::string(VOLTCHECK_PTX_DIR) + "/" + GetParam();
  const Module module = ParseModule(path, ReadFile(path));
  EXPECT_EQ(module.target, "sm_70");
  ExpectNamesResolved(module);

  const Function& kernel = FunctionNamed(module, "compiled");
  EXPECT_TRUE(kernel.entry);
  EXPECT_EQ(kernel.max_threads, 128U);
  ASSERT_EQ(kernel.parameters.size(), 4U);
  EXPECT_EQ(kernel.parameters[2].bytes(), 4U);
  EXPECT_EQ(kernel.parameters[3].bytes(), 24U);
  EXPECT_EQ(kernel.parameters[3].alignment, 8U);

  EXPECT_EQ(VariableNamed(module.variables, "counter").initial.at(0), std::byte{5});
  EXPECT_EQ(VariableNamed(module.variables, "dynamic").elements, 0U);
  const Variable& functions = VariableNamed(module.variables, "functions");
  ASSERT_EQ(functions.relocations.size(), 1U);
  EXPECT_FALSE(FunctionNamed(module, functions.relocations[0].symbol).declaration);
  EXPECT_EQ(VariableNamed(module.variables, "messages").relocations.size(), 2U);

  const auto count = [&](const std::string& opcode) {
    return std::count_if(kernel.body.begin(), kernel.body.end(),
                         [&](const Instruction& i) { return i.opcode == opcode; });
  };
  EXPECT_GE(count("call"), 3);
  EXPECT_EQ(count("bar"), 1);
  EXPECT_EQ(count("shfl") + count("call") > 3, true);
}

INSTANTIATE_TEST_SUITE_P(Nvcc, Compiled,
                         testing::Values("compiled.ptx", "compiled_lineinfo.ptx",
                                         "compiled_debug.ptx"));

TEST(PtxNvcc, LineInformationReachesTheInstructions) {
  const std::string path = std::string(VOLTCHECK_PTX_DIR) + "/compiled_lineinfo.ptx";
  const Module module = ParseModule(path, ReadFile(path));
  const Function& kernel = FunctionNamed(module, "compiled");
  bool in_source = false;
  for (const Instruction& instruction : kernel.body) {
    if (instruction.source_file != 0) {
      const std::string& file = module.source_files.at(instruction.source_file);
      in_source = in_source || (file.ends_with("compiled.cu") && instruction.source_line > 20);
    }
  }
  EXPECT_TRUE(in_source);
}

TEST(PtxForms, EveryFormIsUnderstood) {
  const std::string path =
      std::string(VOLTCHECK_SOURCE_DIR) + "/tests/simulator/ptx/data/forms.ptx";
  const Module module = ParseModule(path, ReadFile(path));
  ExpectNamesResolved(module);
  const Function& forms = FunctionNamed(module, "forms");
  EXPECT_EQ(forms.max_threads, 256U);
  EXPECT_EQ(forms.branch_targets.size(), 1U);
  EXPECT_EQ(forms.prototypes.size(), 1U);
  EXPECT_EQ(forms.call_targets.size(), 1U);
  EXPECT_EQ(VariableNamed(module.variables, "open_rows").elements, 6U);
  EXPECT_EQ(module.source_files.at(2), "inlined.h");
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
