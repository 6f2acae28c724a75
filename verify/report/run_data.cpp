#include "verify/report/run_data.h"

#include <sstream>

namespace voltcheck::report {
namespace {

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

// Whether a shell takes the word as it stands: options come from the file, and people run the line.
bool IsPlain(const std::string& word) {
  return word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "-_.,:/=+@%") == std::string::npos;
}

// The plugin or recipe of a run, out of "... --recipe NAME@HASH ...".
std::string Implementation(const std::string& arguments) {
  for (const char* option : {" --plugin ", " --recipe "}) {
    const std::size_t at = arguments.find(option);
    if (at != std::string::npos) {
      const std::size_t name = at + std::string_view(option).size();
      return option + ShellQuoted(arguments.substr(name, arguments.find('@', name) - name));
    }
  }
  return "";
}

}  // namespace

std::string RunData::Attribute(const std::string& name) const {
  const auto it = attributes.find(name);
  return it == attributes.end() ? "" : it->second;
}

std::string RunData::Reproduction(const std::string& descriptor) const {
  std::string line = "voltcheck replay --case " + ShellQuoted(descriptor);
  std::string options = Attribute("options");
  if (options.empty()) {
    // A file from before there were options: what follows --device is how cases were run and
    // judged.
    const std::string arguments = Attribute("arguments");
    const std::size_t device = arguments.find("--device ");
    options = device == std::string::npos ? "" : arguments.substr(device);
  }
  // --draws and --allow-skip say nothing about one case.
  bool skips = false;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    skips = word.starts_with("--") ? word == "--draws" || word == "--allow-skip" : skips;
    if (!skips) {
      line += " " + (IsPlain(word) ? word : ShellQuoted(word));
    }
  }
  for (const std::string& file : kernel_files) {
    line += " --kernels " + ShellQuoted(file);
  }
  return line + Implementation(Attribute("arguments"));
}

}  // namespace voltcheck::report
