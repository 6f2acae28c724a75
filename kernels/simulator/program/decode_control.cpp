// Branches, calls, returns, barriers.
#include <algorithm>

#include "kernels/simulator/program/decoders.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

/// Offsets of the formal parameters in a device function's frame: returns first, as
/// FunctionLowering::DeclareVariables lays them out.
struct Formals {
  std::vector<ParamCopy> returns;  // callee_offset and bytes
  std::vector<ParamCopy> parameters;
};

Formals LayOutFormals(const FunctionLowering& lowering, const ptx::Function& function) {
  Formals formals;
  std::uint64_t local = 0;
  const auto add = [&](const ptx::Variable& v, std::vector<ParamCopy>& to) {
    if (v.space == ptx::StateSpace::kRegister) {
      lowering.Fail("passes " + v.name + " in a register", "declare it .param");
    }
    const std::uint64_t alignment = std::max<std::uint64_t>({v.alignment, ptx::SizeOf(v.type), 1});
    local = (local + alignment - 1) / alignment * alignment;
    to.push_back({0, local, v.bytes()});
    local += v.bytes();
  };
  for (const ptx::Variable& v : function.returns) {
    add(v, formals.returns);
  }
  for (const ptx::Variable& v : function.parameters) {
    add(v, formals.parameters);
  }
  return formals;
}

void BindActuals(const FunctionLowering& lowering, const std::vector<ptx::Operand>& actuals,
                 std::vector<ParamCopy>& formals, const char* what) {
  if (actuals.size() != formals.size()) {
    lowering.Fail("has " + std::to_string(actuals.size()) + " " + what + ", but the function has " +
                  std::to_string(formals.size()));
  }
  for (std::size_t i = 0; i < actuals.size(); ++i) {
    formals[i].caller_offset = lowering.FrameParameter(actuals[i].name);
    if (formals[i].caller_offset == kNone) {
      lowering.Fail("passes " + actuals[i].name + ", which is not a .param variable");
    }
  }
}

const ptx::Function* FindFunction(const FunctionLowering& lowering, const ptx::Module& module,
                                  const std::string& name) {
  const auto found =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&](const ptx::Function& f) { return f.name == name && !f.declaration; });
  if (found == module.functions.end()) {
    lowering.Fail("calls " + name + ", which has no body in this module",
                  "link the function into the PTX");
  }
  return &*found;
}

bool IsAligned(const FunctionLowering& lowering) {
  // `bar` is always aligned, `barrier` only when it says so.
  return lowering.instruction().opcode == "bar" || lowering.Has("aligned");
}

}  // namespace

void DecodeBranch(FunctionLowering& lowering) {
  lowering.ExpectOperands(1, 1);
  if (lowering.operand(0).kind != Kind::kSymbol) {
    lowering.Fail("needs a label");
  }
  lowering.EmitControl(ControlKind::kBranch, {}, {});
  lowering.BranchTo(lowering.program().control.size() - 1, lowering.operand(0).name);
}

void DecodeBranchIndexed(FunctionLowering& lowering) {
  lowering.ExpectOperands(2, 2);
  if (!lowering.Has("idx")) {
    lowering.FailUnknown();
  }
  const auto& tables = lowering.function().branch_targets;
  const auto targets = tables.find(lowering.operand(1).name);
  if (targets == tables.end() || targets->second.empty()) {
    lowering.Fail("names " + lowering.operand(1).name + ", which is no .branchtargets list");
  }
  const Ref index = lowering.Source(lowering.operand(0), 'w');
  lowering.EmitControl(ControlKind::kBranchTable, {}, {index});
  const std::size_t control = lowering.program().control.size() - 1;
  for (const std::string& label : targets->second) {
    lowering.BranchTableTo(control, label);
  }
}

void DecodeCall(FunctionLowering& lowering) {
  const auto& operands = lowering.instruction().operands;
  std::size_t next = 0;
  std::vector<ptx::Operand> returns;
  if (next < operands.size() && operands[next].kind == Kind::kList) {
    returns = operands[next++].elements;
  }
  if (next >= operands.size() || operands[next].kind != Kind::kSymbol) {
    lowering.Fail("needs a function to call");
  }
  const ptx::Operand& target = operands[next++];
  std::vector<ptx::Operand> arguments;
  if (next < operands.size() && operands[next].kind == Kind::kList) {
    arguments = operands[next++].elements;
  }
  const bool indirect = lowering.RegisterKind(target) != 0;
  const ptx::Module& module = *lowering.module().module;
  const ptx::Function* callee = nullptr;
  if (!indirect) {
    callee = FindFunction(lowering, module, target.name);
    if (callee->entry) {
      lowering.Fail("calls the kernel " + target.name);
    }
  } else {
    const auto& prototypes = lowering.function().prototypes;
    const auto found =
        next < operands.size() ? prototypes.find(operands[next].name) : prototypes.end();
    if (found == prototypes.end()) {
      lowering.Fail("calls through a register without a .callprototype");
    }
    callee = &found->second;
  }
  Formals formals = LayOutFormals(lowering, *callee);
  BindActuals(lowering, returns, formals.returns, "results");
  BindActuals(lowering, arguments, formals.parameters, "arguments");
  const std::vector<Ref> sources =
      indirect ? std::vector<Ref>{lowering.Source(target, 'x')} : std::vector<Ref>{};
  Control& control = lowering.EmitControl(ControlKind::kCall, {}, sources);
  control.function = indirect ? kNone : lowering.module().function_index.at(target.name);
  control.arguments = std::move(formals.parameters);
  control.returns = std::move(formals.returns);
}

void DecodeReturn(FunctionLowering& lowering) {
  lowering.ExpectOperands(0, 0);
  lowering.EmitControl(lowering.function().entry ? ControlKind::kExit : ControlKind::kReturn, {},
                       {});
}

void DecodeExit(FunctionLowering& lowering) {
  lowering.ExpectOperands(0, 0);
  lowering.EmitControl(ControlKind::kExit, {}, {});
}

void DecodeTrap(FunctionLowering& lowering) {
  lowering.ExpectOperands(0, 0);
  lowering.EmitControl(ControlKind::kTrap, {}, {});
}

void DecodeRuntime(FunctionLowering& lowering) {
  if (lowering.function().name != "__assertfail" || !lowering.Has("assertfail")) {
    lowering.FailUnknown();
  }
  lowering.ExpectOperands(4, 4);
  lowering.Emit(
      "@assertfail", {},
      {lowering.Source(lowering.operand(0), 'x'), lowering.Source(lowering.operand(1), 'x'),
       lowering.Source(lowering.operand(2), 'w'), lowering.Source(lowering.operand(3), 'x')});
}

void DecodeNanosleep(FunctionLowering& lowering) {
  lowering.ExpectOperands(1, 1);
  lowering.Source(lowering.operand(0), 'w');
  lowering.EmitControl(ControlKind::kYield, {}, {});
}

void DecodeBarrier(FunctionLowering& lowering) {
  if (lowering.Has("warp")) {  // bar.warp.sync
    lowering.ExpectOperands(1, 1);
    const Ref mask = lowering.Source(lowering.operand(0), 'w');
    lowering.Emit("@fence", {}, {mask}).imm = 2;
    const std::uint32_t signature = lowering.Signature("bar.warp.sync");
    Control& control = lowering.MakeControl(ControlKind::kSync);
    control.mask_operand = 0;
    control.signature = signature;
    control.kinds = "=w";
    return;
  }
  const bool reduces = lowering.Has("red");
  const bool arrives = lowering.Has("arrive");
  if (!reduces && !arrives && !lowering.Has("sync")) {
    lowering.FailUnknown();
  }
  const std::size_t id = reduces ? 1 : 0;
  const std::size_t extra = reduces ? 1 : 0;
  lowering.ExpectOperands(id + extra + (arrives ? 2 : 1), id + extra + 2);
  const bool has_count = lowering.operand_count() == id + extra + 2;
  BarrierOp operation = arrives ? BarrierOp::kArrive : BarrierOp::kSync;
  const bool popc = lowering.Has("popc");
  if (reduces) {
    operation = popc                  ? BarrierOp::kRedPopc
                : lowering.Has("and") ? BarrierOp::kRedAnd
                                      : BarrierOp::kRedOr;
  }
  const Ref number = lowering.Source(lowering.operand(id), 'w');
  const Ref count =
      has_count ? lowering.Source(lowering.operand(id + 1), 'w') : lowering.Constant(0, 'w');
  const Ref predicate =
      reduces ? lowering.Source(lowering.operand(lowering.operand_count() - 1), 'p') : kTrue;
  const char result_kind = popc ? 'w' : 'p';
  const Ref result =
      reduces ? lowering.Destination(lowering.operand(0), result_kind) : lowering.Temporary('p');
  const bool aligned = IsAligned(lowering);
  Control& control =
      lowering.EmitControl(ControlKind::kBarrier, {result}, {number, count, predicate});
  control.barrier = operation;
  control.barrier_has_count = has_count;
  control.aligned = aligned;
}

}  // namespace voltcheck::simulator
