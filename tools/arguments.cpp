#include "tools/arguments.h"

#include <charconv>
#include <iostream>

namespace voltcheck::tools {

namespace po = boost::program_options;

std::uint64_t ParseUnsigned(const std::string& where, const std::string& text, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || value > most) {
    throw BadInput(where, "cannot be '" + text + "'",
                   "give a whole number, 0.." + std::to_string(most));
  }
  return value;
}

Arguments::Arguments(std::string usage, std::string description)
    : usage_(std::move(usage)), description_(std::move(description)) {
  visible_.add_options()("help,h", "print this help");
}

void Arguments::Flag(const char* name, const char* help) {
  visible_.add_options()(name, po::bool_switch(), help);
}

void Arguments::Value(const char* name, const std::string& fallback, const char* help) {
  auto* value = po::value<std::string>();
  if (!fallback.empty()) {
    value->default_value(fallback);
  }
  visible_.add_options()(name, value, help);
}

void Arguments::Values(const char* name, const char* help) {
  visible_.add_options()(name, po::value<std::vector<std::string>>()->composing(), help);
}

void Arguments::Positional(const char* name, int most) {
  hidden_.add_options()(name, po::value<std::vector<std::string>>());
  positional_.add(name, most);
}

bool Arguments::Parse(const Words& words) {
  po::options_description all;
  all.add(visible_).add(hidden_);
  const std::string command = "voltcheck " + usage_.substr(0, usage_.find(' '));
  try {
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::parsed_options parsed =
        po::command_line_parser(words).options(all).positional(positional_).style(style).run();
    for (const auto& option : parsed.options) {
      if (option.string_key == "help") {
        std::cout << "usage: voltcheck " << usage_ << "\n\n" << description_ << "\n\n" << visible_;
        return false;
      }
    }
    po::store(parsed, values_);
    po::notify(values_);
  } catch (const po::error& error) {
    throw BadInput(command, error.what(), "see '" + command + " --help'");
  }
  return true;
}

bool Arguments::Has(const char* name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) {
    return false;
  }
  const bool* flag = boost::any_cast<bool>(&it->second.value());
  return flag == nullptr || *flag;
}

std::string Arguments::Text(const char* name) const {
  return Has(name) ? values_[name].as<std::string>() : std::string();
}

std::vector<std::string> Arguments::Texts(const char* name) const {
  return Has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::uint64_t Arguments::Number(const char* name, std::uint64_t most) const {
  return ParseUnsigned(std::string("--") + name, Text(name), most);
}

}  // namespace voltcheck::tools
