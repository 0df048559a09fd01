#include "global_memory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "grid.hpp"

namespace gantry::sim {
GlobalMemory::GlobalMemory(const SimulatorOptions& options) : strict_(options.strict_global) {
  for (const GlobalAllocation& given : options.global) {
    allocations_.push_back({reinterpret_cast<std::uint64_t>(given.data), given.bytes, given.name});
  }
  std::sort(allocations_.begin(), allocations_.end(),
            [](const Allocation& a, const Allocation& b) { return a.address < b.address; });
}

void GlobalMemory::allow(std::uint64_t address, std::uint64_t bytes) {
  if (!strict_ || allowed(address, bytes)) return;
  others_.push_back({address, bytes, {}});
}

bool GlobalMemory::allowed(std::uint64_t address, std::uint64_t bytes) const {
  return std::any_of(others_.begin(), others_.end(), [&](const Allocation& a) {
    return address >= a.address && address + bytes <= a.address + a.bytes;
  });
}

void GlobalMemory::look(std::uint64_t address, std::uint64_t bytes, SiteId site) const {
  const Allocation* beside = nullptr;
  for (const Allocation& a : allocations_) {
    if (address >= a.address && address + bytes <= a.address + a.bytes) return;
    const bool close =
        address + bytes > a.address - std::min(a.address, kRedZone) && address < a.address + a.bytes + kRedZone;
    if (close && (!beside || address >= a.address)) beside = &a;
  }
  if (!beside && (!strict_ || allowed(address, bytes))) return;
  std::ostringstream text;
  text << grid().checker().describe(self().view.self) << " accessed " << bytes << " bytes of global memory at 0x"
       << std::hex << address << std::dec;
  if (beside) {
    const auto index = static_cast<std::int64_t>(address - beside->address);
    text << ": byte " << index << " of " << (beside->name.empty() ? "an allocation" : "'" + beside->name + "'")
         << ", which has " << beside->bytes << " bytes";
    if (bytes > 0 && index % static_cast<std::int64_t>(bytes) == 0) {
      text << " (element " << index / static_cast<std::int64_t>(bytes) << " of " << beside->bytes / bytes << ")";
    }
    text << ".";
  } else {
    text << ", which no allocation that the run knows of holds: register it with allow_global.";
  }
  complain("global-out-of-range", site, text.str());
}

// Of Linux: "first-last rwxp ...", one line for each mapping.
void GlobalMemory::read_mappings() {
  mappings_.clear();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream in(line);
    Mapping mapping{};
    char dash = 0;
    std::string access;
    if (!(in >> std::hex >> mapping.first >> dash >> mapping.last >> access) || access.size() < 2) continue;
    if (access[0] != 'r') continue;
    mapping.writable = access[1] == 'w';
    mappings_.push_back(mapping);
  }
}

const GlobalMemory::Mapping* GlobalMemory::find(std::uint64_t address) const {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                      [](std::uint64_t a, const Mapping& m) { return a < m.first; });
  if (after == mappings_.begin() || std::prev(after)->last <= address) return nullptr;
  return &*std::prev(after);
}

bool GlobalMemory::probe(std::uint64_t page, bool write) {
  const Mapping* found = find(page * kPage);
  if (!found) {  // it may have come since
    read_mappings();
    found = find(page * kPage);
  }
  if (!found || (write && !found->writable)) return false;
  recent_[page % kRecent] = page * 2 + (found->writable ? 1 : 0);
  return true;
}

}  // namespace gantry::sim
