#ifndef VOLTCHECK_VERIFY_SCALE_RANKS_H_
#define VOLTCHECK_VERIFY_SCALE_RANKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace voltcheck::verify {

/// The processes that `mpirun` started together, and messages between them. One thread uses it.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// This process among those on its host. Every rank calls it, at the same point.
  struct Place {
    int rank = 0;
    int size = 1;
  };
  virtual Place OnHost() = 0;
  /// "Open MPI v4.1.4".
  virtual std::string library() const = 0;
  /// Returns at once; messages between two ranks keep their order.
  virtual void Send(int to, std::string_view bytes) = 0;
  struct Message {
    int from = 0;
    std::string bytes;
  };
  /// The next message that has come, if any.
  virtual std::optional<Message> Poll() = 0;
  /// All-reduce, in place: sums of fp16 bits, each partial sum rounded to half, and of fp32.
  virtual void SumHalves(std::span<std::uint16_t> halves) = 0;
  virtual void SumFloats(std::span<float> floats) = 0;
  /// Everyone's bytes, equally many, in the order of the ranks.
  virtual std::string Gather(std::string_view mine) = 0;
  /// Some rank does not answer any more: Finish must not wait for it.
  virtual void Lose() = 0;
  /// The end of the ranks' time together, before the process returns `status`; every rank calls it.
  /// After Lose it ends every process at once, this one too, with that status.
  virtual void Finish(int status) = 0;
};

/// Whether an MPI launcher started this process.
bool StartedByMpi();

/// "Open MPI 4.1.4" as the help says it, or what is missing: "no MPI in this build ...".
std::string MpiText();

/// The ranks of this process's launcher. Throws Error (status 3) when the build has no MPI.
std::unique_ptr<Ranks> OpenRanks();

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_RANKS_H_
