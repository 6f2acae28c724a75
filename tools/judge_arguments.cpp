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

void AddJudgeOptions(Arguments& arguments) {
  arguments.ConfigFile();
  arguments.Value("policy", "all",
                  "tests that decide: bits, budget, reference or all; every test is recorded");
  arguments.Value("order", "declared",
                  "declared: the kernels sum as the contract says, so their bits are predicted; "
                  "undeclared: judged by a budget for any order");
  arguments.Values("allow-skip", "cases that may be skipped, as key=value,...; may be repeated");
  arguments.Values("allow-unused", "entry of --kernels that no case needs to run; may be repeated");
  arguments.Flag("head-fp64", "logits: compute the head in fp64 instead of fp32");
  arguments.Flag("breakdown", "record the figures of every token, expert and tile, /breakdown");
  for (const verify::Stage stage : verify::kStages) {
    for (const std::string_view limit : verify::LimitNames()) {
      arguments.HiddenValue(LimitOption(stage, limit));
    }
  }
}

verify::JudgeOptions ReadJudgeOptions(const Arguments& arguments) {
  verify::JudgeOptions options;
  options.policy = Located(arguments, "policy", verify::ParsePolicy);
  options.order = Located(arguments, "order", verify::ParseOrder);
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
    try {
      verify::CheckFilter(filter);
    } catch (const Error& error) {
      throw Error(error.status(), arguments.Where("allow-skip") + ": " + error.what());
    }
  }
  return filters;
}

}  // namespace voltcheck::tools
