// Streams, events, callbacks, capture, graphs.
#include <algorithm>

#include "kernels/runtime_shim/driver/abi.h"

using namespace voltcheck::shim;

extern "C" {

int cuStreamCreate(void** stream, unsigned flags) {
  return Driver(__func__, [&](World& world) { *stream = world.streams.Create(flags, 0); });
}
int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return Driver(__func__, [&](World& world) { *stream = world.streams.Create(flags, priority); });
}
int cuStreamDestroy_v2(void* stream) {
  return DriverAlways(__func__,
                      [&](World& world) { world.streams.Destroy(static_cast<Stream*>(stream)); });
}
int cuStreamSynchronize(void* stream) {
  return Driver(__func__, [&](World& world) {
    world.streams.Synchronize(world.streams.Resolve(stream, false));
  });
}
int cuStreamQuery(void* stream) { return cuStreamSynchronize(stream); }  // always done
int cuStreamGetFlags(void* stream, unsigned* flags) {
  return Driver(__func__,
                [&](World& world) { *flags = world.streams.Resolve(stream, false).flags; });
}
int cuStreamGetPriority(void* stream, int* priority) {
  return Driver(__func__,
                [&](World& world) { *priority = world.streams.Resolve(stream, false).priority; });
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return Driver(__func__, [&](World& world) {
    world.streams.Wait(world.streams.Resolve(stream, false), world.streams.ResolveEvent(event));
  });
}
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return Driver(__func__, [&](World& world) {
    Require(function != nullptr);
    world.streams.Submit(world.streams.Resolve(stream, false), HostWork{function, data});
  });
}
int cuStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                        unsigned flags) {
  return Driver(__func__, [&](World& world) {
    Require(callback != nullptr && flags == 0);
    world.streams.Call(world.streams.Resolve(stream, false),
                       [&] { callback(stream, kSuccess, data); });
  });
}

int cuEventCreate(void** event, unsigned flags) {
  return Driver(__func__, [&](World& world) { *event = world.streams.CreateEvent(flags); });
}
int cuEventDestroy_v2(void* event) {
  return DriverAlways(
      __func__, [&](World& world) { world.streams.DestroyEvent(static_cast<Event*>(event)); });
}
int cuEventRecord(void* event, void* stream) {
  return Driver(__func__, [&](World& world) {
    world.streams.Record(world.streams.ResolveEvent(event), world.streams.Resolve(stream, false));
  });
}
int cuEventSynchronize(void* event) {
  return Driver(__func__, [&](World& world) {
    world.streams.SynchronizeEvent(world.streams.ResolveEvent(event));
  });
}
int cuEventQuery(void* event) { return cuEventSynchronize(event); }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return Driver(__func__, [&](World& world) {
    *milliseconds = static_cast<float>(
        world.streams.Elapsed(world.streams.ResolveEvent(begin), world.streams.ResolveEvent(end)));
  });
}

int cuStreamBeginCapture_v2(void* stream, int mode) {
  return Driver(__func__, [&](World& world) {
    Require(mode >= 0 && mode <= 2);
    world.streams.BeginCapture(world.streams.Resolve(stream, false),
                               static_cast<CaptureMode>(mode));
  });
}
int cuStreamEndCapture(void* stream, void** graph) {
  return Driver(__func__, [&](World& world) {
    *graph = nullptr;
    *graph = world.Keep(world.streams.EndCapture(world.streams.Resolve(stream, false)));
  });
}
int cuStreamIsCapturing(void* stream, int* status) {
  return Driver(__func__, [&](World& world) {
    const Stream& s = world.streams.Resolve(stream, false);
    *status = s.capture == nullptr ? 0 : s.capture->valid ? 1 : 2;
  });
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  return DriverAlways(__func__, [&](World&) {
    Require(mode != nullptr && *mode >= 0 && *mode <= 2);
    *mode = static_cast<int>(ExchangeCaptureMode(static_cast<CaptureMode>(*mode)));
  });
}

int cuGraphCreate(void** graph, unsigned flags) {
  return Driver(__func__, [&](World& world) {
    Require(flags == 0);
    *graph = world.Keep(std::make_unique<Graph>());
  });
}
int cuGraphDestroy(void* graph) {
  return DriverAlways(__func__,
                      [&](World& world) { world.graphs.erase(&world.ResolveGraph(graph)); });
}
int cuGraphGetNodes(void* graph, Node** nodes, std::size_t* count) {
  return Driver(__func__, [&](World& world) {
    const Graph& g = world.ResolveGraph(graph);
    for (std::size_t i = 0; nodes != nullptr && i < std::min(*count, g.nodes.size()); ++i) {
      nodes[i] = g.nodes[i].get();
    }
    *count = nodes == nullptr ? g.nodes.size() : std::min(*count, g.nodes.size());
  });
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return Driver(__func__, [&](World& world) {
    auto instance = std::make_unique<GraphExec>();
    instance->graph = world.ResolveGraph(graph).Clone(true);
    instance->graph->Order();
    instance->flags = flags;
    *exec = world.Keep(std::move(instance));
  });
}
/// The form of CUDA 11, with a node to blame and a log.
int cuGraphInstantiate_v2(void** exec, void* graph, Node** blamed, char* log, std::size_t bytes) {
  if (blamed != nullptr) {
    *blamed = nullptr;
  }
  if (log != nullptr && bytes != 0) {
    *log = 0;
  }
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
int cuGraphLaunch(void* exec, void* stream) {
  return Driver(__func__, [&](World& world) {
    world.streams.Launch(world.ResolveExec(exec), world.streams.Resolve(stream, false));
  });
}
int cuGraphExecUpdate(void* exec, void* graph, Node** blamed, int* result) {
  return Driver(__func__, [&](World& world) {
    const UpdateResult update = Update(world.ResolveExec(exec), world.ResolveGraph(graph));
    if (blamed != nullptr) {
      *blamed = update.node;
    }
    if (result != nullptr) {
      *result = update.result;
    }
    Require(update.result == 0, kGraphUpdateFailure);
  });
}
int cuGraphExecDestroy(void* exec) {
  return DriverAlways(__func__,
                      [&](World& world) { world.executables.erase(&world.ResolveExec(exec)); });
}

}  // extern "C"
