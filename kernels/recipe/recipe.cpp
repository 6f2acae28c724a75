#include "kernels/recipe/recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>

#include "kernels/recipe/json_text.h"

namespace voltcheck::recipe {
namespace {

using Json = nlohmann::json;
using kernels::BufferSpec;
using kernels::ForeignStep;
using kernels::Part;

constexpr const char* kSchema = "voltcheck.recipe/1";
constexpr const char* kManual = "see docs/recipe.md";
constexpr std::size_t kMostModules = 64;
constexpr std::size_t kMostBuffers = 64;
constexpr std::size_t kMostLaunches = 256;
constexpr std::size_t kMostArguments = 256;
constexpr int kDeepestStruct = 8;
constexpr std::array<const char*, kernels::kParts> kPartNames{"w13", "silu", "w2", "output"};

/// A value and where it stands.
class Node {
 public:
  Node(const std::string& file, std::string pointer, const Json& json)
      : file_(file), pointer_(std::move(pointer)), json_(json) {}

  std::string where() const { return file_ + ": " + (pointer_.empty() ? "/" : pointer_); }
  const Json& json() const { return json_; }
  [[noreturn]] void Fail(const std::string& what) const { throw BadInput(where(), what, kManual); }

  /// The members must be among `known`.
  void RequireObject(std::initializer_list<const char*> known) const {
    if (!json_.is_object()) {
      Fail("is no object");
    }
    for (const auto& [key, value] : json_.items()) {
      if (std::none_of(known.begin(), known.end(), [&k = key](const char* n) { return k == n; })) {
        Fail("has an unknown member " + Quote(key));
      }
    }
  }
  bool Has(const char* key) const { return json_.contains(key); }
  Node At(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      Fail("lacks the member '" + std::string(key) + "'");
    }
    return {file_, pointer_ + "/" + key, *found};
  }
  std::vector<Node> Elements(std::size_t most) const {
    if (!json_.is_array()) {
      Fail("is no array");
    }
    if (json_.size() > most) {
      Fail("has " + std::to_string(json_.size()) + " elements, at most " + std::to_string(most));
    }
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < json_.size(); ++i) {
      nodes.emplace_back(file_, pointer_ + "/" + std::to_string(i), json_[i]);
    }
    return nodes;
  }
  std::string Text() const {
    if (!json_.is_string()) {
      Fail("is no string");
    }
    return json_.get<std::string>();
  }
  /// A number or a string that holds an expression.
  Placed Value() const {
    if (json_.is_number_unsigned()) {
      return {where(), Expression(where(), json_.dump())};
    }
    if (!json_.is_string()) {
      Fail("is neither a whole number nor an expression in a string");
    }
    return {where(), Expression(where(), json_.get<std::string>())};
  }
  Placed ValueOr(const char* key) const { return Has(key) ? At(key).Value() : Placed(); }

 private:
  const std::string& file_;
  std::string pointer_;
  const Json& json_;
};

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
  });
}

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Field ReadPointer(const Node& node, const std::string& text) {
  PointerField field;
  field.where = node.where();
  const std::size_t plus = text.find('+');
  field.buffer = Trimmed(text.substr(0, plus));
  if (!IsName(field.buffer)) {
    node.Fail("names no buffer: " + Quote(field.buffer));
  }
  if (plus != std::string::npos) {
    field.offset = {node.where(), Expression(node.where(), text.substr(plus + 1))};
  }
  return field;
}

Field ReadNumber(const Node& node, NumberField::Type type, const std::string& text) {
  NumberField field;
  field.type = type;
  if (type != NumberField::Type::kF32) {
    field.value = {node.where(), Expression(node.where(), text)};
    return field;
  }
  std::size_t used = 0;
  try {
    field.real = std::stof(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !std::isfinite(field.real)) {
    node.Fail("is no real number: " + Quote(text));
  }
  return field;
}

Field ReadField(const Node& node, int depth) {
  using Type = NumberField::Type;
  if (node.json().is_object()) {
    node.RequireObject({"struct"});
    if (depth == kDeepestStruct) {
      node.Fail("is a struct nested deeper than 8");
    }
    StructField fields;
    for (const Node& element : node.At("struct").Elements(kMostArguments)) {
      fields.fields.push_back(ReadField(element, depth + 1));
    }
    if (fields.fields.empty()) {
      node.Fail("is a struct without members");
    }
    return fields;
  }
  if (node.json().is_number_unsigned()) {
    return ReadNumber(node, Type::kI32, node.json().dump());
  }
  const std::string text = node.Text();
  if (text == "null") {
    return PointerField{node.where(), "", {}};
  }
  struct Prefix {
    std::string_view name;
    Type type;
  };
  constexpr std::array<Prefix, 6> kPrefixes{{{"i32:", Type::kI32},
                                             {"u32:", Type::kU32},
                                             {"i64:", Type::kI64},
                                             {"f32:", Type::kF32},
                                             {"u8:", Type::kU8},
                                             {"u16:", Type::kU16}}};
  if (text.starts_with("ptr:")) {
    return ReadPointer(node, text.substr(4));
  }
  for (const Prefix& prefix : kPrefixes) {
    if (text.starts_with(prefix.name)) {
      return ReadNumber(node, prefix.type, text.substr(prefix.name.size()));
    }
  }
  if (text.find(':') != std::string::npos) {
    node.Fail("is of an unknown kind: " + Quote(text) +
              "; use ptr:, i32:, u32:, i64:, f32:, u16:, u8: or null");
  }
  return ReadNumber(node, Type::kI32, text);
}

/// A dimension: a value or up to three.
std::vector<Placed> ReadDimension(const Node& node) {
  std::vector<Placed> values;
  if (node.json().is_array()) {
    for (const Node& element : node.Elements(3)) {
      values.push_back(element.Value());
    }
    if (values.empty()) {
      node.Fail("has no element");
    }
  } else {
    values.push_back(node.Value());
  }
  values.resize(3, {node.where(), Expression(node.where(), "1")});
  return values;
}

class Reader {
 public:
  Reader(const std::string& file, const Json& json) : root_(file, "", json) {}

  Recipe Read() {
    root_.RequireObject(
        {"schema", "name", "comment", "modules", "requires", "buffers", "prepare", "steps"});
    if (root_.At("schema").Text() != kSchema) {
      root_.At("schema").Fail("is not \"" + std::string(kSchema) + "\"");
    }
    recipe_.name = root_.At("name").Text();
    for (const Node& module : root_.At("modules").Elements(kMostModules)) {
      AddModule(module);
    }
    if (recipe_.modules.empty()) {
      root_.At("modules").Fail("is empty");
    }
    if (root_.Has("requires")) {
      for (const Node& node : root_.At("requires").Elements(kMostModules)) {
        recipe_.requirements.push_back(node.Value());
      }
    }
    if (root_.Has("buffers")) {
      for (const Node& node : root_.At("buffers").Elements(kMostBuffers)) {
        AddBuffer(node);
      }
    }
    if (root_.Has("prepare")) {
      recipe_.preparation = ReadLaunches(root_.At("prepare"));
    }
    const Node steps = root_.At("steps");
    std::vector<ForeignStep> parts;
    for (const Node& node : steps.Elements(kernels::kParts)) {
      recipe_.steps.push_back(ReadStep(node));
      parts.push_back(recipe_.steps.back().parts);
    }
    if (const std::string why = kernels::WhyNoSteps(parts); !why.empty()) {
      steps.Fail(why);
    }
    return std::move(recipe_);
  }

 private:
  static std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  void AddModule(const Node& node) {
    const std::string path = node.Text();
    if (path.empty() || path.find('\0') != std::string::npos || FileName(path).empty() ||
        path.find('#') != std::string::npos) {
      node.Fail("is no file name: " + Quote(path));
    }
    for (const std::string& other : recipe_.modules) {
      if (FileName(other) == FileName(path)) {
        node.Fail("has the same file name as another module: " + Quote(FileName(path)));
      }
    }
    recipe_.modules.push_back(path);
  }

  void AddBuffer(const Node& node) {
    node.RequireObject({"name", "bytes", "role"});
    BufferRecipe buffer;
    buffer.name = node.At("name").Text();
    if (!IsName(buffer.name) || buffer.name.find('.') != std::string::npos) {
      node.At("name").Fail("is no name of letters, digits and '_': " + Quote(buffer.name));
    }
    for (const BufferRecipe& other : recipe_.buffers) {
      if (other.name == buffer.name) {
        node.At("name").Fail("is the name of another buffer: " + Quote(buffer.name));
      }
    }
    buffer.bytes = node.At("bytes").Value();
    if (node.Has("role")) {
      const std::string role = node.At("role").Text();
      if (role != "workspace" && role != "lock") {
        node.At("role").Fail("is neither \"workspace\" nor \"lock\"");
      }
      buffer.role = role == "lock" ? BufferSpec::Role::kLock : BufferSpec::Role::kWorkspace;
    }
    recipe_.buffers.push_back(std::move(buffer));
  }

  unsigned ReadParts(const Node& node) const {
    unsigned parts = 0;
    for (const Node& element : node.Elements(kernels::kParts)) {
      parts |= kernels::Bit(ReadPart(element, element.Text()));
    }
    return parts;
  }
  static Part ReadPart(const Node& node, const std::string& name) {
    for (std::size_t i = 0; i < kPartNames.size(); ++i) {
      if (name == kPartNames[i]) {
        return static_cast<Part>(i);
      }
    }
    node.Fail("names no part of the stage: " + Quote(name) + "; use w13, silu, w2 or output");
  }

  StepRecipe ReadStep(const Node& node) {
    node.RequireObject({"computes", "writes", "order", "launches"});
    StepRecipe step;
    step.parts.computes = ReadParts(node.At("computes"));
    if (step.parts.computes == 0) {
      node.At("computes").Fail("is empty");
    }
    step.parts.writes = node.Has("writes") ? ReadParts(node.At("writes")) : step.parts.computes;
    if (node.Has("order")) {
      const Node orders = node.At("order");
      orders.RequireObject({"w13", "silu", "w2", "output"});
      for (const char* name : kPartNames) {
        if (orders.Has(name)) {
          const Part part = ReadPart(orders, name);
          if ((step.parts.computes & kernels::Bit(part)) == 0) {
            orders.Fail("speaks of " + std::string(name) + ", which the step does not compute");
          }
          step.orders[part] = ReadOrder(orders.At(name), part);
        }
      }
    }
    step.launches = ReadLaunches(node.At("launches"));
    if (step.launches.empty()) {
      node.At("launches").Fail("is empty");
    }
    return step;
  }

  static OrderRecipe ReadOrder(const Node& node, Part part) {
    const bool is_gemm = part == Part::kW13 || part == Part::kW2;
    OrderRecipe order;
    node.RequireObject({"kind", "splits", "chunk", "k_interleave", "interleave_width"});
    const std::string kind = node.At("kind").Text();
    if (is_gemm ? kind == "mma" || kind == "wmma" : kind == "contract") {
      order.kind = DeclaredOrder::Kind::kMma;
    } else if (is_gemm && kind == "fma") {
      order.kind = DeclaredOrder::Kind::kFma;
    } else {
      node.At("kind").Fail(is_gemm ? "is neither \"mma\" nor \"wmma\" nor \"fma\""
                                   : "is not \"contract\"");
    }
    order.is_wmma = kind == "wmma";
    order.splits = node.ValueOr("splits");
    order.chunk = node.ValueOr("chunk");
    order.interleave = node.ValueOr("k_interleave");
    order.width = node.ValueOr("interleave_width");
    return order;
  }

  std::vector<LaunchRecipe> ReadLaunches(const Node& node) {
    std::vector<LaunchRecipe> launches;
    for (const Node& element : node.Elements(kMostLaunches)) {
      launches.push_back(ReadLaunch(element));
    }
    launches_ += launches.size();
    if (launches_ > kMostLaunches) {
      node.Fail("brings the launches to more than " + std::to_string(kMostLaunches));
    }
    return launches;
  }

  LaunchRecipe ReadLaunch(const Node& node) {
    node.RequireObject(
        {"comment", "module", "kernel", "grid", "block", "shared", "arguments", "for", "when"});
    LaunchRecipe launch;
    launch.where = node.where();
    if (node.Has("module")) {
      launch.module = FileName(node.At("module").Text());
    } else if (recipe_.modules.size() == 1) {
      launch.module = FileName(recipe_.modules.front());
    } else {
      node.Fail("lacks the member 'module', and there are several");
    }
    if (std::none_of(recipe_.modules.begin(), recipe_.modules.end(),
                     [&](const std::string& path) { return FileName(path) == launch.module; })) {
      node.Fail("runs a kernel of " + Quote(launch.module) + ", which is not among the modules");
    }
    launch.kernel = node.At("kernel").Text();
    if (!IsName(launch.kernel)) {
      node.At("kernel").Fail("is no name of an entry: " + Quote(launch.kernel));
    }
    launch.grid = ReadDimension(node.At("grid"));
    launch.block = ReadDimension(node.At("block"));
    launch.shared = node.ValueOr("shared");
    launch.when = node.ValueOr("when");
    for (const Node& argument : node.At("arguments").Elements(kMostArguments)) {
      launch.arguments.push_back(ReadField(argument, 0));
    }
    if (node.Has("for")) {
      const Node loop = node.At("for");
      loop.RequireObject({"symbol", "count"});
      launch.loop_symbol = loop.At("symbol").Text();
      if (!IsName(launch.loop_symbol) || SymbolsOf(Case(), 0).contains(launch.loop_symbol)) {
        loop.At("symbol").Fail("is no free name: " + Quote(launch.loop_symbol));
      }
      launch.loop_count = loop.At("count").Value();
    }
    return launch;
  }

  Node root_;
  Recipe recipe_;
  std::size_t launches_ = 0;
};

}  // namespace

Recipe ReadRecipe(const std::string& file, std::string_view text) {
  const Json json = ParseJson(file, text);
  return Reader(file, json).Read();
}

}  // namespace voltcheck::recipe
