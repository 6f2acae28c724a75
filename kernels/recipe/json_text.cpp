#include "kernels/recipe/json_text.h"

#include <vector>

#include "fixtures/case/error.h"

namespace voltcheck::recipe {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostValues = 20000;
constexpr std::size_t kLongestText = 4096;

/// Builds the value while the limits hold.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::string why;  ///< what is wrong; empty: nothing

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return IsShort(value) && Add(value); }
  bool binary(binary_t&) override { return Refuse("holds binary data"); }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (!IsShort(name)) {
      return false;
    }
    if (open_.back()->contains(name)) {
      return Refuse("has the key " + Quote(name) + " twice in one object");
    }
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Refuse("is no JSON at byte " + std::to_string(position));
  }

 private:
  bool Refuse(const std::string& what) {
    why = why.empty() ? what : why;
    return false;
  }
  bool IsShort(const std::string& text) {
    return text.size() <= kLongestText ||
           Refuse("has a string of " + std::to_string(text.size()) + " characters");
  }
  /// Puts a value where the next one is due; null when there are too many.
  Json* Place(Json value) {
    if (++values_ > kMostValues) {
      Refuse("has more than " + std::to_string(kMostValues) + " values");
      return nullptr;
    }
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool Add(Json value) { return Place(std::move(value)) != nullptr; }
  bool Open(Json value) {
    if (open_.size() == kDeepest) {
      return Refuse("is nested deeper than " + std::to_string(kDeepest));
    }
    Json* place = Place(std::move(value));
    if (place == nullptr) {
      return false;
    }
    open_.push_back(place);
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  // An element keeps its address while it is open: its parent grows only after it has closed.
  std::vector<Json*> open_;
  std::string key_;
  std::size_t values_ = 0;
};

}  // namespace

Json ParseJson(const std::string& where, std::string_view text) {
  if (text.size() > kMostBytes) {
    throw BadInput(where, "has " + std::to_string(text.size()) + " bytes", "at most 1 MiB");
  }
  Builder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder) || !builder.why.empty()) {
    throw BadInput(where, builder.why.empty() ? "is no JSON" : builder.why, "see docs/recipe.md");
  }
  return std::move(builder.root);
}

}  // namespace voltcheck::recipe
