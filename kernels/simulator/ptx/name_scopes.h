#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_NAME_SCOPES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_NAME_SCOPES_H_

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/module.h"
#include "kernels/simulator/ptx/module_context.h"

namespace voltcheck::simulator::ptx {

/// A place in a function that names something which may be declared further down: a label, a table
/// of branch targets, a prototype.
struct ForwardUse {
  std::string name;
  Location location;
  std::size_t instruction = 0;  ///< with `table` empty: operand `index` of this instruction
  std::size_t index = 0;
  std::string table;  ///< else entry `index` of this table of branch targets
};

/// The names of one function, scope within scope, and the unique name that each stands for.
class NameScopes {
 public:
  NameScopes(const Cursor& cursor, const ModuleContext& context, Function& function)
      : cursor_(cursor), context_(context), function_(function) {}

  void Open(Location location);
  /// Closes the innermost scope: uses of its labels get their unique names, other forward uses move
  /// to the scope around it. At the outermost one they must name something of the module, else
  /// throws Error.
  void Close();
  std::size_t depth() const { return scopes_.size(); }

  enum class Kind {
    kLocal,    ///< a variable of the function
    kHoisted,  ///< a .global or .const variable, which moves into the module
    kForward,  ///< a label or table, which may be used before it is declared
  };
  struct Entry {
    std::string unique;
    Location location;
    Kind kind = Kind::kLocal;
    std::uint64_t element_bytes = 0;  ///< of a variable in memory, else 0
  };
  /// Declares a name in the innermost scope; returns its unique name. Throws Error when the scope
  /// has it already.
  std::string Declare(const std::string& name, Location location, Kind kind,
                      std::uint64_t element_bytes = 0);
  /// What is declared under a name so far, or null.
  const Entry* Find(const std::string& name) const;
  void UseForward(ForwardUse use) { scopes_.back().uses.push_back(std::move(use)); }

 private:
  struct Scope {
    std::unordered_map<std::string, Entry> entries;
    std::vector<ForwardUse> uses;
  };
  void Resolve(const ForwardUse& use, const std::string& unique);

  const Cursor& cursor_;
  const ModuleContext& context_;
  Function& function_;
  std::vector<Scope> scopes_;
  std::unordered_set<std::string> taken_;
  std::size_t renamed_ = 0;
};

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_NAME_SCOPES_H_
