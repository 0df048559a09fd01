// Global memory as the host gave it: which addresses are memory at all, and which allocations are known.
//
// What nobody has registered is not checked, unless the run is strict about it. Beside each registered allocation lies
// a red zone that belongs to nobody.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <gantry/arch/simulator.hpp>

#include "sites.hpp"

namespace gantry::sim {

class GlobalMemory {
 public:
  static constexpr std::uint64_t kRedZone = 64;

  explicit GlobalMemory(const SimulatorOptions& options);

  // Bytes that a kernel may access, without a red zone beside them: its parameters, the tensor of a map.
  void allow(std::uint64_t address, std::uint64_t bytes);

  // A finding where the range leaves the allocations that are known.
  void check_extent(std::uint64_t address, std::uint64_t bytes, SiteId site) const {
    if (strict_ || !allocations_.empty()) look(address, bytes, site);
  }

  // Whether the host has memory there.
  bool is_there(std::uint64_t address, std::uint64_t bytes, bool write);

 private:
  struct Allocation {
    std::uint64_t address, bytes;
    std::string name;
  };
  void look(std::uint64_t address, std::uint64_t bytes, SiteId site) const;
  bool allowed(std::uint64_t address, std::uint64_t bytes) const;

  bool strict_;
  std::vector<Allocation> allocations_;                                     // ascending
  std::vector<Allocation> others_;                                          // allowed
  enum class Page : std::uint8_t { absent, readable, writable, constant };  // readable: writing has not been tried
  std::unordered_map<std::uint64_t, Page> pages_;                           // what is known of each
  std::uint64_t last_page_ = ~std::uint64_t{0};                             // that can be read
};

}  // namespace gantry::sim
