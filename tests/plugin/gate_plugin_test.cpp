// `voltcheck gate --plugin`: right plugins pass, wrong ones are found, bad ones are refused in one
// line.
#include "tools/command.h"

namespace voltcheck::tools {
namespace {

/// Few and small cases: exact and real data, one and several tokens, both column orders, an expert
/// that gets nothing, rows of another rank.
constexpr const char* kSuite =
    "h=128;i=64;e=4;k=2;g=32;t=1,3;data=integer;w13=16x128x32/2;w2=16x128x32/1\n"
    "h=64;i=64;e=4;k=2;g=64;t=9;cols=interleaved,halves;routing=hole:first;w13=16x128x32/1;"
    "w2=16x128x32/1\n"
    "h=128;i=128;e=4;k=3;g=128;t=2;ep=1/2;layout=shuffled;w13=16x128x32/1;w2=16x128x32/1\n";

std::string PluginPath(const std::string& name) {
  return std::string(VOLTCHECK_PLUGINS) + "/" + name + ".so";
}

/// Reasons are broken into lines; here they are one.
std::string Flat(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank || flat.empty() || flat.back() != ' ') {
      flat += blank ? ' ' : c;
    }
  }
  return flat;
}

class GatePlugin : public CommandTest {
 protected:
  GatePlugin() { WriteText(Path("suite.txt"), kSuite); }

  Outcome Gate(const std::string& plugin, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"gate", "--suite", "./suite.txt", "--plugin",
                                   PluginPath(plugin)};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(GatePlugin, TheExampleInCPasses) {
  const Outcome outcome = Gate("grouped_gemm_plugin", {"--out", "run.h5", "--draws", "0"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("plugin grouped_gemm_plugin.so (grouped GEMM 16x128x32 1)"),
            std::string::npos)
      << outcome.out;
  // Its run is repeated with the library, whose hash is in that of the kernels.
  const std::vector<std::string> repeat{"replay", "--from", "run.h5", "--index", "0"};
  ExpectRefusal(Run(repeat), 2, "ran --plugin grouped_gemm_plugin.so, which");
  const auto with = [&](const std::string& plugin) {
    std::vector<std::string> words = repeat;
    words.insert(words.end(), {"--plugin", PluginPath(plugin)});
    return Run(words);
  };
  ExpectRefusal(with("grouped_gemm_wrong"), 2, "not --plugin grouped_gemm_wrong.so");
  std::filesystem::copy_file(PluginPath("grouped_gemm_wrong"), Path("grouped_gemm_plugin.so"));
  std::vector<std::string> same_name = repeat;
  same_name.insert(same_name.end(), {"--plugin", "./grouped_gemm_plugin.so"});
  ExpectRefusal(Run(same_name), 2, "was made with another --plugin grouped_gemm_plugin.so");
  const Outcome repeated = with("grouped_gemm_plugin");
  EXPECT_EQ(repeated.status, 0) << repeated.err;
  EXPECT_NE(repeated.out.find("same bits: 1 of 1 cases"), std::string::npos) << repeated.out;
}

TEST_F(GatePlugin, TheExampleInCWithItsMistakeIsFoundByBits) {
  const Outcome outcome = Gate("grouped_gemm_wrong");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("w2"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("--plugin '" + PluginPath("grouped_gemm_wrong") + "'"),
            std::string::npos)
      << "the reproduction line names the plugin";
}

TEST_F(GatePlugin, TheMistakeIsFoundByTheBudgetAloneToo) {
  EXPECT_EQ(Gate("grouped_gemm_plugin", {"--order", "undeclared"}).status, 0);
  EXPECT_EQ(Gate("grouped_gemm_wrong", {"--order", "undeclared"}).status, 1);
}

TEST_F(GatePlugin, ALibraryWithItsOwnCudaRuntimeCallsPasses) {
  const Outcome outcome = Gate("runtime_plugin", {"--schedule", "3"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(GatePlugin, ALibraryWithItsOwnCudaRuntimeCallsAndAMistakeIsFound) {
  const Outcome outcome = Gate("runtime_wrong");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("output"), std::string::npos) << outcome.out;
}

TEST_F(GatePlugin, PropertiesAreAskedOfPlugins) {
  WriteText(Path("one.txt"), "h=64;i=32;e=4;k=2;g=32;t=3\n");
  for (const char* plugin : {"grouped_gemm_plugin", "runtime_plugin"}) {
    const std::string descriptor =
        "h=64,i=32,e=4,k=2,g=32,t=3,w13=16x128x32/1,w2=16x128x32/1,seed=3";
    for (const char* property : {"token-permutation", "poison", "replay-routes", "inputs-unchanged",
                                 "untouched-memory", "token-alone"}) {
      const Outcome outcome = Run(
          {"replay", "--case", descriptor, "--property", property, "--plugin", PluginPath(plugin)});
      EXPECT_EQ(outcome.status, 0) << plugin << " " << property << outcome.out << outcome.err;
      EXPECT_NE(outcome.out.find("passed"), std::string::npos) << outcome.out;
    }
  }
}

TEST_F(GatePlugin, WhatItDeclinesIsSkippedAndFailsUnlessAllowed) {
  WriteText(Path("suite.txt"), "h=64;i=32;e=4;k=2;g=32;t=2\n");
  const Outcome outcome = Gate("bad_declines");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(Flat(outcome.out).find("it takes one token"), std::string::npos) << outcome.out;
  WriteText(Path("suite.txt"), "h=64;i=32;e=4;k=2;g=32;t=2;meta=3b,4b\n");
  EXPECT_EQ(Gate("grouped_gemm_plugin").status, 1);
  const Outcome allowed = Gate("grouped_gemm_plugin", {"--allow-skip", "declined"});
  EXPECT_EQ(allowed.status, 0) << allowed.out << allowed.err;
}

struct Verdict {
  const char* plugin;
  const char* says;
};
class BadVerdicts : public GatePlugin, public testing::WithParamInterface<Verdict> {};
TEST_P(BadVerdicts, AreVerdictsAndNotTheEndOfTheGate) {
  WriteText(Path("suite.txt"), "h=64;i=32;e=4;k=2;g=32;t=2;seed=1,2\n");
  const Outcome outcome = Gate(GetParam().plugin);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(Flat(outcome.out).find(GetParam().says), std::string::npos)
      << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("2 cases"), std::string::npos) << outcome.out;
}
INSTANTIATE_TEST_SUITE_P(
    All, BadVerdicts,
    testing::Values(Verdict{"bad_fails", "prepare returned 7: no workspace today"},
                    Verdict{"bad_crashes", "Aborted"}, Verdict{"bad_faults", "Segmentation fault"},
                    Verdict{"bad_throws", "step0 threw an exception: no such tile"},
                    Verdict{"bad_overruns", "step0 returned 1"},
                    Verdict{"bad_unwritten", "uninitialised"}),
    [](const auto& verdict) { return std::string(verdict.param.plugin); });

struct Refusal {
  const char* plugin;
  const char* says;
};
class BadPlugins : public GatePlugin, public testing::WithParamInterface<Refusal> {};
TEST_P(BadPlugins, AreRefusedInOneLine) {
  ExpectRefusal(Gate(GetParam().plugin), 2, GetParam().says);
}
INSTANTIATE_TEST_SUITE_P(
    All, BadPlugins,
    testing::Values(Refusal{"bad_no_symbol", "exports no function voltcheck_plugin_v1"},
                    Refusal{"bad_null_table", "returned null"},
                    Refusal{"bad_old_abi", "is built for version 2 of the interface, not 1"},
                    Refusal{"bad_no_step", "there is none"},
                    Refusal{"bad_dies_at_load", "ends the process with status 5"},
                    Refusal{"bad_dies_when_asked", "ends with 'Segmentation fault'"},
                    Refusal{"bad_gap", "leaves out a part"},
                    Refusal{"bad_writes_other", "writes what it does not compute"},
                    Refusal{"bad_no_function", "step 0 has no function"},
                    Refusal{"bad_bad_order", "splits 3 is more than the 1 chunks"},
                    Refusal{"only_sass", "-gencode arch=compute_70,code=compute_70"},
                    Refusal{"no_such_file", "is no file"}),
    [](const auto& refusal) { return std::string(refusal.param.plugin); });

TEST_F(GatePlugin, OtherFilesAreRefusedInOneLine) {
  WriteText(Path("text.so"), "no library\n");
  ExpectRefusal(Run({"gate", "--plugin", "text.so"}), 2, "text.so");
  ExpectRefusal(Run({"gate", "--plugin", VOLTCHECK_BINARY}), 2, "does not load");
  ExpectRefusal(Run({"gate", "--plugin", "a.so", "--recipe", "b.json"}), 2, "does not go with");
}

}  // namespace
}  // namespace voltcheck::tools
