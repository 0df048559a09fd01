// Global memory as the host gave it: which addresses are memory at all, and which allocations are known.
//
// What nobody has registered is not checked, unless the run is strict about it. Beside each registered allocation lies
// a red zone that belongs to nobody.
#pragma once

#include <array>
#include <cstdint>
#include <string>
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
  bool is_there(std::uint64_t address, std::uint64_t bytes, bool write) {
    for (std::uint64_t page = address / kPage; page <= (address + bytes - 1) / kPage; ++page) {
      const std::uint64_t recent = recent_[page % kRecent];
      if (recent / 2 == page && page != 0 && (!write || recent % 2 != 0)) continue;
      if (!probe(page, write)) return false;
    }
    return true;
  }

 private:
  struct Allocation {
    std::uint64_t address, bytes;
    std::string name;
  };
  void look(std::uint64_t address, std::uint64_t bytes, SiteId site) const;
  bool allowed(std::uint64_t address, std::uint64_t bytes) const;

  bool strict_;
  std::vector<Allocation> allocations_;  // ascending
  std::vector<Allocation> others_;       // allowed
  // The host's mappings, ascending, as they were when the run first asked.
  struct Mapping {
    std::uint64_t first, last;
    bool writable;
  };
  bool probe(std::uint64_t page, bool write);
  void read_mappings();
  const Mapping* find(std::uint64_t address) const;

  std::vector<Mapping> mappings_;
  static constexpr std::uint64_t kPage = 4096, kRecent = 1024;
  // The last pages that were there, by page % kRecent: the page, and whether it can be written.
  std::array<std::uint64_t, kRecent> recent_{};
};

}  // namespace gantry::sim
