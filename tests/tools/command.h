#ifndef VOLTCHECK_TESTS_TOOLS_COMMAND_H_
#define VOLTCHECK_TESTS_TOOLS_COMMAND_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fixtures/case/temporary_folder.h"

namespace voltcheck::tools {

inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// What a command line did.
struct Outcome {
  int status = -1;  ///< exit status; 128 + signal when it was killed
  std::string out;
  std::string err;
};

inline std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

/// Runs the built `voltcheck` in a folder of its own per test. Every test of the command line
/// starts here.
class CommandTest : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string Path(const std::string& name) const { return folder_ / name; }

  /// `prefix` is shell text before the command, such as "ulimit -f 8;".
  Outcome Run(const std::vector<std::string>& words, const std::string& prefix = "") const {
    std::string command =
        "cd " + Quoted(folder().string()) + "; " + prefix + " exec " + Quoted(VOLTCHECK_BINARY);
    for (const std::string& word : words) {
      command += " " + Quoted(word);
    }
    command +=
        " >" + Quoted(Path("stdout.txt")) + " 2>" + Quoted(Path("stderr.txt")) + " </dev/null";
    const int raw = std::system(command.c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    outcome.out = ReadText(Path("stdout.txt"));
    outcome.err = ReadText(Path("stderr.txt"));
    return outcome;
  }

  /// Checks a refusal: the status, exactly one line on standard error, and that it says `what`.
  static void ExpectRefusal(const Outcome& outcome, int status, const std::string& what) {
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("voltcheck: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err << "does not say: " << what;
  }

 private:
  TemporaryFolder folder_;
};

/// The fixture of real weights that is shipped.
inline std::filesystem::path ShippedFixture() {
  return std::filesystem::path(VOLTCHECK_SOURCE_DIR) / "fixtures/data/smollm2_l29_dense_cut.h5";
}

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TESTS_TOOLS_COMMAND_H_
