#include "kernels/plugin/foreign_call.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <exception>

namespace voltcheck::plugin {
namespace {

/// Until the process is killed, if giving up the call did not end it (a lock that it holds).
constexpr unsigned kSecondsToGiveUp = 20;

sigjmp_buf way_out;
volatile std::sig_atomic_t is_armed = 0;

void GiveUp(int /*signal*/) {
  if (is_armed != 0) {
    is_armed = 0;
    std::signal(SIGALRM, SIG_DFL);
    alarm(kSecondsToGiveUp);
    siglongjmp(way_out, 1);
  }
}

void Disarm() {
  is_armed = 0;
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace

std::string CallForeign(int seconds, const std::function<void()>& call) {
  if (sigsetjmp(way_out, 1) != 0) {
    return "did not return within " + std::to_string(seconds) + " s";
  }
  std::signal(SIGALRM, GiveUp);
  is_armed = 1;
  alarm(static_cast<unsigned>(seconds));
  std::string trouble;
  try {
    call();
  } catch (const std::exception& error) {
    trouble = std::string("threw an exception: ") + error.what();
  } catch (...) {
    trouble = "threw an exception";
  }
  Disarm();
  return trouble;
}

DeviceTime::DeviceTime() : left_(is_armed != 0 ? alarm(0) : 0) {}
DeviceTime::~DeviceTime() {
  if (left_ != 0) {
    alarm(left_);
  }
}

std::string EndsInChild(int seconds, const std::function<void()>& call) {
  constexpr int kThrew = 101;
  const pid_t child = fork();
  if (child < 0) {
    return "";  // nothing can be said
  }
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(static_cast<unsigned>(seconds));
    try {
      call();
    } catch (...) {
      _exit(kThrew);
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM
               ? "does not return within " + std::to_string(seconds) + " s"
               : std::string("ends with '") + strsignal(WTERMSIG(status)) + "'";
  }
  if (WEXITSTATUS(status) == kThrew) {
    return "throws an exception";
  }
  return WEXITSTATUS(status) == 0
             ? ""
             : "ends the process with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace voltcheck::plugin
