#include "tools/arguments.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <sstream>
#include <utility>

#include "fixtures/mapped_file.h"

namespace voltcheck::tools {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kLargestConfig = std::size_t{1} << 20;

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The keys of a configuration with their lines, section names in front: the library tells no line
// numbers.
std::vector<std::pair<std::string, int>> ConfigKeys(const std::string& path,
                                                    const std::string& text) {
  std::vector<std::pair<std::string, int>> keys;
  std::istringstream lines(text);
  std::string section;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = Trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    if (line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2) + ".";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) {
      throw BadInput(path + ":" + std::to_string(number), Quote(line) + " has no '='",
                     "write key = value");
    }
    keys.emplace_back(section + Trimmed(line.substr(0, equals)), number);
  }
  return keys;
}

}  // namespace

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

void Arguments::HiddenValue(const std::string& name) {
  hidden_.add_options()(name.c_str(), po::value<std::string>(), "");
}

void Arguments::ConfigFile() {
  Value("config", "",
        "file with any of these options, 'key = value' a line; see docs/judgement.md");
}

namespace {

/// Boost puts the value that it complains about in the place of %value% and the like, again and
/// again where the value holds such a word itself: it would never come to an end.
void RefusePlaceholders(const std::string& where, const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const char* name : {"%value%", "%option%", "%canonical_option%", "%prefix%"}) {
    if (lower.find(name) != std::string::npos) {
      throw BadInput(where, "contains " + std::string(name), "no option takes such a value");
    }
  }
}

}  // namespace

void Arguments::StoreConfig(const std::string& path, const std::string& command) {
  const fixtures::MappedFile file(path);
  if (file.bytes().size() > kLargestConfig) {
    throw BadInput(path, "is larger than 1 MB", "name a configuration file");
  }
  const std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  RefusePlaceholders(path, text);
  std::map<std::string, std::string> places;
  for (const auto& [key, line] : ConfigKeys(path, text)) {
    const std::string place = path + ":" + std::to_string(line);
    if (hidden_.find_nothrow(key, false) == nullptr &&
        visible_.find_nothrow(key, false) == nullptr) {
      throw BadInput(place, "unknown key " + Quote(key), "see '" + command + " --help'");
    }
    if (key == "config" || key == "help") {
      throw BadInput(place, key + " cannot stand in a configuration", "remove the line");
    }
    places[key] = place;
  }
  po::options_description all;
  all.add(visible_).add(hidden_);
  std::istringstream stream(text);
  const po::parsed_options parsed = po::parse_config_file(stream, all);
  // What the command line has set stays; options that may be repeated add up.
  for (const auto& option : parsed.options) {
    const auto it = values_.find(option.string_key);
    if (it == values_.end() || it->second.defaulted()) {
      config_places_[option.string_key] = places[option.string_key];
    }
  }
  po::store(parsed, values_);
}

bool Arguments::Parse(const Words& words) {
  po::options_description all;
  all.add(visible_).add(hidden_);
  const std::string command = "voltcheck " + usage_.substr(0, usage_.find(' '));
  for (const std::string& word : words) {
    RefusePlaceholders(command, word);
  }
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
    if (values_.contains("config")) {
      StoreConfig(values_["config"].as<std::string>(), command);
    }
    po::notify(values_);
  } catch (const po::error& error) {
    throw BadInput(command, error.what(), "see '" + command + " --help'");
  }
  return true;
}

bool Arguments::Has(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) {
    return false;
  }
  const bool* flag = boost::any_cast<bool>(&it->second.value());
  return flag == nullptr || *flag;
}

std::string Arguments::Text(const std::string& name) const {
  return Has(name) ? values_[name].as<std::string>() : std::string();
}

std::vector<std::string> Arguments::Texts(const char* name) const {
  return Has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::string Arguments::Where(const std::string& name) const {
  const auto it = config_places_.find(name);
  return it == config_places_.end() ? "--" + name : it->second + ": " + name;
}

std::uint64_t Arguments::Number(const char* name, std::uint64_t most) const {
  return ParseUnsigned(Where(name), Text(name), most);
}

}  // namespace voltcheck::tools
