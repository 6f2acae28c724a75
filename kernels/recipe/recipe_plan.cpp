#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>

#include "kernels/kernel_set.h"
#include "kernels/plan_parts.h"
#include "kernels/recipe/recipe.h"

namespace voltcheck::recipe {
namespace {

using kernels::BufferSpec;
using kernels::Part;
using kernels::Plan;
using kernels::PlanArgument;
using kernels::PlanLaunch;

constexpr std::int64_t kMostLaunchesOfACase = 65536;
constexpr std::int64_t kMostBufferBytes = std::int64_t{1} << 34;
constexpr std::int64_t kMostGrid = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostShared = 96 * 1024;
constexpr std::uintmax_t kMostModuleBytes = std::uintmax_t{1} << 28;

std::int64_t InRange(const Placed& placed, const Symbols& symbols, std::int64_t least,
                     std::int64_t most) {
  const std::int64_t value = placed.value.Evaluate(placed.where, symbols);
  if (value < least || value > most) {
    throw BadInput(placed.where,
                   Quote(placed.value.text()) + " is " + std::to_string(value) + ", not in " +
                       std::to_string(least) + ".." + std::to_string(most),
                   "see docs/recipe.md");
  }
  return value;
}

/// Names that a step has for what it reads and writes, and the plan's names for them.
std::string FullName(const std::string& name, const kernels::ForeignStep* step, const Plan& plan) {
  if (step == nullptr || plan.FindBuffer(name) != nullptr) {
    return name;
  }
  const Part first = step->first();
  const bool is_w13 = first == Part::kW13;
  const std::string gemm = is_w13 ? "w13" : "w2";
  if (name == "weights") {
    return gemm + ".qweight";
  }
  for (const char* own : {"qweight", "qzeros", "scales", "weight_table", "metadata_table"}) {
    if (name == own) {
      return gemm + "." + own;
    }
  }
  constexpr std::array<const char*, kernels::kParts + 1> kTensors{"permuted", "w13", "silu", "w2",
                                                                  "output"};
  if (name == "input") {
    return kTensors[static_cast<std::size_t>(first)];
  }
  if (name == "out") {
    return kTensors[static_cast<std::size_t>(step->last()) + 1];
  }
  return name;
}

/// Binds the launches of one step, or of the preparation, to a case.
class Binder {
 public:
  Binder(const Plan& plan, const kernels::ForeignStep* step, Symbols symbols,
         std::int64_t& launches_left)
      : plan_(plan), step_(step), symbols_(std::move(symbols)), launches_left_(launches_left) {}

  std::vector<PlanLaunch> Bind(const std::vector<LaunchRecipe>& recipes) {
    std::vector<PlanLaunch> launches;
    for (const LaunchRecipe& recipe : recipes) {
      if (recipe.loop_symbol.empty()) {
        Add(recipe, launches);
        continue;
      }
      const std::int64_t count = InRange(recipe.loop_count, symbols_, 0, kMostLaunchesOfACase);
      for (std::int64_t i = 0; i < count; ++i) {
        symbols_[recipe.loop_symbol] = i;
        Add(recipe, launches);
      }
      symbols_.erase(recipe.loop_symbol);
    }
    return launches;
  }

 private:
  void Add(const LaunchRecipe& recipe, std::vector<PlanLaunch>& launches) {
    const auto& when = recipe.when;
    if (!when.value.text().empty() && when.value.Evaluate(when.where, symbols_) == 0) {
      return;
    }
    PlanLaunch launch;
    launch.kernel = recipe.module + "#" + recipe.kernel;
    launch.grid = Dimension(recipe.grid, 0, kMostGrid);
    if (launch.grid.count() == 0) {
      return;  // nothing to do: no expert is held, or no row
    }
    launch.block = Dimension(recipe.block, 1, 1024);
    if (!recipe.shared.value.text().empty()) {
      launch.shared_bytes =
          static_cast<std::uint32_t>(InRange(recipe.shared, symbols_, 0, kMostShared));
    }
    for (const Field& field : recipe.arguments) {
      launch.arguments.push_back(Argument(field));
    }
    if (--launches_left_ < 0) {
      throw BadInput(recipe.where, "brings the case to more than 65536 launches",
                     "see docs/recipe.md");
    }
    launches.push_back(std::move(launch));
  }

  kernels::Dim3 Dimension(const std::vector<Placed>& values, std::int64_t least,
                          std::int64_t most) const {
    const auto at = [&](std::size_t i) {
      return static_cast<std::uint32_t>(InRange(values[i], symbols_, least, most));
    };
    return {at(0), at(1), at(2)};
  }

  PlanArgument Argument(const Field& field) const {
    if (const auto* pointer = std::get_if<PointerField>(&field)) {
      if (pointer->buffer.empty()) {
        return kernels::kNull;
      }
      return Address(*pointer);
    }
    if (const auto* number = std::get_if<NumberField>(&field)) {
      switch (number->type) {
        case NumberField::Type::kI32:
          return static_cast<std::int32_t>(Number(*number));
        case NumberField::Type::kU32:
          return static_cast<std::uint32_t>(Number(*number));
        case NumberField::Type::kI64:
          return Number(*number);
        case NumberField::Type::kF32:
          return number->real;
        default:
          break;
      }
    }
    kernels::StructArgument argument;
    const std::size_t alignment = Append(field, argument);
    argument.bytes.resize((argument.bytes.size() + alignment - 1) / alignment * alignment);
    return argument;
  }

  std::int64_t Number(const NumberField& field) const {
    switch (field.type) {
      case NumberField::Type::kI32:
        return InRange(field.value, symbols_, std::numeric_limits<std::int32_t>::min(),
                       std::numeric_limits<std::int32_t>::max());
      case NumberField::Type::kU32:
        return InRange(field.value, symbols_, 0, std::numeric_limits<std::uint32_t>::max());
      case NumberField::Type::kU8:
        return InRange(field.value, symbols_, 0, 255);
      case NumberField::Type::kU16:
        return InRange(field.value, symbols_, 0, 65535);
      default:
        return field.value.value.Evaluate(field.value.where, symbols_);
    }
  }

  kernels::BufferArgument Address(const PointerField& pointer) const {
    if (pointer.buffer == "rows") {
      return plan_.rows;
    }
    const std::string name = FullName(pointer.buffer, step_, plan_);
    const BufferSpec* buffer = plan_.FindBuffer(name);
    if (buffer == nullptr) {
      throw BadInput(pointer.where, "there is no buffer " + Quote(pointer.buffer) + " here",
                     "see docs/recipe.md");
    }
    std::int64_t offset = 0;
    if (!pointer.offset.value.text().empty()) {
      offset = InRange(pointer.offset, symbols_, 0, static_cast<std::int64_t>(buffer->bytes));
    }
    return kernels::At(name, static_cast<std::uint64_t>(offset));
  }

  /// Puts a member behind the others, aligned as C aligns it. Gives its alignment.
  std::size_t Append(const Field& field, kernels::StructArgument& argument) const {
    const auto put = [&](const auto& value) {
      std::vector<std::byte>& bytes = argument.bytes;
      bytes.resize((bytes.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value));
      const std::vector<std::byte> more = kernels::ArgumentBytes(value);
      bytes.insert(bytes.end(), more.begin(), more.end());
      return sizeof(value);
    };
    if (const auto* fields = std::get_if<StructField>(&field)) {
      kernels::StructArgument inner;
      std::size_t alignment = 1;
      for (const Field& member : fields->fields) {
        alignment = std::max(alignment, Append(member, inner));
      }
      inner.bytes.resize((inner.bytes.size() + alignment - 1) / alignment * alignment);
      const std::size_t begin = (argument.bytes.size() + alignment - 1) / alignment * alignment;
      argument.bytes.resize(begin);
      argument.bytes.insert(argument.bytes.end(), inner.bytes.begin(), inner.bytes.end());
      for (kernels::StructArgument::Pointer& pointer : inner.pointers) {
        pointer.offset += begin;
        argument.pointers.push_back(std::move(pointer));
      }
      return alignment;
    }
    if (const auto* pointer = std::get_if<PointerField>(&field)) {
      const std::size_t size = put(std::uint64_t{0});
      if (!pointer->buffer.empty()) {
        argument.pointers.push_back({argument.bytes.size() - size, Address(*pointer)});
      }
      return size;
    }
    const auto& number = std::get<NumberField>(field);
    switch (number.type) {
      case NumberField::Type::kU8:
        return put(static_cast<std::uint8_t>(Number(number)));
      case NumberField::Type::kU16:
        return put(static_cast<std::uint16_t>(Number(number)));
      case NumberField::Type::kI64:
        return put(Number(number));
      case NumberField::Type::kF32:
        return put(number.real);
      case NumberField::Type::kI32:
      case NumberField::Type::kU32:
        break;
    }
    return put(static_cast<std::uint32_t>(Number(number)));
  }

  const Plan& plan_;
  const kernels::ForeignStep* step_;
  Symbols symbols_;
  std::int64_t& launches_left_;
};

/// Throws Contradiction for an expression without a value.
bool Holds(const Placed& required, const Symbols& symbols) {
  try {
    return required.value.Evaluate(required.where, symbols) != 0;
  } catch (const Error& error) {
    throw kernels::Contradiction(error.what());
  }
}

int HeldExperts(const Plan& plan) {
  const BufferSpec* slots = plan.FindBuffer("expert_slot");
  int held = 0;
  for (std::size_t i = 0; i < slots->bytes; i += sizeof(std::int32_t)) {
    std::int32_t slot = 0;
    std::memcpy(&slot, slots->contents.data() + i, sizeof(slot));
    held = std::max(held, slot + 1);
  }
  return held;
}

/// Puts the recipe's buffers and launches into a plan.
void AddRecipe(const Recipe& recipe, const Case& c, Plan& plan) {
  const Symbols symbols = SymbolsOf(c, HeldExperts(plan));
  for (const BufferRecipe& buffer : recipe.buffers) {
    if (plan.FindBuffer(buffer.name) != nullptr) {
      throw BadInput(buffer.bytes.where, Quote(buffer.name) + " is a buffer of the stage",
                     "choose another name");
    }
    const std::int64_t bytes = InRange(buffer.bytes, symbols, 0, kMostBufferBytes);
    plan.buffers.push_back(
        {buffer.name, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), buffer.role, {}});
  }
  std::int64_t launches_left = kMostLaunchesOfACase;
  std::vector<PlanLaunch> preparation =
      Binder(plan, nullptr, symbols, launches_left).Bind(recipe.preparation);
  kernels::InsertPreparation(std::move(preparation), plan);
  for (const StepRecipe& step : recipe.steps) {
    if (kernels::Runs(step.parts, c.stage)) {
      Symbols own = symbols;
      AddStepSymbols(c, step.parts, own);
      std::vector<PlanLaunch> launches =
          Binder(plan, &step.parts, own, launches_left).Bind(step.launches);
      kernels::InsertStep(step.parts, std::move(launches), plan);
    }
  }
}

}  // namespace

Symbols SymbolsOf(const Case& c, int held) {
  return {{"tokens", c.shape.tokens},
          {"top_k", c.shape.top_k},
          {"slots", c.shape.slots()},
          {"experts", c.shape.experts},
          {"hidden", c.shape.hidden},
          {"intermediate", c.shape.intermediate},
          {"group", c.shape.group},
          {"held", held},
          {"interleaved", c.columns == Columns::kInterleaved ? 1 : 0},
          {"sorted", c.layout == SlotLayout::kSorted ? 1 : 0},
          {"three_byte", c.metadata == Metadata::k3Byte ? 1 : 0},
          {"w13_k", c.w13_k()},
          {"w13_n", c.w13_n()},
          {"w13_splits", c.w13.splits},
          {"w2_k", c.w2_k()},
          {"w2_n", c.w2_n()},
          {"w2_splits", c.w2.splits}};
}

void AddStepSymbols(const Case& c, const kernels::ForeignStep& step, Symbols& symbols) {
  switch (step.first()) {
    case Part::kW13:
      symbols["k"] = c.w13_k();
      symbols["n"] = c.w13_n();
      symbols["splits"] = c.w13.splits;
      break;
    case Part::kSilu:
      symbols["n"] = c.shape.intermediate;
      break;
    case Part::kW2:
      symbols["k"] = c.w2_k();
      symbols["n"] = c.w2_n();
      symbols["splits"] = c.w2.splits;
      break;
    case Part::kOutput:
      symbols["k"] = c.shape.top_k;
      symbols["n"] = c.shape.hidden;
      break;
  }
}

Plan MakeRecipePlan(const Recipe& recipe, const std::string& file, const Problem& problem) {
  const Case& c = problem.c;
  std::vector<kernels::ForeignStep> steps;
  for (const StepRecipe& step : recipe.steps) {
    steps.push_back(step.parts);
  }
  for (const Placed& required : recipe.requirements) {
    if (!Holds(required, SymbolsOf(c, 0))) {
      throw kernels::Declined(file, "it requires " + required.value.text());
    }
  }
  Plan plan = kernels::MakeForeignPlan(problem, steps, file);
  try {
    AddRecipe(recipe, c, plan);
  } catch (const Error& error) {
    throw kernels::Contradiction(error.what());
  }
  return plan;
}

namespace {

std::string ReadBounded(const std::string& path, std::uintmax_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw BadInput(path, "is no file", "name one that can be read");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > most) {
    throw BadInput(path, "has " + std::to_string(bytes) + " bytes",
                   "at most " + std::to_string(most));
  }
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw BadInput(path, "cannot be read", "name one that can be");
  }
  return text;
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

class RecipeKernels final : public kernels::Implementation {
 public:
  RecipeKernels(const std::string& where, RecipeFiles files)
      : file_(std::move(files.name)),
        recipe_(ReadRecipe(where, files.text)),
        modules_(std::move(files.modules)) {
    hash_ = kernels::HashModules({{file_, files.text, {}}});
    bool as_named = modules_.size() == recipe_.modules.size();
    for (std::size_t i = 0; as_named && i < modules_.size(); ++i) {
      as_named = modules_[i].name == FileName(recipe_.modules[i]);
    }
    if (!as_named) {
      throw BadInput(where, "does not come with the modules that it names", "make it again");
    }
    RequireEntries(recipe_.preparation);
    for (const StepRecipe& step : recipe_.steps) {
      RequireEntries(step.launches);
    }
  }

  std::string name() const override { return "recipe " + file_ + " (" + recipe_.name + ")"; }
  std::string arguments() const override {
    return " --recipe " + file_ + "@" + hash_.substr(0, 12);
  }
  std::vector<kernels::ModuleImage> modules() const override { return modules_; }
  Plan MakePlan(const Problem& problem) const override {
    return MakeRecipePlan(recipe_, file_, problem);
  }
  bool Computes(Part part) const override { return StepOf(part) != nullptr; }
  DeclaredOrder OrderOf(const Case& c, Part part) const override {
    const StepRecipe* step = StepOf(part);
    DeclaredOrder order;
    if (step == nullptr || !step->orders.contains(part)) {
      return order;
    }
    const OrderRecipe& said = step->orders.at(part);
    Symbols symbols = SymbolsOf(c, 0);
    symbols.erase("held");  // the order must not depend on the routing
    AddStepSymbols(c, kernels::ForeignStep{kernels::Bit(part), kernels::Bit(part)}, symbols);
    const auto set = [&](const Placed& placed, int& value) {
      if (!placed.value.text().empty()) {
        value = static_cast<int>(InRange(placed, symbols, 0, kMostGrid));
      }
    };
    order.kind = said.kind;
    set(said.splits, order.splits);
    set(said.chunk, order.chunk);
    set(said.interleave, order.interleave);
    set(said.width, order.width);
    if (order.interleave == 1) {  // then the width says what one instruction takes
      order.width = said.is_wmma ? 16 : 4;
    }
    if (part == Part::kW13 || part == Part::kW2) {
      const std::string why = WhyImpossible(order, part == Part::kW13 ? c.w13_k() : c.w2_k());
      if (!why.empty()) {
        throw BadInput(file_, "declares an order that cannot be: " + why, "see docs/recipe.md");
      }
    }
    return order;
  }

 private:
  const StepRecipe* StepOf(Part part) const {
    for (const StepRecipe& step : recipe_.steps) {
      if ((step.parts.computes & kernels::Bit(part)) != 0) {
        return &step;
      }
    }
    return nullptr;
  }

  void RequireEntries(const std::vector<LaunchRecipe>& launches) const {
    for (const LaunchRecipe& launch : launches) {
      for (const kernels::ModuleImage& module : modules_) {
        const std::vector<std::string> entries = kernels::EntryNames(module.ptx);
        if (module.name == launch.module &&
            std::find(entries.begin(), entries.end(), launch.kernel) == entries.end()) {
          throw BadInput(launch.where, launch.module + " has no entry " + Quote(launch.kernel),
                         "names of C++ kernels are mangled; extern \"C\" keeps them");
        }
      }
    }
  }

  std::string file_;
  Recipe recipe_;
  std::string hash_;
  std::vector<kernels::ModuleImage> modules_;
};

}  // namespace

RecipeFiles ReadRecipeFiles(const std::string& path) {
  constexpr std::uintmax_t kMostRecipeBytes = std::uintmax_t{1} << 20;
  RecipeFiles files{FileName(path), ReadBounded(path, kMostRecipeBytes), {}};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const std::string& module : ReadRecipe(path, files.text).modules) {
    const std::string at = (folder / module).string();
    files.modules.push_back({FileName(module), ReadBounded(at, kMostModuleBytes), {}});
  }
  return files;
}

std::shared_ptr<const kernels::Implementation> MakeRecipe(const std::string& where,
                                                          RecipeFiles files) {
  return std::make_shared<RecipeKernels>(where, std::move(files));
}

std::shared_ptr<const kernels::Implementation> LoadRecipe(const std::string& path) {
  return MakeRecipe(path, ReadRecipeFiles(path));
}

}  // namespace voltcheck::recipe
