#ifndef VOLTCHECK_VERIFY_TRACES_COMPARE_H_
#define VOLTCHECK_VERIFY_TRACES_COMPARE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/traces/trace.h"

namespace voltcheck::traces {

/// How many of the likeliest candidates of a position are compared.
inline constexpr std::size_t kTopCandidates = 5;

/// Two sequences of one key against each other.
struct PairResult {
  std::string key;
  std::uint64_t base_line = 0, other_line = 0;
  std::vector<std::pair<std::string, std::string>> groups;
  bool equal = false;  ///< complete sequences: every token, and the same number
  /// First position at which they differ; with text alone, the first byte. -1: none.
  std::int64_t first = -1;
  bool by_text = false;                 ///< one of them has no tokens
  std::string base_token, other_token;  ///< there; empty where a sequence has ended
  /// Log-probabilities there, of base's and of other's token, in base and in other.
  std::optional<double> base_of_base, base_of_other, other_of_base, other_of_other;
  bool finish_changed = false;
  std::string base_finish, other_finish;
  bool score_flipped = false;
  std::optional<double> base_score, other_score;
  /// Positions with the same context, up to and with the first that differs, that record
  /// candidates on both sides; how many of them have the same five with the same log-probabilities;
  /// the largest difference of a candidate's that both name.
  std::uint64_t top_positions = 0, top_equal = 0;
  double top_difference = 0;
};
PairResult ComparePair(const Trace& base, const Trace& other);

/// What is counted in total and for each group.
struct Counts {
  std::uint64_t pairs = 0, equal = 0;
  std::uint64_t finish_recorded = 0, finish_changed = 0;
  std::uint64_t stop_to_length = 0;  ///< a stop that became a length cap, of finish_changed
  std::uint64_t scored = 0, score_flips = 0;
  std::uint64_t lost = 0;  ///< score flips to a lower score
  std::uint64_t top_positions = 0, top_equal = 0;
  double top_difference = 0;
  std::int64_t earliest = -1;  ///< smallest first differing position; -1: none
  void Add(const PairResult& pair);
};

struct TraceComparison {
  Counts total;
  /// By "key=value" of each group.
  std::map<std::string, Counts> groups;
  std::uint64_t missing_base = 0, missing_other = 0;                 ///< keys of one file alone
  std::vector<std::string> missing_base_first, missing_other_first;  ///< a few of them
  std::uint64_t base_traces = 0, other_traces = 0;
  bool complete = false;  ///< false: stopped
};

struct TraceCompareOptions {
  TraceOptions reading;
  std::function<void(const PairResult& pair)> pair = {};  ///< in the order of base
  /// Called with the bytes read so far of both files; false stops.
  std::function<bool(std::uint64_t bytes)> progress = {};
};

/// Compares two files of JSON lines. OTHER is read once for the keys and places of its lines, then
/// BASE line by line beside the matching line of OTHER: memory holds the keys and two lines. Throws
/// Error (status 2) for a line that cannot be read, a key that is there twice, an empty file, and
/// files without a common key.
TraceComparison CompareTraces(const std::string& base, const std::string& other,
                              const TraceCompareOptions& options);

}  // namespace voltcheck::traces

#endif  // VOLTCHECK_VERIFY_TRACES_COMPARE_H_
