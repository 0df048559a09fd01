// Fences: between threads, and from the generic to the async proxy.
#include "grid.hpp"

namespace gantry::sim {
namespace {

void publish_inits(Thread& thread) {
  for (auto& cta : thread.cta->cluster->ctas) {
    for (auto& [offset, barrier] : cta->mbarriers) {
      if (barrier.initialiser != thread.view.self || barrier.published) continue;
      barrier.published = true;
      barrier.publish_round = thread.cluster_round + 1;
    }
  }
}

void proxy_fence(Thread& thread, bool shared, bool global) {
  View& view = thread.view;
  Cta& cta = *thread.cta;
  const std::size_t kind = (shared ? 1 : 0) + (global ? 2 : 0);
  view.base = cta.fences[kind - 1].of(view.base, [&] { return fenced(view.base, shared, global); });
  if (shared) view.own.fenced_shared = view.own.seen;
  if (global) view.own.fenced_global = view.own.seen;
  advance(view);
}

Operation operation_of(Fence kind) {
  switch (kind) {
    case Fence::mbarrier_init:
      return Operation::fence_mbarrier_init;
    case Fence::thread:
      return Operation::fence_thread;
    default:
      return Operation::fence_proxy_async;
  }
}

}  // namespace

void fence(Fence kind, Semantics semantics, Scope scope, Site site) {
  const Call call = enter_call(site, operation_of(kind));
  if (call.dropped()) return;
  Thread& thread = self();
  switch (kind) {
    case Fence::mbarrier_init:
      publish_inits(thread);
      break;
    case Fence::proxy_async:
      publish_inits(thread);
      proxy_fence(thread, true, true);
      break;
    case Fence::proxy_async_shared:
      publish_inits(thread);
      proxy_fence(thread, true, false);
      break;
    case Fence::proxy_async_global:
      proxy_fence(thread, false, true);
      break;
    case Fence::thread:
      thread_fence(thread, semantics, scope);
      break;
  }
}

}  // namespace gantry::sim
