// Recipes as they come from strangers: each mistake is one line with file and place.
#include "kernels/recipe/recipe.h"

#include <gtest/gtest.h>

#include "fixtures/case/error.h"

namespace voltcheck::recipe {
namespace {

constexpr const char* kGood = R"~({
  "schema": "voltcheck.recipe/1",
  "name": "test",
  "modules": ["folder/a.ptx"],
  "requires": ["group == 32"],
  "buffers": [{"name": "scratch", "bytes": "4 * slots * w13_n", "role": "workspace"}],
  "prepare": [{"kernel": "pack", "grid": 1, "block": 32, "arguments": ["ptr:scratch"]}],
  "steps": [{
    "computes": ["w13"],
    "order": {"w13": {"kind": "mma", "splits": "splits", "chunk": "group"}},
    "launches": [{"kernel": "gemm", "grid": ["ceil(n / 64)", "slots"], "block": [32, 2], "shared": 1024,
                  "arguments": ["ptr:out", "ptr:weights + 4 * k", "k", "i64:n", "f32:0.5", "null",
                                {"struct": ["u8:1", "ptr:input"]}]
}]
}]
})~";

std::string Complaint(const std::string& text) {
  try {
    ReadRecipe("r.json", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

TEST(Recipe, ReadsWhatTheManualDescribes) {
  const Recipe recipe = ReadRecipe("r.json", kGood);
  ASSERT_EQ(recipe.steps.size(), 1U);
  EXPECT_EQ(recipe.steps[0].parts.computes, 1U);
  EXPECT_EQ(recipe.steps[0].parts.writes, 1U);
  const LaunchRecipe& launch = recipe.steps[0].launches.at(0);
  EXPECT_EQ(launch.module, "a.ptx");
  EXPECT_EQ(launch.where, "r.json: /steps/0/launches/0");
  EXPECT_EQ(launch.grid.size(), 3U);
  EXPECT_EQ(launch.arguments.size(), 7U);
  EXPECT_EQ(std::get<PointerField>(launch.arguments[1]).buffer, "weights");
  EXPECT_EQ(std::get<StructField>(launch.arguments[6]).fields.size(), 2U);
  EXPECT_EQ(recipe.preparation.size(), 1U);
}

struct Edit {
  const char* from;
  const char* to;
  const char* complaint;
};
class BadRecipes : public testing::TestWithParam<Edit> {};
TEST_P(BadRecipes, AreRefusedInOneLineWithThePlace) {
  std::string text = kGood;
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from;
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const std::string line = Complaint(text);
  EXPECT_NE(line.find(GetParam().complaint), std::string::npos) << line;
  EXPECT_EQ(line.rfind("r.json: ", 0), 0U) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(
    All, BadRecipes,
    testing::Values(
        Edit{"recipe/1", "recipe/2", "/schema: is not"},
        Edit{"\"name\": \"test\",", "", "lacks the member 'name'"},
        Edit{"\"name\": \"test\",", "\"name\": \"test\", \"name\": \"b\",", "the key 'name' twice"},
        Edit{"\"name\": \"test\",", "\"nmae\": \"test\",", "unknown member 'nmae'"},
        Edit{"\"name\": \"test\",", "\"name\": 3,", "/name: is no string"},
        Edit{"[\"folder/a.ptx\"]", "\"folder/a.ptx\"", "/modules: is no array"},
        Edit{"[\"folder/a.ptx\"]", "[\"a.ptx\", \"b/a.ptx\"]",
             "/modules/1: has the same file name"},
        Edit{"[\"folder/a.ptx\"]", "[\"\"]", "/modules/0: is no file name"},
        Edit{"[\"folder/a.ptx\"]", "[]", "/modules: is empty"},
        Edit{"[\"group == 32\"]", "[\"group = 32\"]",
             "/requires/0: 'group = 32' is not understood"},
        Edit{"\"scratch\", \"bytes\"", "\"a b\", \"bytes\"", "/buffers/0/name: is no name"},
        Edit{"\"workspace\"", "\"heap\"", "/buffers/0/role"},
        Edit{"\"grid\": 1", "\"grid\": -1", "/prepare/0/grid: is neither"},
        Edit{"\"grid\": 1", "\"grid\": 1.5", "/prepare/0/grid: is neither"},
        Edit{"\"grid\": 1", "\"grid\": []", "/prepare/0/grid: has no element"},
        Edit{"\"grid\": 1", "\"grid\": [1,1,1,1]", "/prepare/0/grid: has 4 elements"},
        Edit{"\"block\": 32,", "", "/prepare/0: lacks the member 'block'"},
        Edit{"\"kernel\": \"pack\"", "\"kernel\": \"pa ck\"", "no name of an entry"},
        Edit{"\"computes\": [\"w13\"]", "\"computes\": [\"w14\"]",
             "/steps/0/computes/0: names no part"},
        Edit{"\"computes\": [\"w13\"]", "\"computes\": []", "/steps/0/computes: is empty"},
        Edit{"\"computes\": [\"w13\"]", "\"computes\": [\"w13\", \"w2\"]", "leaves out a part"},
        Edit{"\"computes\": [\"w13\"]", "\"computes\": [\"w13\", \"silu\"], \"writes\": [\"w13\"]",
             "does not write the last part"},
        Edit{"\"computes\": [\"w13\"]", "\"computes\": [\"silu\"]",
             "/steps/0/order: speaks of w13"},
        Edit{"\"kind\": \"mma\"", "\"kind\": \"hmma\"", "/steps/0/order/w13/kind: is neither"},
        Edit{"\"ptr:out\"", "\"ptr:\"", "/arguments/0: names no buffer"},
        Edit{"\"ptr:out\"", "\"pointer:out\"", "/arguments/0: is of an unknown kind"},
        Edit{"\"ptr:out\"", "true", "/arguments/0: is no string"},
        Edit{"\"ptr:out\"", "[[]]", "/arguments/0: is no string"},
        Edit{"\"f32:0.5\"", "\"f32:half\"", "/arguments/4: is no real number"},
        Edit{"\"f32:0.5\"", "\"f32:1e99\"", "/arguments/4: is no real number"},
        Edit{"[\"u8:1\", \"ptr:input\"]", "[]", "/arguments/6: is a struct without members"},
        Edit{"\"shared\": 1024", "\"shared\": \"1024 bytes\"", "/shared: '1024 bytes' is not"},
        Edit{"\"shared\": 1024", "\"for\": {\"symbol\": \"slots\", \"count\": 1}", "no free name"},
        Edit{"\"launches\"", "\"lunches\"", "unknown member 'lunches'"}));

TEST(Recipe, EveryTruncationIsRefused) {
  const std::string good = kGood;
  for (std::size_t length = 0; length < good.size(); length += 7) {
    EXPECT_NE(Complaint(good.substr(0, length)), "") << length;
  }
}

TEST(Recipe, IsBounded) {
  EXPECT_NE(Complaint(std::string(2 << 20, ' ')).find("at most 1 MiB"), std::string::npos);
  EXPECT_NE(Complaint(std::string(100000, '[')).find("nested deeper than 16"), std::string::npos);
  std::string many = "[0";
  for (int i = 0; i < 30000; ++i) {
    many += ",0";
  }
  EXPECT_NE(Complaint(many + "]").find("more than 20000 values"), std::string::npos);
  EXPECT_NE(Complaint("[\"" + std::string(5000, 'x') + "\"]").find("string of 5000"),
            std::string::npos);
  EXPECT_NE(Complaint("[1").find("is no JSON at byte"), std::string::npos);
  EXPECT_NE(Complaint("3").find("/: is no object"), std::string::npos);
  std::string launches = "{\"kernel\": \"pack\", \"grid\": 1, \"block\": 32, \"arguments\": []}";
  std::string list = launches;
  for (int i = 0; i < 300; ++i) {
    list += "," + launches;
  }
  std::string text = kGood;
  const std::size_t at = text.find("\"prepare\": [");
  text.insert(at + 12, list + ",");
  EXPECT_NE(Complaint(text).find("at most 256"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck::recipe
