// logits, traces and explain as a user calls them.
#include "command.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "reference/arith/half.h"

namespace voltcheck::tools {
namespace {

std::string Npy(const std::vector<std::vector<float>>& rows) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows.size()) + ", " + std::to_string(rows[0].size()) + "), }";
  header += std::string(64 - (10 + header.size() + 1) % 64, ' ') + "\n";
  std::string file = std::string("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += static_cast<char>(header.size() >> 8);
  file += header;
  for (const std::vector<float>& row : rows) {
    file.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  }
  return file;
}

std::string Safetensors(const std::vector<std::vector<float>>& rows) {
  std::string data;
  for (const std::vector<float>& row : rows) {
    for (const float x : row) {
      const std::uint16_t h = arith::FloatToHalf(x);
      data.append(reinterpret_cast<const char*>(&h), sizeof(h));
    }
  }
  const std::string header = R"({"logits":{"dtype":"F16","shape":[)" + std::to_string(rows.size()) +
                             "," + std::to_string(rows[0].size()) + R"(],"data_offsets":[0,)" +
                             std::to_string(data.size()) + "]}}";
  std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  return file + header + data;
}

using Logits = CommandTest;

TEST_F(Logits, ComparesFilesOfDifferentKinds) {
  WriteText(Path("a.npy"), Npy({{1, 2, 3}, {4, 0, 0.5F}}));
  WriteText(Path("b.safetensors"), Safetensors({{1, 2, 3}, {4, 4.25F, 0.5F}}));
  const Outcome out = Run({"logits", "a.npy", "b.safetensors", "--json", "--out", "rows.csv"});
  ASSERT_EQ(out.status, 0) << out.err;
  const nlohmann::json json = nlohmann::json::parse(out.out);
  EXPECT_EQ(json["figures"]["rows"], 2);
  EXPECT_EQ(json["figures"]["differing"], 1);
  EXPECT_EQ(json["figures"]["max_abs"], 4.25);
  EXPECT_EQ(json["figures"]["first_flip"], 1);
  EXPECT_EQ(json["figures"]["first_flip_other"], 1);
  EXPECT_EQ(json["verdict"], "none");
  EXPECT_NE(ReadText(Path("rows.csv")).find("\n1,0,1,4.25,1,"), std::string::npos);

  EXPECT_EQ(Run({"logits", "a.npy", "b.safetensors", "--same"}).status, 1);
  EXPECT_EQ(Run({"logits", "a.npy", "a.npy", "--same"}).status, 0);
  EXPECT_EQ(Run({"logits", "a.npy", "b.safetensors", "--argmax-agreement", "0.5"}).status, 0);
  EXPECT_EQ(Run({"logits", "a.npy", "b.safetensors", "--argmax-agreement", "0.6"}).status, 1);
  WriteText(Path("limits.cfg"), "max-abs = 4\n");
  EXPECT_EQ(Run({"logits", "a.npy", "b.safetensors", "--config", "limits.cfg"}).status, 1);
}

TEST_F(Logits, RowsInARunFileAreReadByInspect) {
  WriteText(Path("a.npy"), Npy({{1, 2, 3}, {4, 0, 0.5F}}));
  ASSERT_EQ(Run({"logits", "a.npy", "a.npy", "--out", "rows.h5", "--quiet"}).status, 0);
  const Outcome inspect = Run({"inspect", "rows.h5"});
  EXPECT_EQ(inspect.status, 0) << inspect.err;
  EXPECT_NE(inspect.out.find("logit_rows/kl: "), std::string::npos) << inspect.out;
}

TEST_F(Logits, BadInputIsOneLine) {
  WriteText(Path("a.npy"), Npy({{1, 2, 3}, {4, 0, 0.5F}}));
  WriteText(Path("short.npy"), Npy({{1, 2, 3}}));
  WriteText(Path("nan.npy"), Npy({{1, 2, 3}, {4, std::nanf(""), 0.5F}}));
  WriteText(Path("cut.npy"), Npy({{1, 2, 3}}).substr(0, 70));
  ExpectRefusal(Run({"logits", "a.npy", "short.npy"}), 2,
                "holds logits [1, 3], but a.npy holds [2, 3]");
  ExpectRefusal(Run({"logits", "a.npy", "nan.npy"}), 2, "1 rows hold a NaN");
  EXPECT_EQ(Run({"logits", "a.npy", "nan.npy", "--nonfinite-rows", "1"}).status, 0);
  ExpectRefusal(Run({"logits", "a.npy", "cut.npy"}), 2, "cut.npy");
  ExpectRefusal(Run({"logits", "a.npy"}), 2, "needs two captures");
  ExpectRefusal(Run({"logits", "a.npy", "a.npy", "--kl-mean", "few"}), 2, "--kl-mean");
  ExpectRefusal(Run({"logits", "a.npy", "a.npy", "--out", "rows.xls"}), 2, "ending");
}

TEST_F(Logits, AllReduceOfFilesAndOfACase) {
  WriteText(Path("r0.npy"), Npy({{2048, 1}}));
  WriteText(Path("r1.npy"), Npy({{1, 1}}));
  const Outcome files =
      Run({"logits", "--all-reduce", "r0.npy", "r1.npy", "r1.npy", "r1.npy", "--against", "r0.npy",
           "--against", "r1.npy", "--against", "r1.npy", "--against", "r1.npy", "--json"});
  ASSERT_EQ(files.status, 0) << files.err;
  const nlohmann::json json = nlohmann::json::parse(files.out);
  EXPECT_EQ(json["fp16"]["differing"], 1);
  EXPECT_EQ(json["fp32"]["differing"], 0);
  EXPECT_EQ(json["own_error"]["max"], 0);
  const Outcome split = Run({"logits", "--all-reduce", "--case",
                             "h=64,i=128,e=4,k=2,g=32,t=2,w13=16x128x32/1,w2=16x128x32/1,head=20"});
  EXPECT_EQ(split.status, 0) << split.err;
  EXPECT_NE(split.out.find("kernels' own error"), std::string::npos) << split.out;
  ExpectRefusal(Run({"logits", "--all-reduce", "r0.npy"}), 2, "cannot sum 1 ranks");
}

using Traces = CommandTest;

TEST_F(Traces, AreComparedAndLimited) {
  WriteText(Path("a.jsonl"), "{\"id\": 1, \"token_ids\": [1, 2], \"finish_reason\": \"stop\"}\n");
  WriteText(Path("b.jsonl"), "{\"id\": 1, \"token_ids\": [1, 3], \"finish_reason\": \"length\"}\n");
  const Outcome out = Run({"traces", "a.jsonl", "b.jsonl", "--json"});
  ASSERT_EQ(out.status, 0) << out.err;
  const nlohmann::json json = nlohmann::json::parse(out.out);
  EXPECT_EQ(json["total"]["stop_to_length"], 1);
  EXPECT_EQ(json["differing"][0]["first"], 1);
  EXPECT_EQ(Run({"traces", "a.jsonl", "b.jsonl", "--finish-changes", "0"}).status, 1);
  EXPECT_EQ(Run({"traces", "a.jsonl", "b.jsonl", "--same"}).status, 1);
  EXPECT_EQ(Run({"traces", "a.jsonl", "a.jsonl", "--same"}).status, 0);
  WriteText(Path("c.jsonl"), "{\"id\": 1, \"token_ids\": [1]}\n{\"id\": 2, \"token_ids\": [1]}\n");
  const Outcome missing = Run({"traces", "a.jsonl", "c.jsonl"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.out.find("in other alone: '2'"), std::string::npos) << missing.out;
  WriteText(Path("d.jsonl"), "{\"id\": 1, \"token_ids\": [1]}\nnonsense\n");
  ExpectRefusal(Run({"traces", "a.jsonl", "d.jsonl"}), 2, "d.jsonl:2: is no JSON");
}

using Explained = CommandTest;

TEST_F(Explained, AnElementOfACaseAndOfARunFile) {
  const std::string one = "h=64,i=32,e=4,k=2,g=32,t=2,w13=16x128x32/1,w2=16x128x32/1";
  const Outcome out = Run({"explain", "--case", one, "--stage", "w2", "--at", "1,7",
                           "--device-steps", "2", "--html", "page.html"});
  ASSERT_EQ(out.status, 0) << out.err;
  EXPECT_NE(out.out.find("w2 at (1, 7)"), std::string::npos) << out.out;
  EXPECT_NE(out.out.find("to the last bit"), std::string::npos) << out.out;
  EXPECT_NE(ReadText(Path("page.html")).find("<canvas id=\"sums\""), std::string::npos);
  ASSERT_EQ(Run({"replay", "--case", one, "--out", "run.h5", "--quiet"}).status, 0);
  const Outcome from = Run({"explain", "--from", "run.h5", "--device-steps", "1", "--json"});
  ASSERT_EQ(from.status, 0) << from.err;
  EXPECT_EQ(nlohmann::json::parse(from.out)["stage"], "w13");
  ExpectRefusal(Run({"explain", "--case", one, "--stage", "w2", "--at", "9,7"}), 2, "outside");
  ExpectRefusal(Run({"explain", "--case", one, "--stage", "w4"}), 2, "use w13");
  ExpectRefusal(Run({"explain", "--from", "run.h5", "--index", "1"}), 2, "holds 1 cases");
}

}  // namespace
}  // namespace voltcheck::tools
