#include "kernels/simulator/schedule/explore.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fixtures/case/error.h"
#include "kernels/simulator/schedule/interleaving.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kMostThreads = 512;
constexpr std::size_t kMostEvents = 1 << 16;

using Clock = std::vector<std::uint32_t>;

void Raise(Clock& clock, const Clock& other) {
  for (std::size_t t = 0; t < clock.size(); ++t) {
    clock[t] = std::max(clock[t], other[t]);
  }
}

/// The state before an event, and what is left to try from it.
struct Node {
  std::vector<std::uint32_t> enabled;
  std::set<std::uint32_t> waiting;
  std::set<std::uint32_t> backtrack;
  /// Threads whose next operation leads nowhere new from here: it was tried, here or further up,
  /// and nothing that conflicts with it has happened since.
  std::map<std::uint32_t, Footprint> sleep;
  std::uint32_t chosen = 0;
};

/// What an order leads to, as far as orders are compared.
struct Outcome {
  std::uint64_t memory = 0;
  std::string checkers;
  bool operator==(const Outcome&) const = default;
};

std::string TextOf(const std::vector<Event>& events) {
  std::string text;
  for (std::size_t i = 0; i < events.size();) {
    std::size_t end = i;
    while (end < events.size() && events[end].thread == events[i].thread) {
      ++end;
    }
    text += (text.empty() ? "" : ",") + std::to_string(events[i].thread) +
            (end - i > 1 ? "x" + std::to_string(end - i) : "");
    i = end;
  }
  return "steps:" + text;
}

class Explorer {
 public:
  Explorer(const LaunchState& launch, Exploration& exploration)
      : launch_(launch), exploration_(exploration), interleaving_(launch) {}

  GridResult Run() {
    const std::uint64_t limit = launch_.options.interleavings;
    bool more = true;
    while (more && exploration_.interleavings + exploration_.pruned < limit) {
      RunOnce();
      more = BackTrack();
    }
    exploration_.complete = !more && !cut_off_;
    Finish();
    return std::move(result_);
  }

 private:
  void RunOnce() {
    events_.clear();
    interleaving_.Restart();
    bool pruned = false;
    while (true) {
      const std::vector<std::uint32_t> enabled = interleaving_.Enabled();
      if (enabled.empty()) {
        break;
      }
      if (events_.size() == kMostEvents) {
        cut_off_ = true;
        break;
      }
      if (events_.size() == nodes_.size() && !Open(enabled)) {
        pruned = true;
        break;
      }
      TakeStep();
    }
    exploration_.operations += events_.size();
    if (pruned) {
      ++exploration_.pruned;
    } else {
      ++exploration_.interleavings;
      Judge();
    }
  }

  /// Makes the node of a state that is new. False: everything from here was seen elsewhere.
  bool Open(const std::vector<std::uint32_t>& enabled) {
    Node node;
    node.enabled = enabled;
    for (std::uint32_t t = 0; t < interleaving_.threads(); ++t) {
      if (interleaving_.IsWaiting(t)) {
        node.waiting.insert(t);
      }
    }
    if (!nodes_.empty()) {
      const Footprint& last = events_.back().footprint;
      for (const auto& [thread, footprint] : nodes_.back().sleep) {
        if (thread != nodes_.back().chosen && !footprint.Conflicts(last)) {
          node.sleep.emplace(thread, footprint);
        }
      }
    }
    const auto awake = std::find_if(enabled.begin(), enabled.end(), [&](std::uint32_t thread) {
      return !node.sleep.contains(thread);
    });
    if (awake == enabled.end()) {
      return false;
    }
    node.chosen = *awake;
    node.backtrack.insert(*awake);
    nodes_.push_back(std::move(node));
    return true;
  }

  void TakeStep() {
    const std::uint32_t thread = nodes_[events_.size()].chosen;
    const Clock known = interleaving_.clocks()[thread];
    Event event = interleaving_.Step(thread);
    Clock clock = known;
    clock[thread] = interleaving_.clocks()[thread][thread];
    for (std::size_t i = events_.size(); i-- > 0;) {
      const Event& earlier = events_[i];
      const std::uint32_t number = earlier.clock[earlier.thread];
      if (earlier.thread == thread || clock[earlier.thread] >= number ||
          !earlier.footprint.Conflicts(event.footprint)) {
        continue;
      }
      // They race: nothing orders them but that one came first.
      Reverse(i, clock, thread);
      Raise(clock, earlier.clock);
    }
    event.clock = clock;
    Raise(interleaving_.clocks()[thread], clock);
    events_.push_back(std::move(event));
    interleaving_.GoOn(thread);
  }

  /// Makes sure that an order is tried in which the event that `thread` has just done comes before
  /// event `first`.
  void Reverse(std::size_t first, const Clock& clock, std::uint32_t thread) {
    const Event& racing = events_[first];
    const std::uint32_t number = racing.clock[racing.thread];
    Node& node = nodes_[first];
    // What does not lie behind the racing event can all come before it; who can be the first?
    std::vector<const Event*> others;
    std::vector<std::uint32_t> initials;
    const auto is_initial = [&](std::uint32_t t, const Clock& c) {
      return std::none_of(others.begin(), others.end(), [&](const Event* other) {
        return other->thread == t || c[other->thread] >= other->clock[other->thread];
      });
    };
    for (std::size_t i = first + 1; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.clock[racing.thread] >= number) {
        continue;
      }
      if (is_initial(event.thread, event.clock)) {
        initials.push_back(event.thread);
      }
      others.push_back(&event);
    }
    if (is_initial(thread, clock)) {
      initials.insert(initials.begin(), thread);
    }
    for (const std::uint32_t t : initials) {
      // One that waits there would read again what it has read.
      if (node.backtrack.contains(t) || node.waiting.contains(t)) {
        return;
      }
    }
    for (const std::uint32_t t : initials) {
      if (std::find(node.enabled.begin(), node.enabled.end(), t) != node.enabled.end()) {
        node.backtrack.insert(t);
        return;
      }
    }
    node.backtrack.insert(node.enabled.begin(), node.enabled.end());
  }

  /// Goes back to the last state with something left to try. False: there is none.
  bool BackTrack() {
    events_.resize(std::min(events_.size(), nodes_.size()));
    while (!nodes_.empty()) {
      Node& node = nodes_.back();
      if (events_.size() >= nodes_.size()) {
        node.sleep.emplace(node.chosen, events_[nodes_.size() - 1].footprint);
      }
      for (const std::uint32_t thread : node.backtrack) {
        if (!node.sleep.contains(thread)) {
          node.chosen = thread;
          return true;
        }
      }
      nodes_.pop_back();
    }
    return false;
  }

  void Judge() {
    GridResult result = interleaving_.TakeResult();
    Outcome outcome;
    std::set<std::string> checkers;
    for (const FindingList::Entry& entry : result.findings.entries()) {
      checkers.insert(entry.finding.checker);
    }
    for (const std::string& checker : checkers) {
      outcome.checkers += (outcome.checkers.empty() ? "" : ", ") + checker;
    }
    outcome.memory = result.faulted ? 0 : interleaving_.Digest();
    if (first_.empty()) {
      first_ = events_.empty() ? "steps:" : TextOf(events_);
      first_events_ = events_;
      outcome_ = outcome;
      result_ = std::move(result);
      return;
    }
    result_.findings.AppendNew(result.findings);
    result_.faulted |= result.faulted;
    if (exploration_.differing.empty() && outcome != outcome_) {
      exploration_.differing = {first_, TextOf(events_)};
      difference_ = outcome.checkers == outcome_.checkers
                        ? "leaves other values in global memory"
                        : "has other findings (" + Named(outcome_) + " and " + Named(outcome) + ")";
    }
  }
  static std::string Named(const Outcome& outcome) {
    return outcome.checkers.empty() ? "none" : outcome.checkers;
  }

  /// Leaves memory as the first order does.
  void Finish() {
    interleaving_.Restart();
    for (const Event& event : first_events_) {
      if (interleaving_.Enabled().empty()) {
        break;
      }
      interleaving_.Step(event.thread);
      interleaving_.GoOn(event.thread);
    }
    if (!exploration_.differing.empty()) {
      result_.findings.Add(launch_, 0, 0, "nondeterministic",
                           "the kernel " + difference_ + " under the schedules " +
                               exploration_.differing[0] + " and " + exploration_.differing[1],
                           kNone, 0);
    }
  }

  const LaunchState& launch_;
  Exploration& exploration_;
  Interleaving interleaving_;
  std::vector<Node> nodes_;
  std::vector<Event> events_;
  std::string first_;
  std::vector<Event> first_events_;
  Outcome outcome_;
  std::string difference_;
  GridResult result_;
  bool cut_off_ = false;
};

void CheckSize(const LaunchState& launch) {
  const std::uint64_t threads = launch.grid.count() * launch.threads();
  if (threads > kMostThreads) {
    throw BadInput("launch of " + launch.entry->name,
                   "has " + std::to_string(threads) + " threads, too many for all interleavings",
                   "at most " + std::to_string(kMostThreads));
  }
}

}  // namespace

GridResult ExploreGrid(const LaunchState& launch, Exploration& exploration) {
  CheckSize(launch);
  return Explorer(launch, exploration).Run();
}

GridResult FollowSteps(const LaunchState& launch, const std::vector<ScheduleStep>& steps) {
  CheckSize(launch);
  Interleaving interleaving(launch);
  interleaving.Restart();
  std::size_t at = 0;
  std::uint32_t done = 0;
  while (true) {
    const std::vector<std::uint32_t> enabled = interleaving.Enabled();
    if (enabled.empty()) {
      break;
    }
    std::uint32_t thread = enabled.front();
    if (at < steps.size()) {
      thread = steps[at].thread;
      if (std::find(enabled.begin(), enabled.end(), thread) == enabled.end()) {
        throw BadInput(
            "schedule",
            "thread " + std::to_string(thread) + " cannot go on at step " + std::to_string(at),
            "use the steps of a run of this kernel on these inputs");
      }
      if (++done == steps[at].count) {
        ++at;
        done = 0;
      }
    }
    interleaving.Step(thread);
    interleaving.GoOn(thread);
  }
  return interleaving.TakeResult();
}

}  // namespace voltcheck::simulator
