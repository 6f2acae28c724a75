// The `voltcheck` command: picks the subcommand, and turns whatever it throws into one line and a
// status.
#include <hdf5.h>
#include <malloc.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "tools/command.h"
#include "tools/interrupt.h"
#include "verify/build_info.h"
#include "verify/report/text.h"

namespace voltcheck::tools {
namespace {

struct Command {
  const char* name;
  const char* summary;
  ExitStatus (*run)(const Words& words);
};

constexpr auto kCommands = std::to_array<Command>({
    {"gate", "run a suite of cases; the exit status says whether the kernels may merge", Gate},
    {"sweep", "run any grid or random sample of cases, judged as the gate judges", Sweep},
    {"merge", "make one run file of the shards of a sweep", Merge},
    {"replay", "run one case, or fixture files, on any device and tactics", Replay},
    {"judge", "judge outputs that were computed elsewhere against a fixture", Judge},
    {"import", "AWQ checkpoint shards and captured tensors to a fixture file", Import},
    {"report", "a run file as HTML, Markdown, JUnit XML, JSON or CSV", Report},
    {"diff", "what changed between two run files, base against head", Diff},
    {"logits", "two captures of logits against each other", Logits},
    {"traces", "two sets of generated sequences against each other", Traces},
    {"explain", "how one output element came about, step by step", Explain},
    {"inspect", "say what is in a fixture, run or safetensors file", Inspect},
    {"list", "list suites, tactics, kernels, devices and numerics modes", List},
    {"exec", "run any kernel of any PTX file on raw buffers", Exec},
    {"run", "run an unmodified CUDA program on the simulator", RunProgram},
    {"mutate", "plant faults, and count how many the gate finds", Mutate},
});

void PrintHelp(std::FILE* out) {
  std::fputs(
      "Proves or refutes that SM70 grouped AWQ MoE kernels compute what they should.\n"
      "\n"
      "usage: voltcheck COMMAND [options]\n"
      "       voltcheck COMMAND --help\n"
      "       voltcheck --version\n"
      "\n",
      out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-8s %s\n", command.name, command.summary);
  }
  std::fputs(
      "\n"
      "exit status: 0 all passed, 1 a verdict failed, 2 wrong use or bad input,\n"
      "             3 device not available, 4 interrupted (what was finished is saved)\n",
      out);
}

ExitStatus Dispatch(const Words& words) {
  if (words.empty()) {
    PrintHelp(stderr);
    return ExitStatus::kBadInput;
  }
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    PrintHelp(stdout);
    return ExitStatus::kPassed;
  }
  if (name == "--version") {
    const verify::BuildInfo& build = verify::ThisBuild();
    std::printf("voltcheck %s (commit %s; kernels by %s)\n", std::string(build.version).c_str(),
                std::string(build.commit).c_str(), std::string(build.toolkit).c_str());
    return ExitStatus::kPassed;
  }
  for (const Command& command : kCommands) {
    if (name == command.name) {
      return command.run(Words(words.begin() + 1, words.end()));
    }
  }
  throw BadInput("voltcheck " + name, "no such command", "see 'voltcheck --help'");
}

// One line that a terminal takes as text, whatever the message holds of a file.
void PrintError(const char* message) {
  std::fprintf(stderr, "voltcheck: %s\n", report::Clean(message).c_str());
}

ExitStatus Run(const Words& words) {
  try {
    const ExitStatus status = Dispatch(words);
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
      throw BadInput("standard output", "cannot be written", "give it room or redirect it");
    }
    return status;
  } catch (const Error& error) {
    PrintError(error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    PrintError("not enough memory for this case; use smaller shapes or fewer --jobs");
    return ExitStatus::kUnavailable;
  } catch (const std::exception& error) {
    PrintError((std::string("internal error: ") + error.what() + "; please report it").c_str());
    return ExitStatus::kUnavailable;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Forty shared libraries set themselves up before main() runs, which takes longer than all else
// that a short command does. What stands here runs before them (System V ABI, DT_PREINIT_ARRAY).
[[gnu::section(".preinit_array"), gnu::used]] void (*const kFirstOfAll)() = HandleInterrupts;
#endif

}  // namespace
}  // namespace voltcheck::tools

namespace {

/// Cases take and give back buffers of a few megabytes all the time. By default the allocator maps
/// and unmaps these, which all threads of a process have to wait for.
void KeepFreedMemory() {
  constexpr int kLargest = 16 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargest);
}

}  // namespace

int main(int argc, char** argv) {
  voltcheck::tools::HandleInterrupts();
  KeepFreedMemory();
  // At exit the library would try again to write what a full disk refused.
  H5dont_atexit();
  // A file that outgrows a limit is an error like a full disk, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(
      voltcheck::tools::Run(voltcheck::tools::Words(argv + (argc > 0 ? 1 : 0), argv + argc)));
}
