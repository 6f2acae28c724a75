#ifndef VOLTCHECK_TESTS_SCALE_SWEEP_TEST_H_
#define VOLTCHECK_TESTS_SCALE_SWEEP_TEST_H_

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command.h"

namespace voltcheck::tools {

/// Sweeps of small cases, in processes that can be killed.
class SweepTest : public CommandTest {
 protected:
  static constexpr int kCases = 48;
  static std::vector<std::string> SweepWords(const std::string& out) {
    return {"sweep", "--grid", "h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..16",
            "--out", out,      "--quiet"};
  }
  static std::vector<std::string> With(std::vector<std::string> words,
                                       const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Starts a program with its output in files of the folder.
  pid_t Start(const std::string& program, const std::vector<std::string>& words) const {
    const pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);  // so that a launcher and what it started can be killed together
      if (chdir(folder().c_str()) != 0) {
        _exit(127);
      }
      const int out = open("stdout.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
      const int err = open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
      const int in = open("/dev/null", O_RDONLY);
      dup2(in, 0);
      dup2(out, 1);
      dup2(err, 2);
      std::vector<char*> argv{const_cast<char*>(program.c_str())};
      for (const std::string& word : words) {
        argv.push_back(const_cast<char*>(word.c_str()));
      }
      argv.push_back(nullptr);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    return child;
  }

  /// Whether the process has not ended; it stays to be waited for.
  static bool Alive(pid_t child) {
    siginfo_t info = {};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  }

  static int Wait(pid_t child) {
    int raw = 0;
    waitpid(child, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }

  /// The run file of one process that nobody disturbed.
  std::string Undisturbed() const {
    const Outcome outcome = Run(SweepWords("whole.h5"));
    EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    return ReadText(Path("whole.h5"));
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder())) {
      names.push_back(file.path().filename().string());
    }
    return names;
  }
};

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TESTS_SCALE_SWEEP_TEST_H_
