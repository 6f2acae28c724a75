#include "verify/filter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "fixtures/case/keys.h"

namespace voltcheck::verify {
namespace {

struct Item {
  const DescriptorKey* key;
  std::vector<std::string> values;
};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::vector<Item> Parse(std::string_view filter) {
  std::vector<Item> items;
  for (const std::string& text : Split(filter, ',')) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw BadInput("filter " + Quote(filter), "item " + Quote(text) + " has no '='",
                     "write key=value,key=value");
    }
    items.push_back(
        {&FindDescriptorKey(text.substr(0, equals)), Split(text.substr(equals + 1), '|')});
  }
  return items;
}

bool Fits(const std::string& value, const std::string& pattern) {
  return pattern.ends_with('*') ? value.starts_with(pattern.substr(0, pattern.size() - 1))
                                : value == pattern;
}

}  // namespace

bool FitsFilter(const Case& c, std::string_view filter) {
  const std::vector<Item> items = Parse(filter);
  return std::all_of(items.begin(), items.end(), [&](const Item& item) {
    const std::string value = item.key->print(c);
    return std::any_of(item.values.begin(), item.values.end(),
                       [&](const std::string& pattern) { return Fits(value, pattern); });
  });
}

bool AllowsSkip(const Case& c, std::string_view reason, const std::vector<std::string>& filters) {
  return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
    return filter == kDeclinedFilter ? reason.starts_with(kDeclinedPrefix) : FitsFilter(c, filter);
  });
}

void CheckFilter(std::string_view filter) { Parse(filter); }

}  // namespace voltcheck::verify
