#include "tools/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "fixtures/case/error.h"
#include "fixtures/shrunk_file.h"

namespace voltcheck::tools {
namespace {

// Constant-initialised: a signal may come before any constructor has run.
constinit std::atomic<bool> g_may_save{false};  // a guard lives, or lived
constinit std::atomic<bool> g_requested{false};
constinit std::atomic<pid_t> g_process{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void EndAtOnce() {
  // A child that was forked to read a file or to run a case leaves the talking to its parent.
  if (getpid() == g_process.load()) {
    fixtures::RemoveTemporaries();
    constexpr std::string_view kLine = "voltcheck: interrupted\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  }
  _exit(static_cast<int>(ExitStatus::kInterrupted));
}

extern "C" void OnSignal(int /*signal*/) {
  if (!g_may_save.load() || g_requested.exchange(true)) {
    EndAtOnce();
  }
}

}  // namespace

void HandleInterrupts() {
  g_process = getpid();
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::InterruptGuard() { g_may_save = true; }

InterruptGuard::~InterruptGuard() = default;

bool InterruptGuard::Requested() { return g_requested; }

}  // namespace voltcheck::tools
