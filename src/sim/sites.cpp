#include "sites.hpp"

#include <cstring>

namespace gantry::sim {

const char* to_text(Operation operation) {
  switch (operation) {
    case Operation::none:
      return "nothing";
    case Operation::load:
      return "load";
    case Operation::store:
      return "store";
    case Operation::atomic:
      return "atomic";
    case Operation::ldmatrix:
      return "ldmatrix";
    case Operation::stmatrix:
      return "stmatrix";
    case Operation::mma:
      return "mma.sync";
    case Operation::mbarrier_init:
      return "mbarrier.init";
    case Operation::mbarrier_inval:
      return "mbarrier.inval";
    case Operation::mbarrier_arrive:
      return "mbarrier.arrive";
    case Operation::mbarrier_arrive_expect_tx:
      return "mbarrier.arrive.expect_tx";
    case Operation::mbarrier_expect_tx:
      return "mbarrier.expect_tx";
    case Operation::mbarrier_complete_tx:
      return "mbarrier.complete_tx";
    case Operation::mbarrier_wait:
      return "mbarrier wait";
    case Operation::barrier_sync:
      return "barrier.sync";
    case Operation::barrier_arrive:
      return "barrier.arrive";
    case Operation::cluster_arrive:
      return "barrier.cluster.arrive";
    case Operation::cluster_wait:
      return "barrier.cluster.wait";
    case Operation::warp_exchange:
      return "warp exchange";
    case Operation::syncwarp:
      return "syncwarp";
    case Operation::fence_mbarrier_init:
      return "fence.mbarrier_init";
    case Operation::fence_proxy_async:
      return "fence.proxy.async";
    case Operation::fence_thread:
      return "fence";
    case Operation::fence_tensormap_acquire:
      return "fence.proxy.tensormap.acquire";
    case Operation::fence_tensormap_release:
      return "fence.proxy.tensormap.release";
    case Operation::tensormap_copy:
      return "tensormap.cp_fenceproxy";
    case Operation::tensormap_replace:
      return "tensormap.replace";
    case Operation::tensormap_prefetch:
      return "prefetch.tensormap";
    case Operation::tensor_load:
      return "TMA load";
    case Operation::tensor_store:
      return "TMA store";
    case Operation::tensor_reduce:
      return "TMA reduction";
    case Operation::tensor_prefetch:
      return "TMA prefetch";
    case Operation::cp_async:
      return "cp.async";
    case Operation::cp_async_commit_group:
      return "cp.async.commit_group";
    case Operation::cp_async_wait_group:
      return "cp.async.wait_group";
    case Operation::cp_async_mbarrier_arrive:
      return "cp.async.mbarrier.arrive";
    case Operation::bulk_load:
      return "bulk load";
    case Operation::bulk_store:
      return "bulk store";
    case Operation::bulk_reduce:
      return "bulk reduction";
    case Operation::bulk_prefetch:
      return "bulk prefetch";
    case Operation::bulk_commit_group:
      return "bulk commit_group";
    case Operation::bulk_wait_group:
      return "bulk wait_group";
    case Operation::bulk_wait_group_read:
      return "bulk wait_group.read";
    case Operation::remote_store:
      return "st.async";
    case Operation::wgmma:
      return "wgmma";
    case Operation::wgmma_fence:
      return "wgmma.fence";
    case Operation::wgmma_commit_group:
      return "wgmma.commit_group";
    case Operation::wgmma_wait_group:
      return "wgmma.wait_group";
    case Operation::setmaxnreg:
      return "setmaxnreg";
    case Operation::griddepcontrol_wait:
      return "griddepcontrol.wait";
    case Operation::griddepcontrol_launch_dependents:
      return "griddepcontrol.launch_dependents";
    case Operation::address:
      return "address";
    case Operation::clock:
      return "clock";
    case Operation::pause:
      return "pause";
  }
  return "operation";
}

bool can_drop(Operation operation) {
  switch (operation) {
    case Operation::mbarrier_init:
    case Operation::mbarrier_arrive:
    case Operation::mbarrier_arrive_expect_tx:
    case Operation::mbarrier_expect_tx:
    case Operation::mbarrier_wait:
    case Operation::barrier_sync:
    case Operation::barrier_arrive:
    case Operation::cluster_arrive:
    case Operation::cluster_wait:
    case Operation::syncwarp:
    case Operation::fence_mbarrier_init:
    case Operation::fence_proxy_async:
    case Operation::fence_thread:
    case Operation::fence_tensormap_acquire:
    case Operation::fence_tensormap_release:
    case Operation::cp_async_commit_group:
    case Operation::cp_async_wait_group:
    case Operation::cp_async_mbarrier_arrive:
    case Operation::bulk_commit_group:
    case Operation::bulk_wait_group:
    case Operation::bulk_wait_group_read:
    case Operation::wgmma_fence:
    case Operation::wgmma_commit_group:
    case Operation::wgmma_wait_group:
    case Operation::griddepcontrol_wait:
      return true;
    default:
      return false;
  }
}

std::string base_name(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash ? slash + 1 : file;
}

SiteId Sites::intern(Site site, Operation operation) {
  const auto hash = reinterpret_cast<std::uintptr_t>(site.file) * 31 + static_cast<std::uintptr_t>(site.line) * 7 +
                    static_cast<std::uintptr_t>(operation);
  Cached& cached = cache_[hash % kCacheSize];
  if (cached.file != site.file || cached.line != site.line || cached.operation != operation) {
    cached = {site.file, site.line, operation, find_or_add(site, operation)};
  }
  return cached.id;
}

SiteId Sites::find_or_add(Site site, Operation operation) {
  for (std::size_t i = 1; i < all_.size(); ++i) {
    if (all_[i].operation == operation && all_[i].site.line == site.line &&
        std::strcmp(all_[i].site.file, site.file) == 0) {
      return static_cast<SiteId>(i);
    }
  }
  if (all_.size() > 0xFFFF) return 0;
  all_.push_back({site, operation, 0});
  const auto id = static_cast<SiteId>(all_.size() - 1);
  if (mutation_.kind != MutationKind::none && mutation_.line == site.line &&
      mutation_.operation == to_text(operation) && mutation_.file == base_name(site.file)) {
    mutated_ = id;
  }
  return id;
}

std::string Sites::text(SiteId id) const {
  if (id == 0 || all_[id].site.line == 0) return "an unknown place";
  return base_name(all_[id].site.file) + ":" + std::to_string(all_[id].site.line);
}

std::vector<SiteUse> Sites::uses() const {
  std::vector<SiteUse> out;
  for (const Known& known : all_) {
    if (known.count > 0 && can_drop(known.operation)) {
      out.push_back({base_name(known.site.file), known.site.line, to_text(known.operation), known.count});
    }
  }
  return out;
}

}  // namespace gantry::sim
