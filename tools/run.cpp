// `voltcheck run`: an unmodified CUDA program, its runtime and driver calls landing on the
// simulator.
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "fixtures/case/descriptor.h"
#include "kernels/runtime_shim/core/findings_file.h"
#include "kernels/runtime_shim/core/program_file.h"
#include "kernels/runtime_shim/core/runtime_folder.h"
#include "kernels/runtime_shim/core/settings.h"
#include "kernels/simulator/simulator.h"
#include "tools/arguments.h"
#include "verify/run_file.h"

namespace voltcheck::tools {
namespace {

namespace fs = std::filesystem;

/// The file that the shell would run for `name`.
std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) != 0) {
      throw BadInput(name, std::strerror(errno), "name a program that can be run");
    }
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    at = end + 1;
  }
  throw BadInput(name, "is not on PATH", "name a program, after '--'");
}

/// A file for the findings that goes when it is no longer needed.
class TemporaryFile {
 public:
  TemporaryFile() : path_((fs::temp_directory_path() / "voltcheck-run-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) {
      throw BadInput(path_, std::strerror(errno), "set TMPDIR to a folder that can be written");
    }
    close(file);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// In the child: the environment, then the program.
[[noreturn]] void Become(const std::string& program, const Words& words, const Arguments& arguments,
                         const std::string& folder, const std::string& findings) {
  const char* libraries = std::getenv("LD_LIBRARY_PATH");
  Set("LD_LIBRARY_PATH",
      libraries == nullptr || *libraries == 0 ? folder : folder + ":" + libraries);
  Set(shim::kCheckVariable, arguments.Text("check"));
  Set(shim::kScheduleVariable, arguments.Text("schedule"));
  Set(shim::kNumericsVariable, arguments.Text("numerics"));
  Set(shim::kJobsVariable, arguments.Text("jobs"));
  Set(shim::kMemoryVariable, arguments.Text("device-memory"));
  Set(shim::kMultiprocessorsVariable, arguments.Text("device-sms"));
  Set(shim::kFindingsVariable, findings);
  if (arguments.Has("verbose")) {
    Set(shim::kVerboseVariable, "1");
  }
  if (arguments.Has("sass")) {
    Set(shim::kSassVariable, "1");
  }
  if (std::getenv("VOLTCHECK_PTXAS") == nullptr) {
    Set("VOLTCHECK_PTXAS", VOLTCHECK_PTXAS_PATH);
  }
  // The same addresses every time, also for memory of the program's own that it registers.
  personality(static_cast<unsigned long>(personality(0xffffffff)) | ADDR_NO_RANDOMIZE);
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  std::fprintf(stderr, "voltcheck: %s: %s; name a program that can be run\n", program.c_str(),
               std::strerror(errno));
  _exit(127);
}

/// Runs the program to its end. Signals from the terminal go to the program alone.
int Wait(pid_t child) {
  struct sigaction ignore = {};
  struct sigaction interrupt = {};
  struct sigaction quit = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  int raw = 0;
  while (waitpid(child, &raw, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &interrupt, nullptr);
  sigaction(SIGQUIT, &quit, nullptr);
  return raw;
}

/// The arguments that determine results, for the record.
std::string Canonical(const Arguments& arguments, const Words& words) {
  std::string text = "run --check " + arguments.Text("check") + " --schedule " +
                     arguments.Text("schedule") + " --numerics " + arguments.Text("numerics") +
                     " -- " + fs::path(words.front()).filename().string();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += " " + words[i];
  }
  return text;
}

std::string Hashes(const shim::ProgramRecord& record) {
  std::string text;
  for (const shim::ModuleNote& module : record.modules) {
    text += (text.empty() ? "" : " ") + module.name + "@" + module.ptx_sha256;
    text += module.sass_sha256.empty() ? "" : "+sass@" + module.sass_sha256;
  }
  return text;
}

void WriteRunFile(const std::string& path, const Arguments& arguments, const Words& words,
                  const shim::ProgramRecord& found, bool complete) {
  simulator::Options options;
  options.numerics = ParseNumerics(arguments.Text("numerics"));
  verify::RunProvenance provenance = verify::ProvenanceOfThisBuild(Canonical(arguments, words));
  provenance.device = simulator::MakeSimulator(options)->Describe();
  provenance.kernels_hash = Hashes(found);
  verify::CaseRecord record;
  record.descriptor = "program=" + fs::path(words.front()).filename().string();
  record.verdict = found.findings.empty() ? verify::Verdict::kPassed : verify::Verdict::kChecker;
  record.reason = found.findings.empty() ? "" : shim::ToLine(found.findings.front());
  record.findings = found.findings;
  record.counters = found.counters;
  for (const auto& [kernel, count] : found.launches) {
    record.kernels.push_back(kernel);
  }
  verify::RunFileWriter writer(path, provenance);
  writer.Append(record);
  writer.Finish(complete);
}

/// What runs is the PTX: whether the SASS that is shipped beside it comes from it.
void PrintSass(const shim::ProgramRecord& record) {
  for (const shim::ModuleNote& module : record.modules) {
    const std::string& shipped = module.shipped_code_sha256;
    const std::string& again = module.assembled_code_sha256;
    const char* verdict = again.empty()     ? "cannot be assembled here"
                          : shipped.empty() ? "nothing to compare"
                          : shipped == again
                              ? "the same"
                              : "different: built by another release or other flags, "
                                "or not from this PTX";
    std::fprintf(
        stderr, "voltcheck: sass: %s: ptx %s, machine code shipped %s, assembled again %s: %s\n",
        module.name.c_str(), module.ptx_sha256.c_str(), shipped.empty() ? "none" : shipped.c_str(),
        again.empty() ? "none" : again.c_str(), verdict);
  }
}

ExitStatus Report(const std::string& program, int raw, const Arguments& arguments,
                  const Words& words, const shim::ProgramRecord& record) {
  const bool ended = WIFEXITED(raw);
  for (const kernels::Finding& finding : record.findings) {
    std::fprintf(stderr, "voltcheck: %s\n", shim::ToLine(finding).c_str());
  }
  for (const std::string& refusal :
       std::set<std::string>(record.refusals.begin(), record.refusals.end())) {
    std::fprintf(stderr, "voltcheck: %s\n", refusal.c_str());
  }
  if (arguments.Has("sass")) {
    PrintSass(record);
  }
  if (!arguments.Has("quiet")) {
    std::uint64_t launches = 0;
    for (const auto& [kernel, count] : record.launches) {
      launches += count;
    }
    std::fprintf(stderr, "voltcheck: %s: %zu findings, %llu launches of %zu kernels\n",
                 program.c_str(), record.findings.size(), static_cast<unsigned long long>(launches),
                 record.launches.size());
  }
  if (!ended) {
    std::fprintf(stderr, "voltcheck: %s was ended by signal %d (%s)\n", program.c_str(),
                 WTERMSIG(raw), strsignal(WTERMSIG(raw)));
  } else if (WEXITSTATUS(raw) != 0) {
    std::fprintf(stderr, "voltcheck: %s exited with status %d\n", program.c_str(),
                 WEXITSTATUS(raw));
  }
  if (const std::string out = arguments.Text("out"); !out.empty()) {
    WriteRunFile(out, arguments, words, record, ended);
  }
  if (!record.findings.empty()) {
    return ExitStatus::kFailed;
  }
  if (!record.refusals.empty()) {
    return ExitStatus::kBadInput;
  }
  return static_cast<ExitStatus>(ended ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw));
}

}  // namespace

ExitStatus RunProgram(const Words& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const Words options(words.begin(), dashes);
  const Words command(dashes == words.end() ? dashes : dashes + 1, words.end());
  Arguments arguments(
      "run [options] -- PROGRAM [ARGUMENT...]",
      "Runs a CUDA program as it is; its runtime and driver calls land on the simulator. It must "
      "be\n"
      "linked with nvcc --cudart shared and hold PTX for compute_70. Status 1: a checker found\n"
      "something; 2: device code that cannot run here; otherwise the program's own.");
  arguments.Value("check", "none", "checkers: all, none, or a list");
  arguments.Value("schedule", "0", "order of CTAs, warps and lanes");
  arguments.Value("numerics", "v100", "arithmetic of mma.sync, v100, sm75, sm80-software, sm90");
  arguments.Value("jobs", "0", "threads for CTAs that cannot communicate; 0: all cores");
  arguments.Value("device-memory", "17179869184", "bytes of the device's memory");
  arguments.Value("device-sms", "80", "multiprocessors of the device");
  arguments.Value("out", "", "run file to write");
  arguments.Flag("sass",
                 "assemble each module's PTX again and compare it with the SASS shipped beside it");
  arguments.Flag("verbose", "a line on standard error for each CUDA call that fails");
  arguments.Flag("quiet", "no summary line");
  if (!arguments.Parse(options)) {
    return ExitStatus::kPassed;
  }
  if (command.empty()) {
    throw BadInput("voltcheck run", "needs a program after '--'", "see 'voltcheck run --help'");
  }
  // What the program's process would find wrong is better said before it starts.
  shim::ParseChecks(arguments.Text("check"));
  ParseNumerics(arguments.Text("numerics"));
  arguments.Number("schedule");
  arguments.Number("jobs", 4096);
  arguments.Number("device-memory");
  arguments.Number("device-sms", 1024);
  const std::string program = FindProgram(command.front());
  shim::RequireRunnable(program, shim::ReadProgramFile(program));
  const std::string folder = shim::RuntimeFolder();
  const TemporaryFile findings;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw Error(ExitStatus::kUnavailable, std::string("cannot start a process: ") +
                                              std::strerror(errno) + "; try again later");
  }
  if (child == 0) {
    Become(program, command, arguments, folder, findings.path());
  }
  const int raw = Wait(child);
  return Report(command.front(), raw, arguments, command, shim::ReadFindingsFile(findings.path()));
}

}  // namespace voltcheck::tools
