#include "kernels/simulator/ptx/name_scopes.h"

#include <iterator>
#include <utility>

#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {

void NameScopes::Open(Location location) {
  if (scopes_.size() >= static_cast<std::size_t>(kMaxScopeDepth)) {
    cursor_.Fail(location, "blocks nested more than " + std::to_string(kMaxScopeDepth) + " deep",
                 "flatten them");
  }
  scopes_.emplace_back();
}

void NameScopes::Close() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (ForwardUse& use : scope.uses) {
    const auto found = scope.entries.find(use.name);
    if (found != scope.entries.end() && found->second.kind == Kind::kForward) {
      Resolve(use, found->second.unique);
    } else if (!scopes_.empty()) {
      scopes_.back().uses.push_back(std::move(use));
    } else if (!context_.Has(use.name)) {
      cursor_.Fail(use.location, Quote(use.name) + " is not declared in this function",
                   "declare the label, variable or function");
    }
  }
}

void NameScopes::Resolve(const ForwardUse& use, const std::string& unique) {
  if (use.table.empty()) {
    function_.body[use.instruction].operands[use.index].name = unique;
  } else {
    function_.branch_targets[use.table][use.index] = unique;
  }
}

std::string NameScopes::Declare(const std::string& name, Location location, Kind kind,
                                std::uint64_t element_bytes) {
  const auto [place, fresh] = scopes_.back().entries.try_emplace(name);
  if (!fresh) {
    cursor_.Fail(location,
                 Quote(name) + " is declared twice in this block, first in line " +
                     std::to_string(place->second.location.line),
                 "rename one of them");
  }
  // '#' is in no PTX name, and neither count repeats.
  std::string unique = name;
  if (kind == Kind::kHoisted) {
    unique += "#g" + std::to_string(context_.module.variables.size());
  } else if (context_.Has(name) || !taken_.insert(name).second) {
    unique += '#' + std::to_string(++renamed_);
  }
  place->second = {unique, location, kind, element_bytes};
  return unique;
}

const NameScopes::Entry* NameScopes::Find(const std::string& name) const {
  for (std::size_t depth = scopes_.size(); depth-- > 0;) {
    const auto found = scopes_[depth].entries.find(name);
    if (found != scopes_[depth].entries.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

}  // namespace voltcheck::simulator::ptx
