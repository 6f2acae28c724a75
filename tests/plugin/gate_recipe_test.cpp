// `voltcheck gate --recipe` with the example: kernels of another style.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace voltcheck::tools {
namespace {

const std::string kRecipe = std::string(VOLTCHECK_RECIPE_EXAMPLE) + "/plain_wmma.json";

class GateRecipe : public CommandTest {
 protected:
  /// A copy of the example with one place of its text changed.
  void WriteEdited(const std::string& from, const std::string& to) const {
    std::string text = ReadText(kRecipe);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    WriteText(Path("r.json"), text);
    std::filesystem::copy_file(std::string(VOLTCHECK_RECIPE_EXAMPLE) + "/plain_wmma.ptx",
                               Path("plain_wmma.ptx"));
  }
};

TEST_F(GateRecipe, TheExamplePasses) {
  WriteText(Path("suite.txt"),
            "h=128;i=64;e=4;k=2;g=32;t=1,9;data=integer,normal;cols=interleaved,halves\n"
            "h=64;i=64;e=4;k=2;g=64;t=3;layout=shuffled;ep=0/2\n");
  const Outcome outcome = Run({"gate", "--suite", "./suite.txt", "--recipe", kRecipe});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("recipe plain_wmma.json (plain dequantise, then WMMA)"),
            std::string::npos)
      << outcome.out;
}

TEST_F(GateRecipe, IsInTheRunFileFromWhichItRepeats) {
  WriteEdited("plain dequantise", "my dequantise");
  const std::vector<std::string> sweep{"sweep",    "--grid", "h=64;i=64;e=4;k=2;g=64;t=1,3",
                                       "--recipe", "r.json", "--quiet"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(Run(with(sweep, {"--out", "run.h5"})).status, 0);
  ASSERT_EQ(Run(with(sweep, {"--shard", "1/2", "--out", "one.h5"})).status, 0);
  ASSERT_EQ(Run(with(sweep, {"--shard", "2/2", "--out", "two.h5"})).status, 0);
  ASSERT_EQ(Run({"merge", "one.h5", "two.h5", "--out", "merged.h5", "--quiet"}).status, 0);
  EXPECT_TRUE(ReadText(Path("merged.h5")) == ReadText(Path("run.h5")));
  std::filesystem::remove(Path("r.json"));
  std::filesystem::remove(Path("plain_wmma.ptx"));
  for (const char* run : {"run.h5", "again.h5"}) {
    const Outcome repeated = Run({"replay", "--from", run, "--out", "again.h5"});
    EXPECT_EQ(repeated.status, 0) << repeated.err;
    EXPECT_NE(repeated.out.find("recipe r.json (my dequantise"), std::string::npos);
    EXPECT_NE(repeated.out.find("same bits: 2 of 2 cases"), std::string::npos) << repeated.out;
  }
  std::filesystem::remove(Path("plain_wmma.ptx"));
  WriteEdited("plain dequantise", "another one");
  ExpectRefusal(Run({"replay", "--from", "run.h5", "--recipe", "r.json"}), 2,
                "not --recipe r.json@");
}

TEST_F(GateRecipe, PropertiesAreAskedOfRecipes) {
  const std::string descriptor = "h=64,i=32,e=4,k=2,g=32,t=3,seed=3";
  for (const char* property : {"segment-split", "poison", "replay-routes", "activation-scaling",
                               "unused-experts", "token-alone", "nan-token"}) {
    const Outcome outcome =
        Run({"replay", "--case", descriptor, "--property", property, "--recipe", kRecipe});
    EXPECT_EQ(outcome.status, 0) << property << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("passed"), std::string::npos) << outcome.out;
  }
}

/// W13 and SiLU as one step that stores SiLU alone: its bits follow from the order declared for
/// W13.
TEST_F(GateRecipe, BitsOfAFusedSiluAreJudged) {
  const auto write = [&](const std::string& order) {
    std::string text = ReadText(kRecipe);
    const auto replace = [&](const std::string& from, const std::string& to) {
      const std::size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
    };
    replace("[\"plain_wmma.ptx\"]", "[\"plain_wmma.ptx\", \"silu.ptx\"]");
    replace("\"buffers\": [",
            "\"buffers\": [{\"name\": \"mine\", \"bytes\": \"2 * slots * w13_n\"},");
    replace("\"computes\": [\"w13\"],\n      \"order\": {\"w13\": {\"kind\": \"wmma\"}}",
            R"("computes": ["w13", "silu"], "writes": ["silu"], "order": )" + order);
    replace("\"arguments\": [\"ptr:out\"", "\"arguments\": [\"ptr:mine\"");
    replace("\"k\", \"n\"]\n        }", R"json("k", "n"]},
        {"kernel": "silu_mul_interleaved", "module": "silu.ptx", "block": 128,
         "grid": "ceil(slots * intermediate / 8 / 128)",
         "arguments": ["ptr:silu", "ptr:mine", "ptr:rows", "slots", "intermediate"]})json");
    for (std::size_t at = 0; (at = text.find("\"kernel\": \"d", at)) != std::string::npos;
         at += 40) {
      text.insert(at, "\"module\": \"plain_wmma.ptx\", ");
    }
    for (std::size_t at = 0; (at = text.find("\"kernel\": \"g", at)) != std::string::npos;
         at += 40) {
      text.insert(at, "\"module\": \"plain_wmma.ptx\", ");
    }
    WriteText(Path("r.json"), text);
  };
  const std::string example = std::string(VOLTCHECK_RECIPE_EXAMPLE) + "/plain_wmma.ptx";
  std::filesystem::copy_file(example, Path("plain_wmma.ptx"));
  std::filesystem::copy_file(VOLTCHECK_PTX_DIR "/silu_mul.ptx", Path("silu.ptx"));
  const std::vector<std::string> replay{"replay",   "--case", "h=256,i=64,e=2,k=2,g=32,t=16,seed=3",
                                        "--recipe", "r.json", "--json"};
  write(R"({"w13": {"kind": "wmma"}, "silu": {"kind": "contract"}})");
  const Outcome right = Run(replay);
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  const auto silu = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.out)["cases"][0]["stages"]["silu"]["bits"];
  };
  EXPECT_EQ(silu(right)["differing"], 0) << right.out;
  EXPECT_GT(silu(right)["compared"], 0) << right.out;
  write(R"({"w13": {"kind": "fma"}, "silu": {"kind": "contract"}})");
  const Outcome wrong = Run(replay);
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  EXPECT_GT(silu(wrong)["differing"], 0) << wrong.out;
  write(R"({"w13": {"kind": "fma"}})");  // undeclared SiLU: budgets alone
  EXPECT_EQ(Run(replay).status, 0);
}

struct Edit {
  const char* from;
  const char* to;
  const char* says;
};
class WrongRecipes : public GateRecipe, public testing::WithParamInterface<Edit> {};
TEST_P(WrongRecipes, AreFound) {
  WriteEdited(GetParam().from, GetParam().to);
  const Outcome outcome =
      Run({"replay", "--case", "h=256,i=256,e=2,k=2,g=32,t=16,seed=3", "--recipe", "r.json"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find(GetParam().says), std::string::npos) << outcome.out;
}
INSTANTIATE_TEST_SUITE_P(All, WrongRecipes,
                         testing::Values(Edit{"\"2 * held * w13_k * w13_n\"",
                                              "\"2 * held * w13_k * w13_n - 2\"", "bounds"},
                                         Edit{"ceil(n / 16)", "floor(n / 32)", "uninitialised"},
                                         Edit{"\"group\", \"interleaved\"", "\"group\", 0", "w13"},
                                         Edit{"{\"kind\": \"wmma\"}", "{\"kind\": \"fma\"}",
                                              "w13"}));

TEST_F(GateRecipe, MistakesAreOneLine) {
  WriteEdited("\"ptr:expert_slot\"", "\"ptr:expert_slots\"");
  ExpectRefusal(Run({"replay", "--case", "t=2", "--recipe", "r.json"}), 2,
                "/steps/0/launches/0/arguments/5: there is no buffer 'expert_slots' here");
  ExpectRefusal(Run({"gate", "--recipe", "missing.json"}), 2, "missing.json: is no file");
  ExpectRefusal(Run({"gate", "--recipe", "."}), 2, "is no file");
  WriteText(Path("deep.json"), std::string(100000, '['));
  ExpectRefusal(Run({"gate", "--recipe", "deep.json"}), 2, "nested deeper");
}

}  // namespace
}  // namespace voltcheck::tools
