#ifndef VOLTCHECK_KERNELS_RECIPE_RECIPE_H_
#define VOLTCHECK_KERNELS_RECIPE_RECIPE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/foreign_plan.h"
#include "kernels/recipe/expression.h"

namespace voltcheck::recipe {

/// A recipe file as it was read: data, and every mistake that can be seen without a case found.
/// docs/recipe.md describes the JSON.

/// An expression and where it stands, for messages: "FILE.json: /steps/0/launches/0/grid/1".
struct Placed {
  std::string where;
  Expression value;
};

/// "ptr:NAME + OFFSET", or "null" (an empty name).
struct PointerField {
  std::string where;
  std::string buffer;
  Placed offset;  ///< text empty: 0
};
/// A number in so many bytes.
struct NumberField {
  enum class Type { kI32, kU32, kI64, kF32, kU8, kU16 };
  Type type = Type::kI32;
  Placed value;    ///< of whole numbers
  float real = 0;  ///< of kF32
};
struct StructField;
using Field = std::variant<PointerField, NumberField, StructField>;
/// A struct by value, laid out as C does.
struct StructField {
  std::vector<Field> fields;
};

struct LaunchRecipe {
  std::string where;
  std::string module;  ///< file name, as KernelSet knows it
  std::string kernel;
  std::vector<Placed> grid;   ///< 3
  std::vector<Placed> block;  ///< 3
  Placed shared;
  std::vector<Field> arguments;
  std::string loop_symbol;  ///< empty: launched once
  Placed loop_count;
  Placed when;  ///< text empty: always
};

/// How a step declares that it adds in one part.
struct OrderRecipe {
  DeclaredOrder::Kind kind = DeclaredOrder::Kind::kUndeclared;
  bool is_wmma = false;                     ///< an instruction takes 16 k
  Placed splits, chunk, interleave, width;  ///< text empty: the default
};

struct StepRecipe {
  kernels::ForeignStep parts;
  std::map<kernels::Part, OrderRecipe> orders;
  std::vector<LaunchRecipe> launches;
};

struct BufferRecipe {
  std::string name;
  Placed bytes;
  kernels::BufferSpec::Role role = kernels::BufferSpec::Role::kWorkspace;
};

struct Recipe {
  std::string name;
  std::vector<std::string> modules;  ///< as written: paths beside the recipe
  std::vector<Placed> requirements;
  std::vector<BufferRecipe> buffers;
  std::vector<LaunchRecipe> preparation;
  std::vector<StepRecipe> steps;
};

/// Reads the text of a recipe; `file` begins every message, followed by the JSON pointer. Opens
/// nothing. Throws Error (status 2), one line.
Recipe ReadRecipe(const std::string& file, std::string_view text);

/// The symbols that a case gives a value to, without those of one step.
Symbols SymbolsOf(const Case& c, int held);
/// Adds k and n of a step and the split count that the case names for its GEMM.
void AddStepSymbols(const Case& c, const kernels::ForeignStep& step, Symbols& symbols);

/// The plan of a case. `file` begins messages. Throws Declined for a case that the recipe's
/// requirements leave out; Error (status 2) for what an expression comes to, and for a buffer that
/// the plan does not have.
kernels::Plan MakeRecipePlan(const Recipe& recipe, const std::string& file, const Problem& problem);

/// A recipe with the files that it needs, from wherever they come.
struct RecipeFiles {
  std::string name;  ///< of the recipe's file, without folders
  std::string text;
  std::vector<kernels::ModuleImage> modules;  ///< as Recipe::modules orders them
};

/// Reads a recipe and its modules. Throws Error (status 2), one line.
RecipeFiles ReadRecipeFiles(const std::string& path);
/// The implementation that they describe; messages begin with `where`. Throws Error (status 2).
std::shared_ptr<const kernels::Implementation> MakeRecipe(const std::string& where,
                                                          RecipeFiles files);
/// Both in one.
std::shared_ptr<const kernels::Implementation> LoadRecipe(const std::string& path);

}  // namespace voltcheck::recipe

#endif  // VOLTCHECK_KERNELS_RECIPE_RECIPE_H_
