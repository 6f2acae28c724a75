// Streams, events, callbacks, capture.
#include <cstring>

#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

enum { kCaptureNone, kCaptureActive, kCaptureInvalid };

int CaptureStatus(const Stream& stream) {
  return stream.capture == nullptr ? kCaptureNone
         : stream.capture->valid   ? kCaptureActive
                                   : kCaptureInvalid;
}

}  // namespace

extern "C" {

int cudaStreamCreate(void** stream) {
  return Call(__func__, [&](World& world) {
    Require(stream != nullptr);
    *stream = world.streams.Create(0, 0);
  });
}

int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return Call(__func__, [&](World& world) {
    Require(stream != nullptr);
    *stream = world.streams.Create(flags, 0);
  });
}

int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return Call(__func__, [&](World& world) {
    Require(stream != nullptr);
    *stream = world.streams.Create(flags, priority);
  });
}

int cudaStreamDestroy(void* stream) {
  return CallAlways(__func__,
                    [&](World& world) { world.streams.Destroy(static_cast<Stream*>(stream)); });
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Call(__func__, [&](World&) {
    if (least != nullptr) {
      *least = 0;
    }
    if (greatest != nullptr) {
      *greatest = -5;
    }
  });
}

int cudaStreamCopyAttributes(void* to, void* from) {
  return Call(__func__, [&](World& world) {
    world.streams.Resolve(to, false);
    world.streams.Resolve(from, false);
  });
}

int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return CallAlways(__func__, [&](World&) {
    Require(mode != nullptr && *mode >= 0 && *mode <= 2);
    *mode = static_cast<int>(ExchangeCaptureMode(static_cast<CaptureMode>(*mode)));
  });
}

int cudaEventCreate(void** event) {
  return Call(__func__, [&](World& world) {
    Require(event != nullptr);
    *event = world.streams.CreateEvent(0);
  });
}

int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return Call(__func__, [&](World& world) {
    Require(event != nullptr);
    *event = world.streams.CreateEvent(flags);
  });
}

int cudaEventDestroy(void* event) {
  return CallAlways(__func__,
                    [&](World& world) { world.streams.DestroyEvent(static_cast<Event*>(event)); });
}

int cudaEventSynchronize(void* event) {
  return Call(__func__, [&](World& world) {
    world.streams.SynchronizeEvent(world.streams.ResolveEvent(event));
  });
}

int cudaEventQuery(void* event) {
  return Call(__func__, [&](World& world) {
    world.streams.RequireNoCapture();
    world.streams.SynchronizeEvent(world.streams.ResolveEvent(event));
  });
}

int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return Call(__func__, [&](World& world) {
    Require(milliseconds != nullptr);
    *milliseconds = static_cast<float>(
        world.streams.Elapsed(world.streams.ResolveEvent(begin), world.streams.ResolveEvent(end)));
  });
}

}  // extern "C"

VOLTCHECK_BOTH(cudaEventRecord, _ptsz, (void* event, void* stream), (event, stream)) {
  return Call("cudaEventRecord", [&](World& world) {
    world.streams.Record(world.streams.ResolveEvent(event), world.streams.Resolve(stream, own));
  });
}

VOLTCHECK_BOTH(cudaEventRecordWithFlags, _ptsz, (void* event, void* stream, unsigned flags),
               (event, stream, flags)) {
  return Call("cudaEventRecordWithFlags", [&](World& world) {
    Stream& s = world.streams.Resolve(stream, own);
    Event& e = world.streams.ResolveEvent(event);
    if (flags == 1) {  // an event of the graph's own rather than one of the capture
      world.streams.Submit(s, RecordWork{&e});
    } else {
      Require(flags == 0);
      world.streams.Record(e, s);
    }
  });
}

VOLTCHECK_BOTH(cudaStreamWaitEvent, _ptsz, (void* stream, void* event, unsigned flags),
               (stream, event, flags)) {
  return Call("cudaStreamWaitEvent", [&](World& world) {
    Stream& s = world.streams.Resolve(stream, own);
    Event& e = world.streams.ResolveEvent(event);
    if (flags == 1 && s.capture != nullptr) {
      world.streams.Submit(s, WaitWork{&e});
    } else {
      world.streams.Wait(s, e);
    }
  });
}

VOLTCHECK_BOTH(cudaStreamSynchronize, _ptsz, (void* stream), (stream)) {
  return Call("cudaStreamSynchronize",
              [&](World& world) { world.streams.Synchronize(world.streams.Resolve(stream, own)); });
}

/// Work runs when it is submitted: a stream is always done.
VOLTCHECK_BOTH(cudaStreamQuery, _ptsz, (void* stream), (stream)) {
  return Call("cudaStreamQuery",
              [&](World& world) { world.streams.Synchronize(world.streams.Resolve(stream, own)); });
}

VOLTCHECK_BOTH(cudaStreamGetFlags, _ptsz, (void* stream, unsigned* flags), (stream, flags)) {
  return Call("cudaStreamGetFlags",
              [&](World& world) { *flags = world.streams.Resolve(stream, own).flags; });
}

VOLTCHECK_BOTH(cudaStreamGetPriority, _ptsz, (void* stream, int* priority), (stream, priority)) {
  return Call("cudaStreamGetPriority",
              [&](World& world) { *priority = world.streams.Resolve(stream, own).priority; });
}

VOLTCHECK_BOTH(cudaStreamGetId, _ptsz, (void* stream, unsigned long long* id), (stream, id)) {
  return Call("cudaStreamGetId",
              [&](World& world) { *id = world.streams.Resolve(stream, own).id; });
}

/// Hints about caches and priorities: accepted, and without effect.
VOLTCHECK_BOTH(cudaStreamSetAttribute, _ptsz, (void* stream, int attribute, const void* value),
               (stream, attribute, value)) {
  return Call("cudaStreamSetAttribute", [&](World& world) {
    Require(attribute >= 0 && value != nullptr);
    world.streams.Resolve(stream, own);
  });
}

VOLTCHECK_BOTH(cudaStreamGetAttribute, _ptsz, (void* stream, int attribute, void* value),
               (stream, attribute, value)) {
  return Call("cudaStreamGetAttribute", [&](World& world) {
    Require(attribute >= 0 && value != nullptr);
    world.streams.Resolve(stream, own);
    std::memset(value, 0, 64);
  });
}

VOLTCHECK_BOTH(cudaLaunchHostFunc, _ptsz, (void* stream, void (*function)(void*), void* data),
               (stream, function, data)) {
  return Call("cudaLaunchHostFunc", [&](World& world) {
    Require(function != nullptr);
    world.streams.Submit(world.streams.Resolve(stream, own), HostWork{function, data});
  });
}

VOLTCHECK_BOTH(cudaStreamAddCallback, _ptsz,
               (void* stream, void (*callback)(void*, int, void*), void* data, unsigned flags),
               (stream, callback, data, flags)) {
  return Call("cudaStreamAddCallback", [&](World& world) {
    Require(callback != nullptr && flags == 0);
    world.streams.Call(world.streams.Resolve(stream, own),
                       [&] { callback(stream, kSuccess, data); });
  });
}

VOLTCHECK_BOTH(cudaStreamBeginCapture, _ptsz, (void* stream, int mode), (stream, mode)) {
  return Call("cudaStreamBeginCapture", [&](World& world) {
    Require(mode >= 0 && mode <= 2);
    world.streams.BeginCapture(world.streams.Resolve(stream, own), static_cast<CaptureMode>(mode));
  });
}

VOLTCHECK_BOTH(cudaStreamEndCapture, _ptsz, (void* stream, void** graph), (stream, graph)) {
  return Call("cudaStreamEndCapture", [&](World& world) {
    Require(graph != nullptr);
    *graph = nullptr;
    *graph = world.Keep(world.streams.EndCapture(world.streams.Resolve(stream, own)));
  });
}

VOLTCHECK_BOTH(cudaStreamIsCapturing, _ptsz, (void* stream, int* status), (stream, status)) {
  return Call("cudaStreamIsCapturing",
              [&](World& world) { *status = CaptureStatus(world.streams.Resolve(stream, own)); });
}

VOLTCHECK_BOTH(cudaStreamGetCaptureInfo, _ptsz, (void* stream, int* status, unsigned long long* id),
               (stream, status, id)) {
  return Call("cudaStreamGetCaptureInfo", [&](World& world) {
    const Stream& s = world.streams.Resolve(stream, own);
    *status = CaptureStatus(s);
    if (id != nullptr && s.capture != nullptr) {
      *id = s.capture->id;
    }
  });
}

VOLTCHECK_BOTH(cudaStreamGetCaptureInfo_v2, _ptsz,
               (void* stream, int* status, unsigned long long* id, void** graph,
                const void** dependencies, std::size_t* count),
               (stream, status, id, graph, dependencies, count)) {
  return Call("cudaStreamGetCaptureInfo", [&](World& world) {
    Stream& s = world.streams.Resolve(stream, own);
    *status = CaptureStatus(s);
    if (s.capture == nullptr) {
      return;
    }
    if (id != nullptr) {
      *id = s.capture->id;
    }
    if (graph != nullptr) {
      *graph = s.capture->graph.get();
    }
    if (dependencies != nullptr) {
      *dependencies = s.tail.data();
    }
    if (count != nullptr) {
      *count = s.tail.size();
    }
  });
}

VOLTCHECK_BOTH(cudaStreamUpdateCaptureDependencies, _ptsz,
               (void* stream, Node** nodes, std::size_t count, unsigned flags),
               (stream, nodes, count, flags)) {
  return Call("cudaStreamUpdateCaptureDependencies", [&](World& world) {
    Stream& s = world.streams.Resolve(stream, own);
    Require(s.capture != nullptr && flags <= 1);
    if (flags == 1) {
      s.tail.clear();
    }
    s.tail.insert(s.tail.end(), nodes, nodes + count);
  });
}
