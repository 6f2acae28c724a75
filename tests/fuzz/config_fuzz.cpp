// Fuzz target of the configuration file: its options are read or refused, with the options of the
// gate.
#include "memory_file.h"
#include "require.h"
#include "tools/arguments.h"
#include "tools/judge_arguments.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const voltcheck::fuzz::MemoryFile file(data, size);
  voltcheck::fuzz::ReadsOrRefuses("", [&] {
    voltcheck::tools::Arguments arguments("fuzz [options]", "");
    arguments.Value("suite", "smoke", "");
    arguments.Value("schedule", "0", "");
    arguments.Values("kernels", "");
    arguments.Flag("quiet", "");
    voltcheck::tools::AddJudgeOptions(arguments);
    if (arguments.Parse({"--config", file.path()})) {
      voltcheck::tools::ReadJudgeOptions(arguments);
      voltcheck::tools::ReadAllowedSkips(arguments);
      arguments.Number("schedule");
    }
  });
  return 0;
}
