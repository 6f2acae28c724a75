#ifndef VOLTCHECK_TESTS_SCALE_DEAL_SIMULATION_H_
#define VOLTCHECK_TESTS_SCALE_DEAL_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "verify/scale/dealer.h"
#include "verify/scale/shards.h"

namespace voltcheck::verify {

/// A sweep over many ranks in simulated time: the real dealer, ranks that work as FollowRun does
/// (they ask for more when nothing waits behind the case that runs), and one rank 0 that answers
/// one message after the other. Times are in microseconds.
struct DealSimulation {
  std::size_t ranks = 10'000;
  std::size_t cases = 10'000'000;
  std::uint64_t latency = 1'020;  ///< of a message: 20 on the wire, 1,000 until a look for messages
  std::uint64_t service = 12;     ///< of rank 0 for a message: an assumption, docs/scale.md
  std::uint64_t beat = 500'000;   ///< between the notes of one rank, each a message too
  std::uint64_t leader_beat = 7'500'000;  ///< between rank 0's signs of life to one rank
};

struct DealOutcome {
  double idle = 0;         ///< share of the ranks' time in which they had nothing to run
  double busy_leader = 0;  ///< share of the time in which rank 0 answered
  double seconds = 0;      ///< until the last case is finished
  std::uint64_t requests = 0;
};

/// Costs between 10 ms and 1 s, as many in each octave; what a case then takes is between half and
/// twice what was predicted. Fixed pseudo-random numbers.
inline DealOutcome Simulate(const DealSimulation& s) {
  std::uint64_t state = 88172645463325252ULL;
  const auto next = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  std::vector<std::uint64_t> costs(s.cases);
  for (std::uint64_t& cost : costs) {
    const std::uint64_t octave = std::uint64_t{10'000} << next() % 7;
    cost = octave + next() % octave;
  }
  Dealer dealer(CostliestFirst(costs), costs, s.ranks);

  struct Rank {
    std::vector<std::uint64_t> waiting;
    std::size_t at = 0;         ///< in `waiting`
    std::uint64_t free_at = 0;  ///< when the running case ends
    std::uint64_t busy = 0;
    bool runs = false;
  };
  std::vector<Rank> ranks(s.ranks);
  enum class What { kAsked, kGiven, kFree };
  struct Event {
    std::uint64_t time;
    std::uint64_t order;  ///< of equal times the first made
    What what;
    std::uint32_t rank;
    bool operator>(const Event& o) const {
      return time != o.time ? time > o.time : order > o.order;
    }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::uint64_t order = 0;
  const auto at = [&](std::uint64_t time, What what, std::size_t rank) {
    events.push({time, order++, what, static_cast<std::uint32_t>(rank)});
  };
  for (std::size_t r = 0; r < s.ranks; ++r) {
    at(s.latency, What::kAsked, r);
  }
  DealOutcome outcome;
  std::uint64_t leader_free = 0;
  std::uint64_t end = 0;
  std::vector<std::vector<std::uint64_t>> given(s.ranks);
  const auto start = [&](std::size_t r, std::uint64_t now) {
    Rank& rank = ranks[r];
    if (rank.runs || rank.at == rank.waiting.size()) {
      return;
    }
    const std::uint64_t number = rank.waiting[rank.at++];
    const std::uint64_t takes = costs[number] / 2 + next() % (costs[number] * 3 / 2);
    rank.runs = true;
    rank.free_at = now + takes;
    rank.busy += takes;
    end = std::max(end, rank.free_at);
    at(rank.free_at, What::kFree, r);
    if (rank.at == rank.waiting.size()) {
      at(now + s.latency, What::kAsked, r);
    }
    dealer.Finished(r, number);
  };
  // Notes and signs of life take their share of rank 0's time beside the requests.
  const double notes = static_cast<double>(s.ranks) / static_cast<double>(s.beat) +
                       static_cast<double>(s.ranks) / static_cast<double>(s.leader_beat);
  const double slowed = 1 / std::max(0.01, 1 - notes * static_cast<double>(s.service));
  std::uint64_t served = 0;
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    Rank& rank = ranks[event.rank];
    switch (event.what) {
      case What::kAsked: {
        ++outcome.requests;
        // Two messages: what is finished, and that more is wanted.
        const auto takes =
            static_cast<std::uint64_t>(2 * static_cast<double>(s.service) * slowed + 0.5);
        leader_free = std::max(leader_free, event.time) + takes;
        served += takes;
        given[event.rank] = dealer.Deal(event.rank);
        if (!given[event.rank].empty()) {
          at(leader_free + s.latency, What::kGiven, event.rank);
        }
        break;
      }
      case What::kGiven:
        rank.waiting.erase(rank.waiting.begin(),
                           rank.waiting.begin() + static_cast<std::ptrdiff_t>(rank.at));
        rank.at = 0;
        rank.waiting.insert(rank.waiting.end(), given[event.rank].begin(), given[event.rank].end());
        start(event.rank, event.time);
        break;
      case What::kFree:
        rank.runs = false;
        start(event.rank, event.time);
        break;
    }
  }
  std::uint64_t busy = 0;
  for (const Rank& rank : ranks) {
    busy += rank.busy;
  }
  const double span = static_cast<double>(end);
  outcome.idle = 1 - static_cast<double>(busy) / (span * static_cast<double>(s.ranks));
  outcome.busy_leader =
      std::min(1.0, static_cast<double>(served) / span + notes * static_cast<double>(s.service));
  outcome.seconds = span * 1e-6;
  return outcome;
}

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_TESTS_SCALE_DEAL_SIMULATION_H_
