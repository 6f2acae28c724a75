#include "verify/in_child.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

// A large file takes its time and memory; one that makes the library loop or grow must end. What
// counts is what the file takes on the disk: a hole of a terabyte is no reason to wait for days.
constexpr rlim_t kCpuSeconds = 60;
constexpr rlim_t kBytesPerSecond = 500'000;
constexpr rlim_t kMemory = rlim_t{3} << 30;
constexpr rlim_t kMemoryPerByte = 8;

rlim_t BytesOnDisk(const std::string& path) {
  constexpr rlim_t kBlock = 512;  // of st_blocks, whatever the file system's own
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? static_cast<rlim_t>(file.st_blocks) * kBlock : 0;
}

void Limit(int resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

// What the child sends are frames: a kind, the length of what follows, and that.
enum class Kind : std::uint8_t { kPart, kError, kEnd };
struct FrameHead {
  Kind kind = Kind::kEnd;
  std::uint32_t length = 0;
};
constexpr std::size_t kPartBytes = 1U << 16U;

// False when nobody listens any more.
bool SendAll(int pipe, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(pipe, at, bytes);
    if (n < 0 && errno != EINTR) {
      return false;
    }
    at += n > 0 ? n : 0;
    bytes -= n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return true;
}

void SendFrame(int pipe, Kind kind, std::string_view text) {
  FrameHead head;
  head.kind = kind;
  head.length = static_cast<std::uint32_t>(text.size());
  if (!SendAll(pipe, &head, sizeof(head)) || !SendAll(pipe, text.data(), text.size())) {
    _exit(1);
  }
}

// Collects small parts to frames of some length.
class PartSender {
 public:
  explicit PartSender(int pipe) : pipe_(pipe) {}
  void Send(std::string_view part) {
    while (!part.empty()) {
      const std::string_view now = part.substr(0, kPartBytes - buffer_.size());
      buffer_ += now;
      part.remove_prefix(now.size());
      if (buffer_.size() == kPartBytes) {
        Flush();
      }
    }
  }
  void Flush() {
    SendFrame(pipe_, Kind::kPart, buffer_);
    buffer_.clear();
  }

 private:
  int pipe_;
  std::string buffer_;
};

[[noreturn]] void Child(int pipe, const std::string& path,
                        const std::function<void(const ChildSink&)>& work) {
  const rlim_t bytes = BytesOnDisk(path);
  Limit(RLIMIT_CPU, kCpuSeconds + bytes / kBytesPerSecond);
  Limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer takes terabytes that it does not use
  if (bytes > 0) {  // a file: other work, such as asking the GPU's driver, is nobody's trap
    Limit(RLIMIT_DATA, kMemory + bytes * kMemoryPerByte);
  }
#endif
  signal(SIGPIPE, SIG_IGN);
  try {
    PartSender sender(pipe);
    work([&sender](std::string_view part) { sender.Send(part); });
    sender.Flush();
    SendFrame(pipe, Kind::kEnd, "");
  } catch (const Error& error) {
    SendFrame(pipe, Kind::kError, error.what());
  } catch (const std::bad_alloc&) {
    SendFrame(pipe, Kind::kError,
              BadInput(path, "takes more memory than a file of its size should",
                       "make it again or name another file")
                  .what());
  } catch (const std::exception& error) {
    SendFrame(pipe, Kind::kError,
              BadInput(path, std::string("cannot be read (") + error.what() + ")", "make it again")
                  .what());
  }
  _exit(0);  // no destructors or exit handlers of the parent's
}

// False at the end of the pipe.
bool ReceiveAll(int pipe, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = read(pipe, at, bytes);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return false;
    }
    at += n > 0 ? n : 0;
    bytes -= n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return true;
}

// What ended the child's frames; kPart when the pipe ended first.
struct Ending {
  Kind kind = Kind::kPart;
  std::string error;
};

Ending Receive(int pipe, const ChildSink& sink) {
  std::string text;
  FrameHead head;
  while (ReceiveAll(pipe, &head, sizeof(head)) && head.length <= kPartBytes) {
    text.resize(head.length);
    if (!ReceiveAll(pipe, text.data(), text.size())) {
      break;
    }
    if (head.kind != Kind::kPart) {
      return {head.kind, text};
    }
    sink(text);
  }
  return {};
}

// The child's end of the pipe, the parent's and the child itself, which all go in any case.
class ChildProcess {
 public:
  ChildProcess(const std::string& path, const std::function<void(const ChildSink&)>& work) {
    std::array<int, 2> ends{};
    std::fflush(nullptr);
    if (pipe(ends.data()) != 0) {
      throw Error(ExitStatus::kUnavailable, path + ": cannot make a pipe to read it safely");
    }
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      Child(ends[1], path, work);
    }
    close(ends[1]);
    pipe_ = ends[0];
    if (child_ < 0) {
      close(pipe_);
      throw Error(ExitStatus::kUnavailable, path + ": cannot start a process to read it safely");
    }
  }
  ~ChildProcess() { Wait(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pipe_end() const { return pipe_; }
  /// Whether it ended as it should. A child that still writes is ended by its closed pipe.
  bool Wait() {
    if (child_ > 0) {
      close(pipe_);
      int status = 0;
      while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
      child_ = -1;
      ended_well_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return ended_well_;
  }

 private:
  pid_t child_ = -1;
  int pipe_ = -1;
  bool ended_well_ = false;
};

}  // namespace

void StreamFromChild(const std::string& path, const std::function<void(const ChildSink&)>& work,
                     const ChildSink& sink) {
  ChildProcess child(path, work);
  const Ending ending = Receive(child.pipe_end(), sink);
  const bool ended_well = child.Wait();
  if (ending.kind == Kind::kError) {
    throw Error(ExitStatus::kBadInput, ending.error);
  }
  if (!ended_well || ending.kind != Kind::kEnd) {
    throw BadInput(path, "crashes the HDF5 library or never ends",
                   "make it again or name another file");
  }
}

std::string InChild(const std::string& path, const std::function<std::string()>& work) {
  std::string result;
  StreamFromChild(
      path, [&work](const ChildSink& sink) { sink(work()); },
      [&result](std::string_view part) { result += part; });
  return result;
}

}  // namespace voltcheck::verify
