#include "kernels/runtime_shim/core/graph.h"

#include <algorithm>
#include <map>
#include <utility>

namespace voltcheck::shim {
namespace {

std::uint64_t NextId() {
  static std::uint64_t next = 0;  // under the machine's lock
  return ++next;
}

std::map<const Node*, std::size_t> Numbers(const Graph& graph) {
  std::map<const Node*, std::size_t> numbers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    numbers[graph.nodes[i].get()] = i;
  }
  return numbers;
}

}  // namespace

int TypeOf(const Work& work) {
  constexpr int kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11};
  return kTypes[work.index()];
}

Node* Graph::Add(Work work, const std::vector<Node*>& after) {
  nodes.push_back(std::make_unique<Node>());
  Node* node = nodes.back().get();
  node->work = std::move(work);
  for (Node* other : after) {
    if (std::find(node->after.begin(), node->after.end(), other) == node->after.end()) {
      node->after.push_back(other);
    }
  }
  node->graph = this;
  node->id = NextId();
  return node;
}

std::unique_ptr<Graph> Graph::Clone(bool instance) const {
  auto copy = std::make_unique<Graph>();
  std::map<const Node*, Node*> images;
  for (const auto& node : nodes) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) {
      child->graph = std::shared_ptr<Graph>(child->graph->Clone(instance));
    }
    Node* image = copy->Add(std::move(work), {});
    image->origin = node->id;
    image->id = instance ? node->id : image->id;
    image->enabled = node->enabled;
    images[node.get()] = image;
  }
  for (const auto& node : nodes) {
    for (const Node* before : node->after) {
      images[node.get()]->after.push_back(images.at(before));
    }
  }
  return copy;
}

Node* Graph::FindId(std::uint64_t id) const {
  for (const auto& node : nodes) {
    if (node->id == id) {
      return node.get();
    }
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (Node* inner = child->graph->FindId(id)) {
        return inner;
      }
    }
  }
  return nullptr;
}

Node* Graph::FindOrigin(std::uint64_t id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [id](const auto& node) { return node->origin == id; });
  return found == nodes.end() ? nullptr : found->get();
}

bool Graph::Holds(const Node* node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [node](const auto& other) { return other.get() == node; });
}

void Graph::Remove(const Node* node) {
  for (const auto& other : nodes) {
    std::erase(other->after, node);
  }
  std::erase_if(nodes, [node](const auto& other) { return other.get() == node; });
}

std::vector<Node*> Graph::Order() const {
  const std::map<const Node*, std::size_t> numbers = Numbers(*this);
  std::vector<bool> done(nodes.size());
  std::vector<Node*> order;
  while (order.size() < nodes.size()) {
    const std::size_t before = order.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<Node*>& after = nodes[i]->after;
      if (!done[i] && std::all_of(after.begin(), after.end(),
                                  [&](const Node* other) { return done[numbers.at(other)]; })) {
        done[i] = true;
        order.push_back(nodes[i].get());
      }
    }
    Require(order.size() > before, kInvalidValue, "the graph's nodes wait in a circle");
  }
  return order;
}

UpdateResult Update(GraphExec& exec, const Graph& graph) {
  enum { kDone, kError, kTopology, kNodeType, kFunction };
  Graph& old = *exec.graph;
  if (old.nodes.size() != graph.nodes.size()) {
    return {kTopology, nullptr};
  }
  const std::map<const Node*, std::size_t> was = Numbers(old);
  const std::map<const Node*, std::size_t> is = Numbers(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node* node = graph.nodes[i].get();
    const Node* before = old.nodes[i].get();
    if (node->work.index() != before->work.index()) {
      return {kNodeType, node};
    }
    if (node->after.size() != before->after.size() ||
        !std::equal(node->after.begin(), node->after.end(), before->after.begin(),
                    [&](const Node* a, const Node* b) { return is.at(a) == was.at(b); })) {
      return {kTopology, node};
    }
  }
  const std::unique_ptr<Graph> fresh = graph.Clone(true);
  for (std::size_t i = 0; i < fresh->nodes.size(); ++i) {
    old.nodes[i]->work = std::move(fresh->nodes[i]->work);
  }
  return {kDone, nullptr};
}

}  // namespace voltcheck::shim
