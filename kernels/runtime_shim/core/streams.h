#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STREAMS_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STREAMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "kernels/runtime_shim/core/graph.h"
#include "kernels/runtime_shim/core/memory.h"

namespace voltcheck::shim {

/// How far a capture in one stream forbids calls elsewhere: numbers of cudaStreamCaptureMode.
enum class CaptureMode { kGlobal, kThreadLocal, kRelaxed };

struct Stream;

/// A capture in progress: the graph that grows, and the streams that take part.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::uint64_t id = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  Stream* origin = nullptr;
  std::thread::id thread;
  bool valid = true;
};

struct Stream {
  std::uint64_t id = 0;
  unsigned flags = 0;  ///< 1: does not wait for the legacy stream
  int priority = 0;
  double ready = 0;                  ///< when its work is done, microseconds of the cost model
  std::shared_ptr<Capture> capture;  ///< null: not capturing
  std::vector<Node*> tail;           ///< what the next node of the capture waits for
};

struct Event {
  unsigned flags = 0;  ///< 2: no timing
  bool recorded = false;
  double time = 0;
  std::shared_ptr<Capture> capture;  ///< recorded last in a stream that captured
  std::vector<Node*> tail;
};

/// Streams, events and graphs. Work runs when it is submitted, in the order of submission: that is
/// one of the orders CUDA allows, and the only one that is the same every time. Time passes on each
/// stream by the cost model; streams wait for events and for the legacy stream as in CUDA.
class Streams {
 public:
  Streams(Machine& machine, Memory& memory) : machine_(machine), memory_(memory) {}

  Stream* Create(unsigned flags, int priority);
  void Destroy(Stream* stream);
  /// The stream a handle means: null and 1 the legacy stream (with `per_thread` null means the
  /// thread's own), 2 the thread's own. Throws Refusal (kInvalidHandle).
  Stream& Resolve(void* handle, bool per_thread);
  bool IsLegacy(const Stream& stream) const { return &stream == &legacy_; }

  /// Runs the work now, or makes it a node where the stream captures.
  void Submit(Stream& stream, Work work);
  /// A callback: like a host function, but not for captures.
  void Call(Stream& stream, const std::function<void()>& callback);
  /// Throws Refusal while the stream captures, which ends the capture as in CUDA.
  void Synchronize(Stream& stream);
  void SynchronizeAll();
  /// For calls that must not happen during a capture of global mode.
  void RequireNoCapture();

  Event* CreateEvent(unsigned flags);
  void DestroyEvent(Event* event);
  Event& ResolveEvent(void* handle);
  void Record(Event& event, Stream& stream);
  void Wait(Stream& stream, Event& event);
  /// Throws Refusal (kCapturedEvent) for an event of a capture.
  void SynchronizeEvent(Event& event);
  double Elapsed(const Event& begin, const Event& end) const;

  void BeginCapture(Stream& stream, CaptureMode mode);
  std::unique_ptr<Graph> EndCapture(Stream& stream);

  void Launch(GraphExec& exec, Stream& stream);

  void Clear();

 private:
  double Start(const Stream& stream) const;
  void Finish(Stream& stream, double end);
  /// Runs work; returns its microseconds. `now` is when it begins.
  double Execute(const Work& work, double now);
  double ExecuteGraph(const Graph& graph, double now);
  void RunOutside(const std::function<void()>& function);
  std::vector<Stream*> All();

  Machine& machine_;
  Memory& memory_;
  Stream legacy_;
  std::map<std::thread::id, std::unique_ptr<Stream>> own_;
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  std::set<Capture*> captures_;
  std::uint64_t next_id_ = 16;
  std::uint64_t next_capture_ = 1;
};

/// The capture mode of the calling thread.
CaptureMode ExchangeCaptureMode(CaptureMode mode);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STREAMS_H_
