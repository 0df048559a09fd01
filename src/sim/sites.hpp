// The places of a kernel that ask the machine for something: a file, a line and an operation, numbered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>
#include <gantry/arch/site.hpp>

namespace gantry::sim {

enum class Operation : std::uint8_t {
  none,
  load,
  store,
  atomic,
  ldmatrix,
  stmatrix,
  mma,
  mbarrier_init,
  mbarrier_inval,
  mbarrier_arrive,
  mbarrier_arrive_expect_tx,
  mbarrier_expect_tx,
  mbarrier_complete_tx,
  mbarrier_wait,
  barrier_sync,
  barrier_arrive,
  cluster_arrive,
  cluster_wait,
  warp_exchange,
  syncwarp,
  fence_mbarrier_init,
  fence_proxy_async,
  fence_thread,
  fence_tensormap_acquire,
  fence_tensormap_release,
  tensormap_copy,
  tensormap_replace,
  tensormap_prefetch,
  tensor_load,
  tensor_store,
  tensor_reduce,
  tensor_prefetch,
  cp_async,
  cp_async_commit_group,
  cp_async_wait_group,
  cp_async_mbarrier_arrive,
  bulk_load,
  bulk_store,
  bulk_reduce,
  bulk_prefetch,
  bulk_commit_group,
  bulk_wait_group,
  bulk_wait_group_read,
  remote_store,
  wgmma,
  wgmma_fence,
  wgmma_commit_group,
  wgmma_wait_group,
  setmaxnreg,
  griddepcontrol_wait,
  griddepcontrol_launch_dependents,
  address,
  clock,
  pause
};
const char* to_text(Operation operation);

// Whether leaving the operation out is a mutation: the kernel still runs, and may be wrong.
bool can_drop(Operation operation);

using SiteId = std::uint16_t;

class Sites {
 public:
  explicit Sites(const Mutation& mutation) : mutation_(mutation) { all_.push_back({}); }

  SiteId intern(Site site, Operation operation);
  void count(SiteId id) { ++all_[id].count; }
  MutationKind mutation_of(SiteId id) const { return id == mutated_ ? mutation_.kind : MutationKind::none; }
  Operation operation(SiteId id) const { return all_[id].operation; }
  const char* file(SiteId id) const { return all_[id].site.file; }
  int line(SiteId id) const { return all_[id].site.line; }
  std::string text(SiteId id) const;  // "tile_product.hpp:120"
  std::vector<SiteUse> uses() const;  // of the operations that synchronise

 private:
  struct Known {
    Site site;
    Operation operation = Operation::none;
    std::uint64_t count = 0;
  };
  struct Cached {
    const char* file = nullptr;
    int line = 0;
    Operation operation = Operation::none;
    SiteId id = 0;
  };
  static constexpr std::size_t kCacheSize = 256;

  SiteId find_or_add(Site site, Operation operation);

  const Mutation& mutation_;
  SiteId mutated_ = 0;
  std::vector<Known> all_;  // number 0 is nowhere
  Cached cache_[kCacheSize];
};

// The last part of a path.
std::string base_name(const char* file);

}  // namespace gantry::sim
