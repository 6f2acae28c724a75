#include "verify/traces/trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "fixtures/case/error.h"

namespace voltcheck::traces {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 32;

// Brackets outside strings; the parser would keep every level.
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Reads one line; every complaint names the place.
class Reader {
 public:
  Reader(std::uint64_t line, const std::string& where, const TraceOptions& options)
      : line_(line), where_(where), options_(options) {}

  std::vector<Trace> Read(std::string_view text) const {
    if (IsTooDeep(text)) {
      throw Bad("is nested deeper than " + std::to_string(kDeepest));
    }
    Json json;
    try {
      json = Json::parse(text);
    } catch (const Json::exception& error) {
      std::string what = error.what();  // "[json.exception.KIND.NUMBER] text", which quotes bytes
      for (char& c : what) {
        c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
      }
      throw Bad("is no JSON: " + what.substr(what.find("] ") + 2));
    }
    if (!json.is_object()) {
      throw Bad("is no JSON object");
    }
    // A batch's line wraps the response.
    const Json* body = &json;
    if (const Json* response = Find(json, "response")) {
      const Json* inner = response->is_object() ? Find(*response, "body") : nullptr;
      if (inner == nullptr || !inner->is_object()) {
        throw Bad("holds a response without a body; the request failed");
      }
      body = inner;
    }
    std::vector<Trace> traces;
    for (const char* list : {"choices", "outputs"}) {
      if (const Json* choices = Find(*body, list)) {
        for (const Json& choice : Array(*choices, list)) {
          traces.push_back(OfChoice(Object(choice, list), *body, json));
        }
        if (traces.empty()) {
          throw Bad(std::string("has no ") + list);
        }
        Number(traces, *body, list);
        return traces;
      }
    }
    traces.push_back(OfChoice(*body, *body, json));
    return traces;
  }

 private:
  Error Bad(const std::string& what) const {
    return BadInput(where_, what, "give one response a line as JSON");
  }

  static const Json* Find(const Json& object, const char* key) {
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }
  const Json& Array(const Json& json, const char* name) const {
    if (!json.is_array()) {
      throw Bad(std::string("has ") + name + " that is no list");
    }
    return json;
  }
  const Json& Object(const Json& json, const char* name) const {
    if (!json.is_object()) {
      throw Bad(std::string("has ") + name + " that is no object");
    }
    return json;
  }
  std::string Text(const Json& json, const char* name) const {
    if (!json.is_string()) {
      throw Bad(std::string("has ") + name + " that is no text");
    }
    return json.get<std::string>();
  }
  double LogProbability(const Json& json) const {
    if (json.is_null()) {
      return -std::numeric_limits<double>::infinity();
    }
    if (!json.is_number()) {
      throw Bad("has a log-probability that is no number");
    }
    return json.get<double>();
  }

  // Several choices of one response are told apart by their index.
  void Number(std::vector<Trace>& traces, const Json& body, const char* list) const {
    if (traces.size() == 1) {
      return;
    }
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const Json* index = Find(body.at(list).at(i), "index");
      traces[i].key += "#" + (index != nullptr && index->is_number_integer() ? index->dump()
                                                                             : std::to_string(i));
    }
  }

  Trace OfChoice(const Json& choice, const Json& body, const Json& line) const {
    Trace trace;
    trace.line = line_;
    trace.key = Key(line, body);
    const bool has_text = ReadText(choice, trace);
    if (const Json* ids = Find(choice, "token_ids")) {
      ReadIds(Array(*ids, "token_ids"), trace);
    }
    if (const Json* logprobs = Find(choice, "logprobs")) {
      ReadLogprobs(*logprobs, trace);
    }
    if (const Json* tokens = Find(choice, "tokens"); tokens != nullptr && !trace.has_tokens) {
      for (const Json& token : Array(*tokens, "tokens")) {
        trace.tokens.push_back(TokenText(token));
      }
      trace.has_tokens = true;
      trace.has_ids = !tokens->empty() && tokens->front().is_number_integer();
    }
    if (!trace.has_tokens && !has_text) {
      throw Bad("has neither tokens nor text");
    }
    if (!trace.log_probabilities.empty() && trace.log_probabilities.size() != trace.tokens.size()) {
      throw Bad("has " + std::to_string(trace.log_probabilities.size()) +
                " log-probabilities for " + std::to_string(trace.tokens.size()) + " tokens");
    }
    if (trace.top.size() > trace.tokens.size()) {
      throw Bad("has top log-probabilities of more positions than tokens");
    }
    if (const Json* reason = Find(choice, "finish_reason")) {
      trace.finish_reason = Text(*reason, "finish_reason");
    }
    for (const Json* from : {&choice, &body, &line}) {
      const Json* score = Find(*from, options_.score.c_str());
      if (score != nullptr && !trace.score) {
        if (!score->is_number() && !score->is_boolean()) {
          throw Bad("has a " + options_.score + " that is neither a number nor true or false");
        }
        trace.score = score->is_boolean() ? (score->get<bool>() ? 1 : 0) : score->get<double>();
      }
    }
    for (const std::string& group : options_.groups) {
      if (const Json* value = FindGroup(group, choice, body, line)) {
        trace.groups.emplace_back(group,
                                  value->is_string() ? value->get<std::string>() : value->dump());
      }
    }
    return trace;
  }

  const Json* FindGroup(const std::string& key, const Json& choice, const Json& body,
                        const Json& line) const {
    for (const Json* from : {&choice, &body, &line}) {
      const Json* metadata = Find(*from, "metadata");
      for (const Json* place :
           {from, metadata != nullptr && metadata->is_object() ? metadata : from}) {
        const Json* value = Find(*place, key.c_str());
        if (value != nullptr && value->is_primitive()) {
          return value;
        }
      }
    }
    return nullptr;
  }

  static bool IsDrawn(const std::string& id) {
    return id.starts_with("cmpl-") || id.starts_with("chatcmpl-");
  }

  std::string Key(const Json& line, const Json& body) const {
    constexpr std::array<const char*, 4> kKeys{"custom_id", "request_id", "id", "prompt"};
    for (const char* key : kKeys) {
      if (options_.match != "auto" && options_.match != key) {
        continue;
      }
      for (const Json* from : {&line, &body}) {
        const Json* value = Find(*from, key);
        if (value == nullptr || (!value->is_string() && !value->is_number_integer())) {
          continue;
        }
        std::string text = value->is_string() ? value->get<std::string>() : value->dump();
        if (options_.match == key || !IsDrawn(text)) {
          return text;
        }
      }
    }
    if (options_.match != "auto" && options_.match != "line") {
      throw Bad("has no " + options_.match);
    }
    return "line " + std::to_string(line_);
  }

  // False when the choice has none.
  bool ReadText(const Json& choice, Trace& trace) const {
    bool has_text = false;
    const Json* text = Find(choice, "text");
    if (text == nullptr) {
      const Json* message = Find(choice, "message");
      if (message != nullptr) {
        text = Find(Object(*message, "message"), "content");
        has_text = true;  // a message may have no content, a tool's call for example
      }
    }
    if (text != nullptr) {
      trace.text = Text(*text, "text");
      has_text = true;
    }
    return has_text;
  }

  void ReadIds(const Json& ids, Trace& trace) const {
    for (const Json& id : ids) {
      if (!id.is_number_integer()) {
        throw Bad("has token_ids that are no whole numbers");
      }
      trace.tokens.push_back(id.dump());
    }
    trace.has_tokens = true;
    trace.has_ids = true;
  }

  // "token_id:17" is how vLLM writes ids in the place of text.
  std::string TokenText(const Json& token) const {
    if (token.is_number_integer()) {
      return token.dump();
    }
    std::string text = Text(token, "a token");
    constexpr std::string_view kPrefix = "token_id:";
    return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
  }

  static void Sort(std::vector<Candidate>& candidates) {
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                    : a.token < b.token;
    });
  }

  // {"token": log-probability, ...}, or vLLM's {"id": {"logprob": ..., "rank": ...}, ...}.
  std::vector<Candidate> TopOfObject(const Json& position) const {
    std::vector<Candidate> top;
    if (position.is_null()) {
      return top;
    }
    for (const auto& [token, value] : Object(position, "top log-probabilities").items()) {
      const Json* inner = value.is_object() ? Find(value, "logprob") : &value;
      if (inner == nullptr) {
        throw Bad("has a candidate without logprob");
      }
      top.push_back({TokenText(Json(token)), LogProbability(*inner)});
    }
    Sort(top);
    return top;
  }

  void ReadLogprobs(const Json& logprobs, Trace& trace) const {
    const bool had_tokens = trace.has_tokens;
    if (logprobs.is_array()) {  // vLLM's RequestOutput: one object for each position
      for (const Json& position : logprobs) {
        trace.top.push_back(TopOfObject(position));
      }
      FillFromTop(trace);
      return;
    }
    Object(logprobs, "logprobs");
    if (const Json* content = Find(logprobs, "content")) {  // chat
      for (const Json& position : Array(*content, "logprobs.content")) {
        const Json* token = Find(Object(position, "logprobs.content"), "token");
        const Json* value = Find(position, "logprob");
        if (token == nullptr) {
          throw Bad("has a position of logprobs.content without token");
        }
        if (!had_tokens) {
          trace.tokens.push_back(TokenText(*token));
        }
        trace.log_probabilities.emplace_back(
            value == nullptr ? std::nullopt : std::optional(LogProbability(*value)));
        std::vector<Candidate> top;
        if (const Json* list = Find(position, "top_logprobs")) {
          for (const Json& candidate : Array(*list, "top_logprobs")) {
            const Json* name = Find(Object(candidate, "top_logprobs"), "token");
            const Json* logprob = Find(candidate, "logprob");
            if (name == nullptr || logprob == nullptr) {
              throw Bad("has top_logprobs without token or logprob");
            }
            top.push_back({TokenText(*name), LogProbability(*logprob)});
          }
        }
        Sort(top);
        trace.top.push_back(std::move(top));
      }
      trace.has_tokens = true;
      return;
    }
    if (const Json* tokens = Find(logprobs, "tokens"); tokens != nullptr && !had_tokens) {
      for (const Json& token : Array(*tokens, "logprobs.tokens")) {
        trace.tokens.push_back(TokenText(token));
      }
      trace.has_tokens = true;
    }
    if (const Json* values = Find(logprobs, "token_logprobs")) {
      for (const Json& value : Array(*values, "token_logprobs")) {
        trace.log_probabilities.emplace_back(
            value.is_null() ? std::nullopt : std::optional(LogProbability(value)));
      }
    }
    if (const Json* top = Find(logprobs, "top_logprobs")) {
      for (const Json& position : Array(*top, "top_logprobs")) {
        trace.top.push_back(TopOfObject(position));
      }
    }
  }

  // vLLM records the chosen token among the candidates.
  static void FillFromTop(Trace& trace) {
    for (std::size_t i = 0; i < std::min(trace.top.size(), trace.tokens.size()); ++i) {
      std::optional<double> found;
      for (const Candidate& c : trace.top[i]) {
        found = c.token == trace.tokens[i] ? std::optional(c.log_probability) : found;
      }
      trace.log_probabilities.push_back(found);
    }
  }

  std::uint64_t line_;
  const std::string& where_;
  const TraceOptions& options_;
};

}  // namespace

std::vector<Trace> ParseLine(std::string_view text, std::uint64_t line, const std::string& where,
                             const TraceOptions& options) {
  return Reader(line, where, options).Read(text);
}

}  // namespace voltcheck::traces
