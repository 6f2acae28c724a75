#include "tools/interrupt.h"

#include <csignal>

namespace voltcheck::tools {
namespace {

volatile std::sig_atomic_t g_requested = 0;

extern "C" void OnSignal(int /*signal*/) { g_requested = 1; }

void Handle(int signal) {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_requested = 0;
  Handle(SIGINT);
  Handle(SIGTERM);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::Requested() { return g_requested != 0; }

}  // namespace voltcheck::tools
