#include "tools/judge_arguments.h"

#include <charconv>
#include <cmath>

#include "verify/filter.h"

namespace voltcheck::tools {
namespace {

std::string LimitOption(verify::Stage stage, std::string_view limit) {
  return std::string(verify::ToString(stage)) + "." + std::string(limit);
}

// A limit is a positive number; 0 would let no rounding pass.
double ParseLimit(const std::string& where, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || !(value > 0) ||
      !std::isfinite(value)) {
    throw BadInput(where, "cannot be " + Quote(text), "give a number above 0");
  }
  return value;
}

// Runs `parse` so that its complaint names where the option came from.
template <typename Parse>
auto Located(const Arguments& arguments, const char* name, Parse parse) {
  try {
    return parse(arguments.Text(name));
  } catch (const Error& error) {
    const std::string line = error.what();
    const std::size_t colon = line.find(": ");
    throw Error(error.status(), arguments.Where(name) + line.substr(std::min(colon, line.size())));
  }
}

}  // namespace

void AddJudgeOptions(Arguments& arguments, bool order_may_be_found) {
  arguments.ConfigFile();
  arguments.Value("policy", "all",
                  "tests that decide: bits, budget, reference or all; every test is recorded");
  arguments.Value(
      "order", order_may_be_found ? "auto" : "declared",
      order_may_be_found
          ? "auto: declared when a tactic is named or found that gives these bits, else "
            "undeclared, a budget for any order"
          : "declared: the kernels sum as the contract says, so their bits are "
            "predicted; undeclared: judged by a budget for any order");
  arguments.Values("allow-skip",
                   "cases that may be skipped, as key=value,..., or 'declined': those that a "
                   "plugin or recipe does not compute; may be repeated");
  arguments.Values("allow-unused", "entry of --kernels that no case needs to run; may be repeated");
  arguments.Flag("head-fp64", "logits: compute the head in fp64 instead of fp32");
  arguments.Flag("breakdown", "record the figures of every token, expert and tile, /breakdown");
  for (const verify::Stage stage : verify::kStages) {
    for (const std::string_view limit : verify::LimitNames()) {
      arguments.HiddenValue(LimitOption(stage, limit));
    }
  }
}

verify::JudgeOptions ReadJudgeOptions(const Arguments& arguments, bool order_may_be_found) {
  verify::JudgeOptions options;
  options.policy = Located(arguments, "policy", verify::ParsePolicy);
  if (!order_may_be_found || arguments.Text("order") != "auto") {
    options.order = Located(arguments, "order", verify::ParseOrder);
  }
  options.head_fp64 = arguments.Has("head-fp64");
  options.breakdowns = arguments.Has("breakdown");
  options.locate = true;
  for (const verify::Stage stage : verify::kStages) {
    for (const std::string_view limit : verify::LimitNames()) {
      const std::string name = LimitOption(stage, limit);
      if (arguments.Has(name)) {
        *verify::FindLimit(options.at(stage), limit) =
            ParseLimit(arguments.Where(name), arguments.Text(name));
      }
    }
  }
  return options;
}

std::vector<std::string> ReadAllowedSkips(const Arguments& arguments) {
  std::vector<std::string> filters = arguments.Texts("allow-skip");
  for (const std::string& filter : filters) {
    if (filter == verify::kDeclinedFilter) {
      continue;
    }
    try {
      verify::CheckFilter(filter);
    } catch (const Error& error) {
      throw Error(error.status(), arguments.Where("allow-skip") + ": " + error.what());
    }
  }
  return filters;
}

}  // namespace voltcheck::tools
