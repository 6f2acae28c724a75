#ifndef VOLTCHECK_TOOLS_ARGUMENTS_H_
#define VOLTCHECK_TOOLS_ARGUMENTS_H_

#include <boost/program_options.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tools/command.h"

namespace voltcheck::tools {

/// The options of one subcommand. Every wrong use throws Error (status 2) with one line.
class Arguments {
 public:
  /// `usage` is the line after "usage: voltcheck"; `description` stands below it in the help.
  Arguments(std::string usage, std::string description);

  void Flag(const char* name, const char* help);
  void Value(const char* name, const std::string& fallback, const char* help);
  /// Given any number of times.
  void Values(const char* name, const char* help);
  /// Words without an option; at most `most`.
  void Positional(const char* name, int most);

  /// Like Value, without a line in the help: for families of options that the description names.
  void HiddenValue(const std::string& name);
  /// Adds --config: a file in Boost.Program_options' syntax whose keys are the other options, which
  /// the command line overrides.
  void ConfigFile();

  /// False when `--help` was asked for, which prints the help.
  bool Parse(const Words& words);

  bool Has(const std::string& name) const;
  std::string Text(const std::string& name) const;
  std::vector<std::string> Texts(const char* name) const;
  /// How an error line calls an option: "--policy", or "gate.cfg:3: policy" when it came from
  /// there.
  std::string Where(const std::string& name) const;
  std::uint64_t Number(const char* name,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  void StoreConfig(const std::string& path, const std::string& command);

  std::string usage_;
  std::string description_;
  boost::program_options::options_description visible_{"options"};
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
  std::map<std::string, std::string> config_places_;  ///< option -> "FILE:LINE"
};

/// A whole number without sign; throws Error naming `where` otherwise.
std::uint64_t ParseUnsigned(const std::string& where, const std::string& text, std::uint64_t most);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_ARGUMENTS_H_
