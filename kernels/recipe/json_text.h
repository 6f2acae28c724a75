#ifndef VOLTCHECK_KERNELS_RECIPE_JSON_TEXT_H_
#define VOLTCHECK_KERNELS_RECIPE_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace voltcheck::recipe {

/// Parses JSON of a stranger: at most 1 MiB of text, 16 levels, 20,000 values, strings of 4,096
/// characters, no key twice in an object. Throws Error (status 2) that begins with `where`.
nlohmann::json ParseJson(const std::string& where, std::string_view text);

}  // namespace voltcheck::recipe

#endif  // VOLTCHECK_KERNELS_RECIPE_JSON_TEXT_H_
