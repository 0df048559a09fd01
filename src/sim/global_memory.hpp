// Global memory as the host gave it: which addresses are memory at all, and which allocations are known.
//
// What nobody has registered is not checked, unless the run is strict about it. Known are the allocations of the
// options, and guarded blocks (`arch/guarded_memory.hpp`), of which `Buffer` is made. Beside each lies a red zone that
// belongs to nobody.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>

#include "findings.hpp"
#include "sites.hpp"

namespace gantry::sim {

class GlobalMemory {
 public:
  // Beside what the options name: memory of which only the extent is known, so that others' may follow soon.
  static constexpr std::uint64_t kRedZone = 64;

  explicit GlobalMemory(const SimulatorOptions& options);

  // Bytes that a kernel may access, without a red zone beside them: its parameters, the tensor of a map.
  void allow(std::uint64_t address, std::uint64_t bytes);

  // False, and a finding, where the range leaves the allocations that are known.
  bool check_extent(std::uint64_t address, std::uint64_t bytes, SiteId site) {
    if (recent_allocation_.holds(address, bytes)) return true;
    return (!strict_ && given_.empty() && blocks_.empty()) || look(address, bytes, site);
  }

  // The red zones of this host thread's guarded blocks: painted before the first thread runs, and a finding after the
  // last one where a plain store has changed them.
  static void paint_red_zones();
  static void check_red_zones(Findings& findings);

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
  struct Range {
    std::uint64_t address = 0, bytes = 0;

    bool holds(std::uint64_t at, std::uint64_t count) const { return at >= address && at + count <= address + bytes; }
  };
  struct Allocation : Range {
    std::uint64_t red_zone = 0;
    std::string name{};

    bool is_beside(std::uint64_t at, std::uint64_t count) const {
      return at + count + red_zone > address && at < address + bytes + red_zone;
    }
  };
  bool look(std::uint64_t address, std::uint64_t bytes, SiteId site);
  const Allocation* beside(std::uint64_t address, std::uint64_t bytes) const;
  bool allowed(std::uint64_t address, std::uint64_t bytes) const;

  bool strict_;
  std::vector<Allocation> given_;   // by the options
  std::vector<Allocation> blocks_;  // guarded ones, ascending and apart from each other
  std::vector<Range> others_;       // allowed
  Range recent_allocation_;         // that held the last access
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
