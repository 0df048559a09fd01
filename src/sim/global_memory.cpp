#include "global_memory.hpp"

#include <algorithm>
#include <sstream>

#include "grid.hpp"
#include "host_faults.hpp"

namespace gantry::sim {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

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

bool GlobalMemory::is_there(std::uint64_t address, std::uint64_t bytes, bool write) {
  for (std::uint64_t page = address / kPage; page <= (address + bytes - 1) / kPage; ++page) {
    if (page == last_page_ && !write) continue;
    const auto* at = reinterpret_cast<const void*>(page * kPage);
    const auto [found, added] = pages_.try_emplace(page);
    Page& known = found->second;
    if (added) known = is_mapped(at, false) ? Page::readable : Page::absent;
    if (write && known == Page::readable) known = is_mapped(at, true) ? Page::writable : Page::constant;
    if (known == Page::absent || (write && known != Page::writable)) return false;
    last_page_ = page;
  }
  return true;
}

}  // namespace gantry::sim
