#include "kernels/runtime_shim/core/streams.h"

#include <algorithm>
#include <utility>

namespace voltcheck::shim {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kNoTiming = 2;

/// How far the calling thread has come: what it submits after waiting cannot begin earlier.
thread_local double host_time = 0;
thread_local CaptureMode capture_mode = CaptureMode::kGlobal;

bool Blocking(const Stream& stream) { return (stream.flags & kNonBlocking) == 0; }

/// What is done once all of `ends` are.
std::set<const Node*> Before(const std::vector<Node*>& ends) {
  std::set<const Node*> reached;
  std::vector<const Node*> open(ends.begin(), ends.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (reached.insert(node).second) {
      open.insert(open.end(), node->after.begin(), node->after.end());
    }
  }
  return reached;
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

CaptureMode ExchangeCaptureMode(CaptureMode mode) { return std::exchange(capture_mode, mode); }

Stream* Streams::Create(unsigned flags, int priority) {
  Require(flags <= kNonBlocking);
  auto stream = std::make_unique<Stream>();
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);  // a V100's range
  Stream* handle = stream.get();
  streams_[handle] = std::move(stream);
  return handle;
}

void Streams::Destroy(Stream* stream) {
  const auto found = streams_.find(stream);
  Require(found != streams_.end(), kInvalidHandle);
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
  }
  legacy_.ready = std::max(legacy_.ready, Blocking(*stream) ? stream->ready : 0);
  streams_.erase(found);
}

Stream& Streams::Resolve(void* handle, bool per_thread) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 2 || (number == 0 && per_thread)) {
    std::unique_ptr<Stream>& own = own_[std::this_thread::get_id()];
    if (own == nullptr) {
      own = std::make_unique<Stream>();
      own->id = 2;
    }
    return *own;
  }
  if (number <= 1) {
    return legacy_;
  }
  const auto found = streams_.find(static_cast<Stream*>(handle));
  Require(found != streams_.end(), kInvalidHandle, "no such stream");
  return *found->second;
}

std::vector<Stream*> Streams::All() {
  std::vector<Stream*> all{&legacy_};
  for (const auto& [handle, stream] : streams_) {
    all.push_back(stream.get());
  }
  for (const auto& [thread, stream] : own_) {
    all.push_back(stream.get());
  }
  return all;
}

double Streams::Start(const Stream& stream) const {
  double start = std::max(stream.ready, host_time);
  if (IsLegacy(stream)) {
    for (const auto& [handle, other] : streams_) {
      start = std::max(start, Blocking(*other) ? other->ready : 0);
    }
    for (const auto& [thread, other] : own_) {
      start = std::max(start, other->ready);
    }
  } else if (Blocking(stream)) {
    start = std::max(start, legacy_.ready);
  }
  return start;
}

void Streams::Finish(Stream& stream, double end) { stream.ready = std::max(stream.ready, end); }

void Streams::RunOutside(const std::function<void()>& function) {
  machine_.mutex.unlock();
  std::thread(function).join();
  machine_.mutex.lock();
}

double Streams::ExecuteGraph(const Graph& graph, double now) {
  std::map<const Node*, double> done;
  double end = now;
  for (const Node* node : graph.Order()) {
    double begin = now;
    for (const Node* before : node->after) {
      begin = std::max(begin, done.at(before));
    }
    done[node] = begin + (node->enabled ? Execute(node->work, begin) : 0);
    end = std::max(end, done[node]);
  }
  return end - now;
}

double Streams::Execute(const Work& work, double now) {
  return std::visit(
      Overloaded{[&](const KernelWork& kernel) { return machine_.Run(kernel); },
                 [&](const CopyWork& copy) { return memory_.Copy(copy); },
                 [&](const FillWork& fill) { return memory_.Fill(fill); },
                 [&](const HostWork& host) {
                   RunOutside([&host] { host.function(host.data); });
                   return 1.0;
                 },
                 [&](const ChildWork& child) { return ExecuteGraph(*child.graph, now); },
                 [&](const EmptyWork&) { return 0.0; },
                 [&](const WaitWork& wait) {
                   return std::max(0.0, wait.event->recorded ? wait.event->time - now : 0.0);
                 },
                 [&](const RecordWork& record) {
                   record.event->recorded = true;
                   record.event->time = now;
                   return 0.0;
                 },
                 [&](const AllocateWork&) { return 1.0; }, [&](const FreeWork&) { return 1.0; }},
      work);
}

void Streams::Submit(Stream& stream, Work work) {
  if (stream.capture != nullptr) {
    Require(stream.capture->valid, kCaptureInvalidated);
    if (const auto* kernel = std::get_if<KernelWork>(&work)) {
      machine_.Check(*kernel);
    }
    stream.tail = {stream.capture->graph->Add(std::move(work), stream.tail)};
    return;
  }
  if (IsLegacy(stream)) {
    for (Capture* capture : captures_) {
      if (capture->mode == CaptureMode::kGlobal && Blocking(*capture->origin)) {
        capture->valid = false;
        throw Refusal(kCaptureImplicit, "the legacy stream would wait for a stream that captures");
      }
    }
  }
  const double start = Start(stream);
  Finish(stream, start + Execute(work, start));
}

void Streams::Call(Stream& stream, const std::function<void()>& callback) {
  Require(stream.capture == nullptr, kCaptureUnsupported);
  RunOutside(callback);
}

void Streams::RequireNoCapture() {
  if (capture_mode == CaptureMode::kRelaxed) {
    return;
  }
  for (Capture* capture : captures_) {
    const bool mine = capture->thread == std::this_thread::get_id();
    if (capture->mode == CaptureMode::kGlobal
            ? capture_mode == CaptureMode::kGlobal || mine
            : capture->mode == CaptureMode::kThreadLocal && mine) {
      capture->valid = false;
      throw Refusal(kCaptureUnsupported, "not allowed while a stream captures");
    }
  }
}

void Streams::Synchronize(Stream& stream) {
  if (stream.capture != nullptr) {
    stream.capture->valid = false;
    throw Refusal(kCaptureUnsupported, "the stream captures");
  }
  host_time = std::max(host_time, Start(stream));
  machine_.FlushOutput();
}

void Streams::SynchronizeAll() {
  RequireNoCapture();
  for (const Stream* stream : All()) {
    host_time = std::max(host_time, stream->ready);
  }
  machine_.FlushOutput();
}

Event* Streams::CreateEvent(unsigned flags) {
  Require(flags <= 7);
  auto event = std::make_unique<Event>();
  event->flags = flags;
  Event* handle = event.get();
  events_[handle] = std::move(event);
  return handle;
}

void Streams::DestroyEvent(Event* event) {
  Require(events_.erase(event) != 0, kInvalidHandle, "no such event");
}

Event& Streams::ResolveEvent(void* handle) {
  const auto found = events_.find(static_cast<Event*>(handle));
  Require(found != events_.end(), kInvalidHandle, "no such event");
  return *found->second;
}

void Streams::Record(Event& event, Stream& stream) {
  if (stream.capture != nullptr) {
    Require(stream.capture->valid, kCaptureInvalidated);
    event.capture = stream.capture;
    event.tail = stream.tail;
    return;
  }
  event.capture.reset();
  event.tail.clear();
  event.recorded = true;
  event.time = Start(stream);
}

void Streams::Wait(Stream& stream, Event& event) {
  if (event.capture != nullptr && captures_.count(event.capture.get()) != 0) {
    if (stream.capture == nullptr) {
      Require(!IsLegacy(stream), kCaptureImplicit);
      stream.capture = event.capture;
    }
    Require(stream.capture == event.capture, kCaptureMerge);
    stream.tail.insert(stream.tail.end(), event.tail.begin(), event.tail.end());
    return;
  }
  if (stream.capture != nullptr) {
    Require(!event.recorded, kCaptureIsolation, "the event was recorded outside the capture");
    return;
  }
  if (event.recorded) {
    Finish(stream, event.time);
  }
}

void Streams::SynchronizeEvent(Event& event) {
  Require(event.capture == nullptr || captures_.count(event.capture.get()) == 0, kCapturedEvent);
  host_time = std::max(host_time, event.time);
  machine_.FlushOutput();
}

double Streams::Elapsed(const Event& begin, const Event& end) const {
  Require(begin.recorded && end.recorded, kInvalidHandle, "an event was not recorded");
  Require(((begin.flags | end.flags) & kNoTiming) == 0, kInvalidHandle, "an event has no time");
  return (end.time - begin.time) / 1000;
}

void Streams::BeginCapture(Stream& stream, CaptureMode mode) {
  Require(!IsLegacy(stream), kCaptureUnsupported, "the legacy stream cannot capture");
  Require(stream.capture == nullptr, kCaptureUnsupported, "the stream captures already");
  stream.capture = std::make_shared<Capture>();
  stream.capture->id = next_capture_++;
  stream.capture->mode = mode;
  stream.capture->origin = &stream;
  stream.capture->thread = std::this_thread::get_id();
  stream.tail.clear();
  captures_.insert(stream.capture.get());
}

std::unique_ptr<Graph> Streams::EndCapture(Stream& stream) {
  Require(stream.capture != nullptr, kInvalidValue, "the stream does not capture");
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->origin != &stream) {
    capture->valid = false;
    throw Refusal(kCaptureUnmatched, "the capture began in another stream");
  }
  Require(capture->mode == CaptureMode::kRelaxed || capture->thread == std::this_thread::get_id(),
          kCaptureWrongThread);
  const std::set<const Node*> reached = Before(std::exchange(stream.tail, {}));
  bool joined = true;
  for (Stream* other : All()) {
    if (other->capture == capture) {
      for (const Node* node : other->tail) {
        joined &= reached.count(node) != 0;
      }
      other->capture.reset();
      other->tail.clear();
    }
  }
  captures_.erase(capture.get());
  Require(capture->valid, kCaptureInvalidated);
  Require(joined, kCaptureUnjoined, "a stream that joined the capture was not waited for");
  return std::move(capture->graph);
}

void Streams::Launch(GraphExec& exec, Stream& stream) {
  if (stream.capture != nullptr) {
    Submit(stream, ChildWork{std::shared_ptr<Graph>(exec.graph->Clone(false))});
    return;
  }
  const double start = Start(stream);
  Finish(stream, start + ExecuteGraph(*exec.graph, start));
}

void Streams::Clear() {
  streams_.clear();
  events_.clear();
  own_.clear();
  captures_.clear();
  legacy_ = {};
}

}  // namespace voltcheck::shim
