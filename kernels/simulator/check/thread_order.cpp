#include "kernels/simulator/check/thread_order.h"

#include <bit>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {
namespace {

template <typename F>
void ForThreads(std::uint64_t block, std::uint32_t warp, std::uint32_t mask, const F& f) {
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    f(block * kThreadsOfBlock + warp * kWarpSize +
      static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
}

}  // namespace

void View::Join(const View& other) {
  known = Joined(known, other.known);
  fenced = Joined(fenced, other.fenced);
  unread = Joined(unread, other.unread);
}

ThreadOrder::BlockState& ThreadOrder::BlockAt(std::uint64_t block) {
  BlockState& state = blocks_[block];
  if (state.threads.empty()) {
    if (!spare_.empty()) {
      state.threads = std::move(spare_.back());
      spare_.pop_back();
    }
    state.threads.resize(threads_);
  }
  return state;
}

void ThreadOrder::Forget(std::uint64_t block) {
  const auto state = blocks_.find(block);
  if (state != blocks_.end()) {
    state->second.threads.clear();
    spare_.push_back(std::move(state->second.threads));
    blocks_.erase(state);
  }
}

std::uint32_t ThreadOrder::Now(GridThread thread) {
  BlockState& block = Block(thread);
  block.tick += block.told ? 1 : 0;
  block.told = false;
  return block.tick;
}

bool ThreadOrder::IsBefore(GridThread earlier, std::uint32_t tick, GridThread thread) {
  if (earlier == thread) {
    return true;
  }
  const KnowledgePtr& known = At(thread).now.known;
  return known != nullptr && known->Has(earlier, tick);
}

View ThreadOrder::Published(GridThread thread) {
  View published = At(thread).now;
  const std::uint32_t tick = Tell(Block(thread));
  if (published.known != nullptr && published.known->Has(thread, tick)) {
    return published;
  }
  auto known = published.known == nullptr ? std::make_shared<Knowledge>()
                                          : std::make_shared<Knowledge>(*published.known);
  known->AddThread(thread, tick);
  published.known = std::move(known);
  return published;
}

void ThreadOrder::Read(GridThread thread, const Message& message, const AccessOrder& order) {
  const bool own_block = message.block == BlockOf(thread);
  const View& read = own_block && message.narrow.known != nullptr ? message.narrow : message.wide;
  Thread& own = At(thread);
  if (message.fenced != nullptr && message.fenced != own.last_fenced) {
    own.now.unread = Joined(own.now.unread, message.fenced);
    own.last_fenced = message.fenced;
  }
  if (read.known == nullptr) {
    return;
  }
  if (order.acquire && (own_block || !order.block_scope)) {
    if (read.known != own.last_acquired) {
      own.now.Join(read);
      own.last_acquired = read.known;
    }
  } else if (read.known != own.last_pending && (own_block || !order.block_scope)) {
    (own_block ? own.pending_narrow : own.pending_wide).Join(read);
    own.last_pending = read.known;
  }
}

void ThreadOrder::Write(GridThread thread, const AccessOrder& order, bool read_modify_write,
                        Message& message) {
  const Thread& own = At(thread);
  const std::uint64_t block = BlockOf(thread);
  View wide = order.block_scope ? View{} : own.fence_wide;
  View narrow = own.fence_narrow;
  if (order.release) {
    narrow = Published(thread);
    wide = order.block_scope ? View{} : narrow;
  }
  if (read_modify_write) {
    narrow.Join(message.block == block ? message.narrow : message.wide);
    wide.Join(message.wide);
  }
  message.wide = std::move(wide);
  message.narrow = std::move(narrow);
  message.fenced = Joined(message.fenced, order.block_scope ? nullptr : own.now.fenced);
  message.block = block;
}

void ThreadOrder::Fence(std::uint64_t block, std::uint32_t warp, std::uint32_t mask,
                        bool block_scope, bool sequential) {
  ForThreads(block, warp, mask, [&](GridThread thread) {
    Thread& own = At(thread);
    own.now.Join(own.pending_narrow);
    own.pending_narrow = {};
    if (!block_scope) {
      own.now.Join(own.pending_wide);
      own.pending_wide = {};
    }
    if (sequential && !block_scope) {
      own.now.known = Joined(own.now.known, own.now.unread);
      own.now.fenced = Joined(own.now.fenced, Published(thread).known);
    }
    own.fence_narrow = Published(thread);
    if (!block_scope) {
      own.fence_wide = own.fence_narrow;
    }
  });
}

void ThreadOrder::Collect(std::uint64_t block, std::uint32_t warp, std::uint32_t mask, View& view) {
  View last;
  ForThreads(block, warp, mask, [&](GridThread thread) {
    const View& now = At(thread).now;
    if (now.known != last.known || now.fenced != last.fenced || now.unread != last.unread) {
      view.Join(now);
      last = now;
    }
  });
  auto known = view.known == nullptr ? std::make_shared<Knowledge>()
                                     : std::make_shared<Knowledge>(*view.known);
  const std::uint32_t tick = Tell(BlockAt(block));
  ForThreads(block, warp, mask, [&](GridThread thread) { known->AddThread(thread, tick); });
  view.known = std::move(known);
}

void ThreadOrder::WarpSync(std::uint64_t block, std::uint32_t warp, std::uint32_t mask) {
  View joined;
  Collect(block, warp, mask, joined);
  ForThreads(block, warp, mask, [&](GridThread thread) { At(thread).now = joined; });
}

void ThreadOrder::Arrive(std::uint64_t block, std::uint32_t barrier, std::uint32_t warp,
                         std::uint32_t mask, bool waits) {
  BlockState& state = BlockAt(block);
  Arrivals& arrivals = state.barriers[barrier];
  Collect(block, warp, mask, arrivals.joined);
  if (waits) {
    ForThreads(block, warp, mask, [&](GridThread thread) {
      arrivals.waiting.push_back(static_cast<std::uint32_t>(thread % kThreadsOfBlock));
    });
  }
}

void ThreadOrder::Release(std::uint64_t block, std::uint32_t barrier, bool whole) {
  BlockState& state = BlockAt(block);
  Arrivals& arrivals = state.barriers[barrier];
  if (whole && arrivals.joined.known != nullptr) {
    auto cut = std::make_shared<Knowledge>(*arrivals.joined.known);
    cut->AddBlock(block, Tell(state));
    arrivals.joined.known = std::move(cut);
  }
  if (whole && arrivals.joined.fenced != nullptr) {
    auto cut = std::make_shared<Knowledge>(*arrivals.joined.fenced);
    cut->Condense(block, arrivals.waiting.size());
    arrivals.joined.fenced = std::move(cut);
  }
  for (const std::uint32_t thread : arrivals.waiting) {
    state.threads[thread].now = arrivals.joined;
  }
  arrivals = {};
}

}  // namespace voltcheck::simulator
