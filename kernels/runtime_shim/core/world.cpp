#include "kernels/runtime_shim/core/world.h"

#include <cstdio>
#include <set>
#include <utility>

namespace voltcheck::shim {
namespace {

thread_local int last_error = kSuccess;

}  // namespace

World& World::Get() {
  static auto* world = new World;  // never destroyed, like the machine
  return *world;
}

Graph& World::ResolveGraph(void* handle) {
  const auto found = graphs.find(static_cast<Graph*>(handle));
  if (found != graphs.end()) {
    return *found->second;
  }
  // The graph inside a child node belongs to its parent and is found there.
  for (const auto& [key, graph] : graphs) {
    for (const auto& node : graph->nodes) {
      const auto* child = std::get_if<ChildWork>(&node->work);
      if (child != nullptr && child->graph.get() == handle) {
        return *child->graph;
      }
    }
  }
  throw Refusal(kInvalidValue, "no such graph");
}

GraphExec& World::ResolveExec(void* handle) {
  const auto found = executables.find(static_cast<GraphExec*>(handle));
  Require(found != executables.end(), kInvalidValue, "no such executable graph");
  return *found->second;
}

Graph* World::Keep(std::unique_ptr<Graph> graph) {
  Graph* handle = graph.get();
  graphs[handle] = std::move(graph);
  return handle;
}

GraphExec* World::Keep(std::unique_ptr<GraphExec> exec) {
  GraphExec* handle = exec.get();
  executables[handle] = std::move(exec);
  return handle;
}

void World::Reset() {
  machine.Reset();
  executables.clear();
  graphs.clear();
  streams.Clear();
  memory.Clear();
}

int TakeLastError() { return std::exchange(last_error, static_cast<int>(kSuccess)); }
int PeekLastError() { return last_error; }

int Finish(const char* function, int status, const std::string& why, bool remember) {
  if (status != kSuccess && remember) {
    last_error = status;
  }
  if (World::Get().machine.settings().verbose) {
    const char* name = RuntimeName(status);
    std::fprintf(stderr, "voltcheck: %s: %s%s%s\n", function, name == nullptr ? "?" : name,
                 why.empty() ? "" : ": ", why.c_str());
  }
  return status;
}

int Missing(const char* function) {
  const std::lock_guard lock(World::Get().machine.mutex);
  World::Get().machine.findings().WriteRefusal(
      std::string(function) +
      ": the simulator's CUDA does not have this function; do without it, "
      "see 'Limits' in docs/commands/run.md");
  return Finish(function, kNotSupported, "", true);
}

}  // namespace voltcheck::shim
