#include "verify/scale/distributed_run.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "fixtures/case/error.h"
#include "verify/journal/identity.h"
#include "verify/journal/record_codec.h"
#include "verify/scale/dealer.h"

namespace voltcheck::verify {
namespace {

using Clock = std::chrono::steady_clock;

// What ranks tell each other: a letter, then numbers as they lie in memory, or text.
enum class Kind : char {
  kHello = 'H',   ///< to 0: identity of the run as this rank sees it
  kStart = 'S',   ///< from 0: journals may be opened
  kWant = 'W',    ///< to 0: give me more
  kCases = 'C',   ///< from 0: case numbers
  kNotes = 'N',   ///< to 0: finished cases; without any, a sign of life
  kStop = 'E',    ///< from 0: finish what runs, then say bye
  kBye = 'B',     ///< to 0: journal closed
  kBroken = 'X',  ///< to 0: I cannot go on, and why
  kLeave = 'L',   ///< to 0: I was asked to stop
  kRefuse = 'R',  ///< from 0: the run is off, and why
  kAlive = 'A',   ///< from 0: a sign of life
};

constexpr std::chrono::milliseconds kPause{1};   // between two looks for messages
constexpr std::chrono::milliseconds kBeat{500};  // between two signs of life to rank 0
constexpr double kLeaderBeats = 4;               // of rank 0's in the time that it may be silent
// Rank 0 reads the journals of an earlier run before it starts, so it may be silent for longer.
constexpr double kStartPatience = 10;

std::string Text(Kind kind, std::string_view text = {}) {
  return static_cast<char>(kind) + std::string(text);
}

template <typename T>
std::string Numbers(Kind kind, const std::vector<T>& numbers) {
  return Text(kind, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
}

template <typename T>
std::vector<T> NumbersOf(std::string_view body) {
  std::vector<T> numbers(body.size() / sizeof(T));
  std::memcpy(numbers.data(), body.data(), numbers.size() * sizeof(T));
  return numbers;
}

double InSeconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Rank 0's view of one other rank.
struct Peer {
  enum class State { kUnknown, kWorking, kLeft, kLost } state = State::kUnknown;
  bool wants = false;
  Clock::time_point heard = Clock::now();
  bool here() const { return state == State::kUnknown || state == State::kWorking; }
};

class Leader {
 public:
  Leader(Ranks& ranks, const DistributedRun& run, RunJournal& journal)
      : ranks_(ranks),
        run_(run),
        journal_(journal),
        dealer_(OpenCases(run, journal), run.costs, static_cast<std::size_t>(ranks.size())),
        peers_(static_cast<std::size_t>(ranks.size())) {}

  void Lead(Worker& own, const std::function<bool()>& stop) {
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      ranks_.Send(rank, Text(Kind::kStart));
    }
    bool stopping = false;
    while (!stopping) {
      const bool heard = Listen();
      Beat();
      Serve(own);
      GiveUpSilent();
      stopping = dealer_.AllFinished() || stop() || leave_ || !AnyoneLeft(own);
      Pause(heard);
    }
    own.Drop();
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      if (peers_[Index(rank)].here()) {
        ranks_.Send(rank, Text(Kind::kStop));
      }
    }
    while (!own.Idle() || AnyPeerHere()) {
      const bool heard = Listen();
      Beat();
      TakeOwnNotes(own);
      GiveUpSilent();
      Pause(heard);
    }
    TakeOwnNotes(own);
    Conclude(own, stop() || leave_);
  }

  // Tells everyone that the run is off.
  void Refuse(const std::string& reason) {
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      ranks_.Send(rank, Text(Kind::kRefuse, reason));
    }
  }

  // Waits for everyone's identity; goes on without ranks that let it wait for too long.
  void Meet(const std::function<bool()>& stop) {
    Clock::time_point heard = Clock::now();
    int missing = ranks_.size() - 1;
    while (missing > 0 && !stop() && InSeconds(Clock::now() - heard) <= run_.silence_seconds) {
      const std::optional<Ranks::Message> message = ranks_.Poll();
      if (!message) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      heard = Clock::now();
      if (const std::string reason = WhyRefused(message->from, message->bytes); !reason.empty()) {
        Refuse(reason);
        throw Error(ExitStatus::kBadInput, reason);
      }
      peers_[Index(message->from)].state = Peer::State::kWorking;
      --missing;
    }
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      Peer& peer = peers_[rank];
      peer.heard = Clock::now();
      if (peer.state == Peer::State::kUnknown && !stop()) {
        peer.state = Peer::State::kLost;
        Tell("rank " + std::to_string(rank) + ": has not come; the run goes on without it");
      }
    }
  }

 private:
  static std::size_t Index(int rank) { return static_cast<std::size_t>(rank); }

  static std::vector<std::size_t> OpenCases(const DistributedRun& run, const RunJournal& journal) {
    std::vector<std::size_t> open;
    for (const std::size_t number : run.order) {
      if (!journal.Holds(number)) {
        open.push_back(number);
      }
    }
    return open;
  }

  void Tell(const std::string& line) {
    if (run_.note) {
      run_.note(line);
    }
  }

  // Why a rank that says this first cannot take part; empty when it can.
  std::string WhyRefused(int rank, std::string_view message) const {
    const std::string_view body = message.substr(1);
    const bool is_hello = message.front() == static_cast<char>(Kind::kHello);
    const std::string why = is_hello ? IdentityDifference(body, run_.identity) : std::string(body);
    if (why.empty()) {
      return "";
    }
    return "rank " + std::to_string(rank) + ": " + why +
           (is_hello ? "; start every rank with the same voltcheck, kernels, fixtures and arguments"
                     : "");
  }

  // Signs of life to everyone.
  void Beat() {
    if (InSeconds(Clock::now() - beat_) < run_.silence_seconds / kLeaderBeats) {
      return;
    }
    beat_ = Clock::now();
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      if (peers_[Index(rank)].here()) {
        ranks_.Send(rank, Text(Kind::kAlive));
      }
    }
  }

  static void Pause(bool heard) {
    if (!heard) {
      std::this_thread::sleep_for(kPause);
    }
  }

  void Note(std::size_t worker, const CaseNote& note) {
    if (dealer_.Finished(worker, note.number) && run_.progress) {
      run_.progress(note);
    }
  }

  void TakeOwnNotes(Worker& own) {
    for (const CaseNote& note : own.TakeNotes()) {
      Note(0, note);
    }
  }

  bool Listen() {
    bool heard = false;
    while (const std::optional<Ranks::Message> message = ranks_.Poll()) {
      heard = true;
      Hear(message->from, message->bytes);
    }
    return heard;
  }

  void Hear(int rank, const std::string& bytes) {
    Peer& peer = peers_[Index(rank)];
    peer.heard = Clock::now();
    const std::string_view body = std::string_view(bytes).substr(1);
    switch (static_cast<Kind>(bytes.front())) {
      case Kind::kNotes:
        for (const CaseNote& note : NumbersOf<CaseNote>(body)) {
          Note(Index(rank), note);
        }
        break;
      case Kind::kWant:
        peer.wants = true;
        break;
      case Kind::kLeave:
        leave_ = true;
        break;
      case Kind::kHello:  // one that came late
        if (const std::string reason = WhyRefused(rank, bytes); !reason.empty()) {
          Tell(reason);
          ranks_.Send(rank, Text(Kind::kRefuse, reason));
          peer.state = Peer::State::kLeft;
        } else {
          ranks_.Send(rank, Text(Kind::kStart));
        }
        break;
      case Kind::kBroken:
        failure_ = std::string(body);
        GiveUp(rank, std::string(body));
        peer.state = Peer::State::kLeft;
        break;
      case Kind::kBye:
        dealer_.Lost(Index(rank));
        peer.state = Peer::State::kLeft;
        break;
      default:
        break;
    }
    // One that was given up and speaks again may go on: what it finished counts.
    if (peer.state == Peer::State::kLost) {
      peer.state = Peer::State::kWorking;
    }
  }

  // Cases for whoever wants some.
  void Serve(Worker& own) {
    TakeOwnNotes(own);
    if (const std::string broken = own.broken(); !broken.empty() && !own_is_broken_) {
      own_is_broken_ = true;
      failure_ = broken;
      GiveUp(0, broken);
    }
    if (own.Hungry()) {
      own.Give(dealer_.Deal(0));
    }
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      Peer& peer = peers_[Index(rank)];
      if (peer.wants && peer.state == Peer::State::kWorking) {
        const std::vector<std::uint64_t> chunk = dealer_.Deal(Index(rank));
        if (!chunk.empty()) {
          ranks_.Send(rank, Numbers(Kind::kCases, chunk));
          peer.wants = false;
        }
      }
    }
  }

  void GiveUp(int rank, const std::string& why) {
    const std::size_t back = dealer_.Lost(Index(rank));
    Tell("rank " + std::to_string(rank) + ": " + why + "; its " + std::to_string(back) +
         " unfinished cases go to others");
  }

  void GiveUpSilent() {
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      Peer& peer = peers_[Index(rank)];
      if (peer.here() && InSeconds(Clock::now() - peer.heard) > run_.silence_seconds) {
        peer.state = Peer::State::kLost;
        peer.wants = false;
        GiveUp(rank, "does not answer");
      }
    }
  }

  bool AnyPeerHere() const {
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      if (peers_[rank].here()) {
        return true;
      }
    }
    return false;
  }
  bool AnyoneLeft(const Worker& own) const { return own.broken().empty() || AnyPeerHere(); }

  void Conclude(const Worker& own, bool stopped) {
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      if (peers_[rank].state == Peer::State::kLost) {
        ranks_.Lose();
      }
    }
    journal_.Collect(run_.out);
    if (!dealer_.AllFinished() && !stopped) {
      throw Error(ExitStatus::kBadInput, failure_.empty() ? own.broken() : failure_);
    }
    std::uint64_t held = 0;
    for (const std::size_t number : run_.order) {
      held += journal_.Holds(number) ? 1 : 0;
    }
    const std::uint64_t expected = run_.order.size() - dealer_.total() + dealer_.finished();
    if (held < expected) {
      throw BadInput(JournalPath(run_.out, 1),
                     std::to_string(expected - held) +
                         " cases that other ranks finished are in no "
                         "journal beside the run file",
                     "name an --out on a file system that all ranks share");
    }
  }

  Ranks& ranks_;
  const DistributedRun& run_;
  RunJournal& journal_;
  Dealer dealer_;
  std::vector<Peer> peers_;
  Clock::time_point beat_ = Clock::now();
  bool leave_ = false;
  bool own_is_broken_ = false;
  std::string failure_;
};

}  // namespace

void LeadRun(Ranks& ranks, const DistributedRun& run, const std::vector<Case>& cases,
             const ProblemSource& source, const SweepOptions& options, RunJournal& journal,
             const std::function<bool()>& stop) {
  Leader leader(ranks, run, journal);
  leader.Meet(stop);
  Worker own(cases, source, options, run.jobs,
             [&](const CaseRecord& record) { journal.Append(record); });
  leader.Lead(own, stop);
}

void LeaveRun(Ranks& ranks, const std::string& why) { ranks.Send(0, Text(Kind::kBroken, why)); }

void FollowRun(Ranks& ranks, const DistributedRun& run, const std::vector<Case>& cases,
               const ProblemSource& source, const SweepOptions& options,
               const std::function<bool()>& stop) {
  ranks.Send(0, Text(Kind::kHello, run.identity));
  std::unique_ptr<JournalWriter> journal;
  std::unique_ptr<Worker> worker;
  Clock::time_point spoke = Clock::now();
  bool asked = false;
  bool left = false;
  bool over = false;
  Clock::time_point heard = Clock::now();  // rank 0
  const auto say = [&](const std::string& message) {
    ranks.Send(0, message);
    spoke = Clock::now();
  };
  std::string failure;
  while (!over || !worker->Idle()) {
    const std::optional<Ranks::Message> message = ranks.Poll();
    const double patience = run.silence_seconds * (worker ? 1 : kStartPatience);
    if (!message && InSeconds(Clock::now() - heard) > patience) {
      worker.reset();  // ends what runs
      journal.reset();
      throw LeaderLost();
    }
    if (message) {
      heard = Clock::now();
      const std::string_view body = std::string_view(message->bytes).substr(1);
      switch (static_cast<Kind>(message->bytes.front())) {
        case Kind::kStart: {
          const std::string path = JournalPath(run.out, ranks.rank());
          try {
            journal =
                std::make_unique<JournalWriter>(path, run.identity, run.resume && IsJournal(path));
          } catch (const Error& error) {
            failure = error.what();
          }
          worker = std::make_unique<Worker>(cases, source, options, run.jobs,
                                            [&journal](const CaseRecord& record) {
                                              journal->Append(record.index, EncodeRecord(record));
                                            });
          break;
        }
        case Kind::kCases:
          worker->Give(NumbersOf<std::uint64_t>(body));
          asked = false;
          break;
        case Kind::kStop:
          worker->Drop();
          over = true;
          break;
        case Kind::kRefuse:
          throw Error(ExitStatus::kBadInput, std::string(body));
        default:
          break;
      }
      continue;
    }
    if (!worker) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (failure.empty()) {
      failure = worker->broken();
    }
    if (stop() && !left) {
      left = true;
      say(Text(Kind::kLeave));
    }
    const bool hungry = failure.empty() && !over && !left && !asked && worker->Hungry();
    if (hungry || !failure.empty() || Clock::now() - spoke >= kBeat) {
      say(Numbers(Kind::kNotes, worker->TakeNotes()));
    }
    if (!failure.empty()) {
      break;
    }
    if (hungry) {
      asked = true;
      say(Text(Kind::kWant));
    }
    std::this_thread::sleep_for(kPause);
  }
  ranks.Send(0, Numbers(Kind::kNotes, worker->TakeNotes()));
  worker.reset();
  journal.reset();  // on network file systems closing is what makes it visible
  if (!failure.empty()) {
    ranks.Send(0, Text(Kind::kBroken, failure));
    return;
  }
  ranks.Send(0, Text(Kind::kBye));
}

}  // namespace voltcheck::verify
