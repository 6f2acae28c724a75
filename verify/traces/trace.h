#ifndef VOLTCHECK_VERIFY_TRACES_TRACE_H_
#define VOLTCHECK_VERIFY_TRACES_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voltcheck::traces {

/// A candidate for one position: a token's id where the file has ids, else its text.
struct Candidate {
  std::string token;
  double log_probability = 0;  ///< -infinity for null
};

/// One generated sequence: a choice of a response.
struct Trace {
  std::string key;          ///< what matches it with the other file
  std::uint64_t line = 0;   ///< from 1
  bool has_tokens = false;  ///< false: only `text` is known
  bool has_ids = false;     ///< `tokens` are ids written as numbers
  std::vector<std::string> tokens;
  std::string text;
  std::vector<std::optional<double>> log_probabilities;  ///< of `tokens`; empty: not recorded
  std::vector<std::vector<Candidate>> top;  ///< per position, likeliest first; empty: not recorded
  std::string finish_reason;                ///< empty: not recorded
  std::optional<double> score;
  std::vector<std::pair<std::string, std::string>> groups;  ///< key and value, in order of keys
};

/// How lines are read.
struct TraceOptions {
  /// What matches sequences: "auto" (custom_id, request_id, id, prompt, else the line's number),
  /// or one of custom_id, request_id, id, prompt, line. `auto` passes over an id that the server
  /// drew (cmpl-..., chatcmpl-...).
  std::string match = "auto";
  std::string score = "score";  ///< key of the scorer's result: a number or true/false
  /// Keys whose values make groups; each is looked for in the line, then in its "metadata".
  std::vector<std::string> groups = {"cell", "batch_size"};
};

/// The sequences of one line: a response of an OpenAI-compatible server (completions or chat), a
/// line of its batch output, a dump of vLLM's RequestOutput, or a flat object of such keys;
/// docs/commands/traces.md lists them. `where` is "FILE:LINE". Throws Error (status 2) with one
/// line for what is no JSON object, nested deeper than 32, not UTF-8, has no sequence, or an entry
/// of another type than it has to have.
std::vector<Trace> ParseLine(std::string_view text, std::uint64_t line, const std::string& where,
                             const TraceOptions& options);

}  // namespace voltcheck::traces

#endif  // VOLTCHECK_VERIFY_TRACES_TRACE_H_
