// Generated sequences: the formats of servers, what counts as a difference, hostile lines.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "fixtures/case/error.h"
#include "verify/traces/compare.h"
#include "verify/traces/line_file.h"

namespace voltcheck::traces {
namespace {

Trace One(const std::string& text, const TraceOptions& options = {}) {
  const std::vector<Trace> traces = ParseLine(text, 3, "x.jsonl:3", options);
  EXPECT_EQ(traces.size(), 1U);
  return traces.front();
}

std::string Complaint(const std::string& text) {
  try {
    ParseLine(text, 3, "x.jsonl:3", {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ParseLine, Completions) {
  const Trace t = One(R"({"id": "cmpl-1", "object": "text_completion", "prompt": "p1", "choices":
    [{"index": 0, "text": " a b", "finish_reason": "stop", "logprobs": {"tokens": [" a", " b"],
      "token_logprobs": [null, -0.5], "top_logprobs": [null, {" c": -1.5, " b": -0.5}]}}]})");
  EXPECT_EQ(t.key, "p1") << "an id that the server drew matches nothing";
  EXPECT_EQ(t.tokens, (std::vector<std::string>{" a", " b"}));
  EXPECT_FALSE(t.has_ids);
  EXPECT_EQ(t.text, " a b");
  EXPECT_EQ(t.finish_reason, "stop");
  ASSERT_EQ(t.log_probabilities.size(), 2U);
  EXPECT_FALSE(t.log_probabilities[0]);
  EXPECT_EQ(t.log_probabilities[1], -0.5);
  EXPECT_TRUE(t.top[0].empty());
  EXPECT_EQ(t.top[1][0].token, " b");
  EXPECT_EQ(t.top[1][1].log_probability, -1.5);
}

TEST(ParseLine, ChatInsideABatchLine) {
  const Trace t = One(R"({"id": "batch_req_9", "custom_id": "q7", "cell": "tp4", "response":
    {"status_code": 200, "body": {"id": "chatcmpl-5", "choices": [{"index": 0, "message":
    {"role": "assistant", "content": "hi"}, "finish_reason": "length", "logprobs": {"content":
    [{"token": "token_id:42", "logprob": -0.25, "bytes": [104], "top_logprobs":
    [{"token": "token_id:42", "logprob": -0.25}, {"token": "token_id:7", "logprob": -2}]}]}}]}},
    "metadata": {"batch_size": 8}, "score": true, "error": null})");
  EXPECT_EQ(t.key, "q7");
  EXPECT_EQ(t.tokens, (std::vector<std::string>{"42"}));
  EXPECT_EQ(t.score, 1);
  EXPECT_EQ(t.groups, (std::vector<std::pair<std::string, std::string>>{{"cell", "tp4"},
                                                                        {"batch_size", "8"}}));
  EXPECT_EQ(t.top[0][1].token, "7");
}

TEST(ParseLine, RequestOutputOfVllm) {
  const std::vector<Trace> traces = ParseLine(
      R"({"request_id": "5", "prompt": "p", "outputs": [
        {"index": 0, "text": "x", "token_ids": [9, 8], "finish_reason": "stop", "logprobs":
          [{"9": {"logprob": -0.1, "rank": 1}, "3": {"logprob": -3.0}}, {"8": {"logprob": -1.0}}]},
        {"index": 1, "text": "y", "token_ids": [9], "logprobs": null, "finish_reason": null}]})",
      1, "x:1", {});
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].key, "5#0");
  EXPECT_EQ(traces[1].key, "5#1");
  EXPECT_TRUE(traces[0].has_ids);
  EXPECT_EQ(traces[0].log_probabilities[1], -1.0);
  EXPECT_EQ(traces[0].top[0][1].token, "3");
  EXPECT_EQ(traces[1].finish_reason, "");
}

TEST(ParseLine, FlatObjectsAndOtherKeys) {
  EXPECT_EQ(One(R"({"id": 4, "token_ids": [1, 2], "score": 0.5})").key, "4");
  EXPECT_EQ(One(R"({"tokens": ["a"]})").key, "line 3");
  TraceOptions options;
  options.match = "prompt";
  EXPECT_EQ(One(R"({"id": 4, "prompt": "q", "text": ""})", options).key, "q");
  EXPECT_THROW(One(R"({"id": 4, "text": ""})", options), Error);
}

TEST(ParseLine, HostileLinesGiveOneLineWithTheirPlace) {
  const std::string deep = std::string(100000, '[');
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("17"), deep, "{\"a\": " + deep,
        std::string("{\"text\": \"\xff\xfe\"}"), std::string("{\"text\": 5}"),
        std::string("{\"token_ids\": [1.5]}"), std::string("{\"choices\": []}"),
        std::string("{\"choices\": 3}"), std::string("{\"choices\": [3]}"), std::string("{}"),
        std::string("{\"token_ids\": [1], \"logprobs\": {\"token_logprobs\": [1, 2]}}"),
        std::string("{\"token_ids\": [1], \"logprobs\": {\"top_logprobs\": [{\"a\": \"b\"}]}}"),
        std::string("{\"token_ids\": [1], \"logprobs\": {\"content\": [{}]}}"),
        std::string("{\"token_ids\": [1], \"logprobs\": 5}"),
        std::string("{\"text\": \"a\", \"score\": \"good\"}"),
        std::string("{\"custom_id\": \"a\", \"response\": null, \"error\": {}}")}) {
    const std::string complaint = Complaint(text);
    EXPECT_EQ(complaint.rfind("x.jsonl:3: ", 0), 0U) << text.substr(0, 80);
    EXPECT_LT(complaint.size(), 400U);
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
  }
}

RC_GTEST_PROP(ParseLine, DamagedLinesNeverDoMoreThanThrow, ()) {
  std::string text =
      R"({"id":"a","choices":[{"text":"x","logprobs":{"tokens":["x"],"token_logprobs":[-1]}}]})";
  const auto edits = *rc::gen::inRange(1, 6);
  for (int i = 0; i < edits; ++i) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] =
        static_cast<char>(*rc::gen::inRange(0, 256));
  }
  try {
    RC_ASSERT(!ParseLine(text, 1, "f:1", {}).empty());
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).rfind("f:1: ", 0) == 0);
  }
}

TEST(ComparePair, FirstDifferingTokenWithBothCandidates) {
  const Trace base = One(R"({"id": 1, "token_ids": [5, 6, 7], "finish_reason": "stop", "logprobs": [
    {"5": {"logprob": -0.5}}, {"6": {"logprob": -0.75}, "9": {"logprob": -0.8125}},
    {"7": {"logprob": -1}}]})");
  const Trace other = One(R"({"id": 1, "token_ids": [5, 9], "finish_reason": "length", "logprobs": [
    {"5": {"logprob": -0.5}}, {"6": {"logprob": -0.84375}, "9": {"logprob": -0.8125}}]})");
  const PairResult r = ComparePair(base, other);
  EXPECT_FALSE(r.equal);
  EXPECT_EQ(r.first, 1);
  EXPECT_EQ(r.base_token, "6");
  EXPECT_EQ(r.other_token, "9");
  EXPECT_EQ(r.base_of_base, -0.75);
  EXPECT_EQ(r.base_of_other, -0.8125);
  EXPECT_EQ(r.other_of_base, -0.84375);
  EXPECT_EQ(r.other_of_other, -0.8125);
  EXPECT_TRUE(r.finish_changed);
  EXPECT_EQ(r.top_positions, 2U);
  EXPECT_EQ(r.top_equal, 1U);
  EXPECT_EQ(r.top_difference, 0.09375);
  Counts counts;
  counts.Add(r);
  EXPECT_EQ(counts.stop_to_length, 1U);
  EXPECT_EQ(counts.earliest, 1);
}

TEST(ComparePair, APrefixIsNotTheWhole) {
  const PairResult r = ComparePair(One(R"({"token_ids": [1, 2]})"), One(R"({"token_ids": [1]})"));
  EXPECT_FALSE(r.equal);
  EXPECT_EQ(r.first, 1);
  EXPECT_EQ(r.other_token, "");
  EXPECT_FALSE(r.other_of_other);
}

TEST(ComparePair, IdsAgainstTextsAreDecidedByText) {
  const PairResult r = ComparePair(One(R"({"token_ids": [1, 2], "text": "ab"})"),
                                   One(R"({"tokens": ["a", "b"], "text": "ac"})"));
  EXPECT_TRUE(r.by_text);
  EXPECT_EQ(r.first, 1);
  EXPECT_FALSE(r.equal);
}

TEST(ComparePair, AHappyScorerHidesNothing) {
  const PairResult r =
      ComparePair(One(R"({"text": "42", "finish_reason": "stop", "score": 1})"),
                  One(R"({"text": "42", "finish_reason": "length", "score": true})"));
  EXPECT_TRUE(r.equal);
  EXPECT_FALSE(r.score_flipped);
  EXPECT_TRUE(r.finish_changed);
}

class Files : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& path : paths_) {
      std::filesystem::remove(path);
    }
  }
  std::string Write(const std::string& text) {
    paths_.push_back(
        (std::filesystem::temp_directory_path() /
         ("voltcheck-traces-" + std::to_string(getpid()) + "-" + std::to_string(paths_.size())))
            .string());
    std::ofstream(paths_.back(), std::ios::binary) << text;
    return paths_.back();
  }
  std::vector<std::string> paths_;
};

TEST_F(Files, AreMatchedWhateverTheirOrder) {
  const std::string base = Write(
      "{\"id\": \"a\", \"token_ids\": [1], \"cell\": \"x\"}\n\n"
      "{\"id\": \"b\", \"token_ids\": [2], \"cell\": \"x\"}\r\n"
      "{\"id\": \"c\", \"token_ids\": [3], \"cell\": \"y\"}");
  const std::string other = Write(
      "{\"id\": \"d\", \"token_ids\": [3]}\n{\"id\": \"c\", \"token_ids\": [4]}\n"
      "{\"id\": \"a\", \"token_ids\": [1]}\n");
  const TraceComparison c = CompareTraces(base, other, {});
  EXPECT_TRUE(c.complete);
  EXPECT_EQ(c.total.pairs, 2U);
  EXPECT_EQ(c.total.equal, 1U);
  EXPECT_EQ(c.missing_other_first, (std::vector<std::string>{"b"}));
  EXPECT_EQ(c.missing_base_first, (std::vector<std::string>{"d"}));
  EXPECT_EQ(c.groups.at("cell=x").equal, 1U);
  EXPECT_EQ(c.groups.at("cell=y").pairs, 1U);
  EXPECT_EQ(c.groups.at("cell=y").equal, 0U);
}

TEST_F(Files, WhatCannotBeComparedIsSaid) {
  const std::string one = Write("{\"id\": \"a\", \"text\": \"\"}\n");
  const std::string twice =
      Write("{\"id\": \"a\", \"text\": \"\"}\n{\"id\": \"a\", \"text\": \"\"}\n");
  const std::string none = Write("\n  \n");
  const std::string foreign = Write("{\"id\": \"z\", \"text\": \"\"}\n");
  EXPECT_THROW(CompareTraces(one, twice, {}), Error);
  EXPECT_THROW(CompareTraces(twice, one, {}), Error);
  EXPECT_THROW(CompareTraces(one, none, {}), Error);
  EXPECT_THROW(CompareTraces(none, one, {}), Error);
  EXPECT_THROW(CompareTraces(one, foreign, {}), Error);
  EXPECT_THROW(CompareTraces(one, "/nowhere", {}), Error);
}

TEST_F(Files, LongLinesCrossBuffersAndEndlessOnesAreRefused) {
  const std::string long_text(3 << 20, 'x');
  LineFile file(Write("first\n" + long_text + "\nlast"));
  std::string line;
  ASSERT_TRUE(file.Next(line));
  ASSERT_TRUE(file.Next(line));
  EXPECT_EQ(line, long_text);
  const std::uint64_t offset = file.offset();
  ASSERT_TRUE(file.Next(line));
  EXPECT_EQ(line, "last");
  EXPECT_EQ(file.number(), 3U);
  file.Seek(offset, 2);
  ASSERT_TRUE(file.Next(line));
  EXPECT_EQ(line.size(), long_text.size());
  EXPECT_EQ(file.number(), 2U);

  const std::string endless = Write("");
  std::filesystem::resize_file(endless, LineFile::kLongestLine + 2);
  LineFile holes(endless);
  EXPECT_THROW(holes.Next(line), Error);
}

}  // namespace
}  // namespace voltcheck::traces
