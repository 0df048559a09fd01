// Tensor maps that a kernel edits: written through the generic proxy, published, acquired, read by copies.
//
// A map in global memory that this run has written is known by its address. A copy may use it once its content has been
// released to the tensormap proxy and the issuing thread has acquired it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

class EditedMaps {
 public:
  struct Map {
    std::uint64_t version = 0;
    bool released = false;
    Actor editor;
    int copies_in_flight = 0;
  };

  Map* find(const void* map);  // null: not edited
  Map& edit(const void* map) { return maps_[reinterpret_cast<std::uint64_t>(map)]; }

  // Everything that `editor` has edited becomes visible to the tensormap proxy.
  void release(Actor editor);

  // A copy starts (+1) or has finished (-1) reading the map.
  void count_use(const void* map, int change);

 private:
  std::unordered_map<std::uint64_t, Map> maps_;  // by address
};

// Whether the running thread may issue a copy with this map, if the run has edited it.
void check_map_use(const void* map, SiteId site);

}  // namespace gantry::sim
