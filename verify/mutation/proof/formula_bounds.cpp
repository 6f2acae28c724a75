// What the premises say of parameters, special registers and loads.
#include "verify/mutation/proof/formulas.h"
#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {

std::string NameOfPremise(const std::string& name) {
  return name.empty() || name.front() != '%' ? name : name.substr(1);
}

void Formulas::Bound(const z3::expr& value, const std::string& what) {
  const auto bounds = premises_.Of(what);
  if (!bounds || value.is_bool()) {
    return;
  }
  const unsigned bits = value.get_sort().bv_size();
  const auto number = [&](std::int64_t n) { return context_.bv_val(n, bits); };
  assumed_.push_back(value >= number(bounds->low) && value <= number(bounds->high));
  if (bounds->step > 1) {
    assumed_.push_back(z3::urem(value, number(bounds->step)) == number(0));
  }
  if (!bounds->below.empty()) {
    const z3::expr most = Unknown(bounds->below, ptx::Type::kB32);
    if (bounded_.insert(bounds->below).second) {
      Bound(most, bounds->below);
    }
    if (bounds->scale == 0) {
      assumed_.push_back(value <= most);
    } else {
      assumed_.push_back((value - number(bounds->low)) * number(bounds->scale) < most);
    }
  }
}

// %tid.x and the like, whose bounds are premises.
z3::expr Formulas::Special(const std::string& name) {
  const z3::expr value = Unknown(name, ptx::Type::kB32);
  if (bounded_.insert(name).second) {
    Bound(value, NameOfPremise(name));
  }
  return value;
}

std::string Formulas::WhereFrom(const std::string& address_register, bool whole) const {
  std::string name = address_register;
  for (int steps = 0; steps < 64; ++steps) {
    const auto& sets = flow_.SetsOf(name);
    if (sets.size() != 1) {
      return {};
    }
    const ptx::Instruction& i = flow_.at(sets.front());
    if (i.opcode == "ld" && Has(i, "param")) {
      const std::string& parameter = i.operands[1].elements.front().name;
      const std::size_t at = parameter.rfind("_param_");
      return at == std::string::npos ? std::string() : parameter.substr(at + 7);
    }
    if (Is(i, {"cvta", "mov"})) {
      name = i.operands[1].name;
    } else if (Is(i, {"add"}) && !whole) {
      // A base and an index: the base is what leads to a parameter.
      const std::string first =
          flow_.IsRegister(i.operands[1].name) ? WhereFrom(i.operands[1].name) : std::string();
      if (!first.empty() || i.operands[2].kind != ptx::Operand::Kind::kSymbol) {
        return first;
      }
      name = i.operands[2].name;
    } else {
      return {};
    }
  }
  return {};
}

// Bounds what a load gives, which is called `symbol`, if a premise speaks of its buffer. Says
// whether one did.
bool Formulas::BoundLoad(const z3::expr& value, const std::string& symbol,
                         const ptx::Instruction& i) {
  if (!Is(i, {"ld"}) || !Has(i, "global") || i.operands.size() != 2 ||
      i.operands[0].kind != ptx::Operand::Kind::kSymbol ||
      i.operands[1].kind != ptx::Operand::Kind::kAddress || value.is_bool() ||
      value.get_sort().bv_size() != 32) {
    return false;
  }
  const std::string parameter = WhereFrom(i.operands[1].elements.front().name);
  if (parameter.empty()) {
    return false;
  }
  std::string what = "load" + parameter;
  if (!premises_.Of(what)) {
    what += "+" + std::to_string(i.operands[1].offset);
  }
  if (!premises_.Of(what)) {
    return false;
  }
  if (bounded_.insert(symbol).second) {
    Bound(value, what);
  }
  return true;
}

}  // namespace voltcheck::mutation::proof
