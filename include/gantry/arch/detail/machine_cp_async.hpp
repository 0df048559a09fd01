// What `arch/cp_async.hpp` asks of the simulated SM.
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>

namespace gantry::sim {

// `source_bytes` of the source, zeros after them.
struct CpAsync {
  void* destination;
  const void* source;
  std::uint32_t bytes, source_bytes;
};
void cp_async(const CpAsync& copy, Site site);
void cp_async_commit_group(Site site);
void cp_async_wait_group(int allowed, Site site);
void cp_async_wait_all(Site site);
// `expected`: the phase is told to expect the arrival.
void cp_async_mbarrier_arrive(std::uint64_t* pointer, bool expected, Site site);

}  // namespace gantry::sim
