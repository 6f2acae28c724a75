#include "verify/traces/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "fixtures/case/error.h"
#include "verify/traces/line_file.h"

namespace voltcheck::traces {
namespace {

constexpr std::size_t kNamed = 5;
constexpr std::uint64_t kProgressEvery = 64;

std::optional<double> LogProbabilityOf(const Trace& trace, std::size_t position,
                                       const std::string& token) {
  if (token.empty()) {
    return std::nullopt;
  }
  if (position < trace.log_probabilities.size() && trace.tokens[position] == token) {
    return trace.log_probabilities[position];
  }
  if (position < trace.top.size()) {
    for (const Candidate& c : trace.top[position]) {
      if (c.token == token) {
        return c.log_probability;
      }
    }
  }
  return std::nullopt;
}

// The likeliest candidates; a server lists the chosen token beside them when it is none.
std::span<const Candidate> Best(const std::vector<Candidate>& top) {
  return {top.data(), std::min(top.size(), kTopCandidates)};
}

void CompareTop(const Trace& base, const Trace& other, std::size_t positions, PairResult& result) {
  for (std::size_t i = 0; i < std::min({positions, base.top.size(), other.top.size()}); ++i) {
    const std::span<const Candidate> a = Best(base.top[i]);
    const std::span<const Candidate> b = Best(other.top[i]);
    if (a.empty() || b.empty()) {
      continue;
    }
    ++result.top_positions;
    bool equal = a.size() == b.size();
    for (const Candidate& c : a) {
      const auto same =
          std::find_if(b.begin(), b.end(), [&](const Candidate& d) { return d.token == c.token; });
      if (same == b.end()) {
        equal = false;
        continue;
      }
      if (same->log_probability != c.log_probability) {
        equal = false;
        const double d = std::abs(same->log_probability - c.log_probability);
        result.top_difference = std::max(
            result.top_difference, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
      }
    }
    result.top_equal += equal ? 1 : 0;
  }
}

// Where a line's sequence lies in OTHER.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
  std::size_t index = 0;  // among the sequences of the line
  bool seen = false;
};

Error Twice(const std::string& where, const std::string& key, std::uint64_t first) {
  return BadInput(
      where, "has the key " + Quote(key) + " that line " + std::to_string(first) + " has already",
      "give each response a key of its own, or choose another with --match");
}

}  // namespace

PairResult ComparePair(const Trace& base, const Trace& other) {
  PairResult r;
  r.key = base.key;
  r.base_line = base.line;
  r.other_line = other.line;
  r.groups = base.groups;
  // Ids against texts say nothing: then the texts decide.
  r.by_text = !base.has_tokens || !other.has_tokens || base.has_ids != other.has_ids;
  std::size_t common = 0;
  if (r.by_text) {
    const auto [a, b] =
        std::mismatch(base.text.begin(), base.text.end(), other.text.begin(), other.text.end());
    common = static_cast<std::size_t>(a - base.text.begin());
    r.equal = a == base.text.end() && b == other.text.end();
  } else {
    const auto [a, b] = std::mismatch(base.tokens.begin(), base.tokens.end(), other.tokens.begin(),
                                      other.tokens.end());
    common = static_cast<std::size_t>(a - base.tokens.begin());
    r.equal = a == base.tokens.end() && b == other.tokens.end();
    if (!r.equal) {
      r.base_token = a == base.tokens.end() ? "" : *a;
      r.other_token = b == other.tokens.end() ? "" : *b;
      r.base_of_base = LogProbabilityOf(base, common, r.base_token);
      r.base_of_other = LogProbabilityOf(base, common, r.other_token);
      r.other_of_base = LogProbabilityOf(other, common, r.base_token);
      r.other_of_other = LogProbabilityOf(other, common, r.other_token);
    }
    CompareTop(base, other, common + 1, r);
  }
  r.first = r.equal ? -1 : static_cast<std::int64_t>(common);
  r.base_finish = base.finish_reason;
  r.other_finish = other.finish_reason;
  r.finish_changed = base.finish_reason != other.finish_reason;
  r.base_score = base.score;
  r.other_score = other.score;
  r.score_flipped = base.score && other.score && *base.score != *other.score;
  return r;
}

void Counts::Add(const PairResult& p) {
  ++pairs;
  equal += p.equal ? 1 : 0;
  finish_recorded += p.base_finish.empty() && p.other_finish.empty() ? 0 : 1;
  finish_changed += p.finish_changed ? 1 : 0;
  stop_to_length += p.base_finish == "stop" && p.other_finish == "length" ? 1 : 0;
  scored += p.base_score && p.other_score ? 1 : 0;
  score_flips += p.score_flipped ? 1 : 0;
  lost += p.score_flipped && *p.other_score < *p.base_score ? 1 : 0;
  top_positions += p.top_positions;
  top_equal += p.top_equal;
  top_difference = std::max(top_difference, p.top_difference);
  if (p.first >= 0 && !p.by_text && (earliest < 0 || p.first < earliest)) {
    earliest = p.first;
  }
}

TraceComparison CompareTraces(const std::string& base, const std::string& other,
                              const TraceCompareOptions& options) {
  TraceComparison comparison;
  std::string text;
  const auto go_on = [&](std::uint64_t number, std::uint64_t bytes) {
    return number % kProgressEvery != 0 || !options.progress || options.progress(bytes);
  };

  LineFile others(other);
  std::unordered_map<std::string, Place> places;
  std::vector<std::string> order;  // of OTHER's keys, so that what is missing is named in order
  while (others.Next(text)) {
    const std::vector<Trace> traces =
        ParseLine(text, others.number(), others.Where(), options.reading);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const Place place{others.offset(), others.number(), i, false};
      const auto [it, is_new] = places.emplace(traces[i].key, place);
      if (!is_new) {
        throw Twice(others.Where(), traces[i].key, it->second.line);
      }
      order.push_back(traces[i].key);
    }
    if (!go_on(others.number(), others.read())) {
      return comparison;
    }
  }
  comparison.other_traces = order.size();

  LineFile bases(base);
  std::unordered_map<std::string, std::uint64_t> seen;
  std::string other_text;
  while (bases.Next(text)) {
    for (const Trace& trace : ParseLine(text, bases.number(), bases.Where(), options.reading)) {
      ++comparison.base_traces;
      const auto [first, is_new] = seen.emplace(trace.key, trace.line);
      if (!is_new) {
        throw Twice(bases.Where(), trace.key, first->second);
      }
      const auto it = places.find(trace.key);
      if (it == places.end()) {
        ++comparison.missing_other;
        if (comparison.missing_other_first.size() < kNamed) {
          comparison.missing_other_first.push_back(trace.key);
        }
        continue;
      }
      it->second.seen = true;
      others.Seek(it->second.offset, it->second.line);
      others.Next(other_text);
      const std::vector<Trace> candidates =
          ParseLine(other_text, others.number(), others.Where(), options.reading);
      if (it->second.index >= candidates.size()) {
        throw BadInput(others.Where(), "has changed while it was read", "compare finished files");
      }
      const PairResult pair = ComparePair(trace, candidates[it->second.index]);
      comparison.total.Add(pair);
      for (const auto& [key, value] : pair.groups) {
        comparison.groups[key + "=" + value].Add(pair);
      }
      if (options.pair) {
        options.pair(pair);
      }
    }
    if (!go_on(bases.number(), others.size() + bases.read())) {
      return comparison;
    }
  }
  for (const std::string& key : order) {
    if (!places.at(key).seen) {
      ++comparison.missing_base;
      if (comparison.missing_base_first.size() < kNamed) {
        comparison.missing_base_first.push_back(key);
      }
    }
  }
  if (comparison.base_traces == 0 || comparison.other_traces == 0) {
    throw BadInput(comparison.base_traces == 0 ? base : other, "holds no response",
                   "give one response a line as JSON");
  }
  if (comparison.total.pairs == 0) {
    throw BadInput(other, "has no key in common with " + base,
                   "match them by another key with --match");
  }
  comparison.complete = true;
  return comparison;
}

}  // namespace voltcheck::traces
