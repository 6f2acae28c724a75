#include "verify/in_child.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

constexpr rlim_t kCpuSeconds = 60;
// First byte of what the child sends: what follows is the result, or the line of an Error.
constexpr char kResult = 'R';
constexpr char kError = 'E';

void SendAll(int pipe, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) {
      return;
    }
    sent += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

[[noreturn]] void Child(int pipe, const std::function<std::string()>& work) {
  const rlimit cpu{kCpuSeconds, kCpuSeconds};
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_CORE, &none);
  std::string message;
  try {
    message = kResult + work();
  } catch (const Error& error) {
    message = kError + std::string(error.what());
  } catch (const std::exception& error) {
    message = kError + std::string("cannot be read: ") + error.what();
  }
  SendAll(pipe, message);
  _exit(0);  // no destructors or exit handlers of the parent's
}

std::string ReceiveAll(int pipe) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t n = read(pipe, part.data(), part.size());
    if (n > 0) {
      text.append(part.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

std::string InChild(const std::string& path, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (pipe(ends.data()) != 0) {
    throw Error(ExitStatus::kUnavailable, path + ": cannot make a pipe to read it safely");
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    Child(ends[1], work);
  }
  close(ends[1]);
  const std::string message = child < 0 ? std::string() : ReceiveAll(ends[0]);
  close(ends[0]);
  if (child < 0) {
    throw Error(ExitStatus::kUnavailable, path + ": cannot start a process to read it safely");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || message.empty()) {
    throw BadInput(path, "crashes the HDF5 library or never ends",
                   "make it again or name another file");
  }
  if (message.front() == kError) {
    throw Error(ExitStatus::kBadInput, message.substr(1));
  }
  return message.substr(1);
}

}  // namespace voltcheck::verify
