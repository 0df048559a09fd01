#include "global_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <gantry/arch/guarded_memory.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

using detail::GuardedBlock;
using detail::GuardedBlocks;

constexpr std::byte kPaint{0xB5};

}  // namespace

GlobalMemory::GlobalMemory(const SimulatorOptions& options) : strict_(options.strict_global) {
  for (const GlobalAllocation& given : options.global) {
    given_.push_back({{reinterpret_cast<std::uint64_t>(given.data), given.bytes}, kRedZone, given.name});
  }
  GuardedBlocks::all().each([this](const GuardedBlock& block) {
    const Range range{reinterpret_cast<std::uint64_t>(block.data), block.bytes};
    // An allocation in it that was given says more exactly what the kernel may access.
    const auto replaces = [&](const Allocation& given) { return range.holds(given.address, given.bytes); };
    if (std::none_of(given_.begin(), given_.end(), replaces)) blocks_.push_back({range, GuardedBlock::kRedZone});
  });
}

void GlobalMemory::allow(std::uint64_t address, std::uint64_t bytes) {
  if (!strict_ || allowed(address, bytes)) return;
  others_.push_back({address, bytes});
}

bool GlobalMemory::allowed(std::uint64_t address, std::uint64_t bytes) const {
  return std::any_of(others_.begin(), others_.end(), [&](const Range& range) { return range.holds(address, bytes); });
}

// The allocation that the range belongs to or lies beside, preferably the former, or null.
const GlobalMemory::Allocation* GlobalMemory::beside(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* found = nullptr;
  const auto consider = [&](const Allocation& a) {
    const bool better = found == nullptr || (!found->holds(address, bytes) && address >= a.address);
    if (a.holds(address, bytes) || (a.is_beside(address, bytes) && better)) found = &a;
  };
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), address,
                                [](std::uint64_t at, const Allocation& a) { return at < a.address; });
  if (block != blocks_.end()) consider(*block);
  if (block != blocks_.begin()) consider(*std::prev(block));
  for (const Allocation& given : given_) {
    if (found && found->holds(address, bytes)) break;
    consider(given);
  }
  return found;
}

bool GlobalMemory::look(std::uint64_t address, std::uint64_t bytes, SiteId site) {
  const Allocation* near = beside(address, bytes);
  if (near && near->holds(address, bytes)) {
    recent_allocation_ = static_cast<const Range&>(*near);
    return true;
  }
  if (!near && (!strict_ || allowed(address, bytes))) return true;
  std::ostringstream text;
  text << grid().checker().describe(self().view.self) << " accessed " << bytes << " bytes of global memory at 0x"
       << std::hex << address << std::dec;
  if (near) {
    const auto index = static_cast<std::int64_t>(address - near->address);
    text << ": byte " << index << " of ";
    if (near->name.empty()) {
      text << "the allocation at 0x" << std::hex << near->address << std::dec;
    } else {
      text << "'" << near->name << "'";
    }
    text << ", which has " << near->bytes << " bytes";
    if (bytes > 0 && index % static_cast<std::int64_t>(bytes) == 0) {
      text << " (element " << index / static_cast<std::int64_t>(bytes) << " of " << near->bytes / bytes << ")";
    }
    text << ".";
  } else {
    text << ", which no allocation that the run knows of holds: register it with allow_global.";
  }
  complain("global-out-of-range", site, text.str());
  return false;
}

void GlobalMemory::paint_red_zones() {
  GuardedBlocks::all().each([](const GuardedBlock& block) {
    if (block.owner != std::this_thread::get_id()) return;
    block.open();
    std::fill_n(block.before(), GuardedBlock::kRedZone, kPaint);
    std::fill_n(block.after(), GuardedBlock::kRedZone, kPaint);
  });
}

void GlobalMemory::check_red_zones(Findings& findings) {
  const auto find_changed = [](const std::byte* zone) {
    return std::find_if(zone, zone + GuardedBlock::kRedZone, [](std::byte b) { return b != kPaint; });
  };
  GuardedBlocks::all().each([&](const GuardedBlock& block) {
    if (block.owner != std::this_thread::get_id()) return;
    const std::byte* changed = find_changed(block.after());
    if (changed == block.after() + GuardedBlock::kRedZone) changed = find_changed(block.before());
    block.close();
    if (changed == block.data) return;
    std::ostringstream text;
    text << "Byte " << changed - block.data << " of the allocation at 0x" << std::hex
         << reinterpret_cast<std::uint64_t>(block.data) << std::dec << ", which has " << block.bytes
         << " bytes, changed during the run, and no operation wrote it: a plain C++ store of the kernel leaves the "
            "allocation. Written with st(space_global, ...), it is reported with its thread and line.";
    findings.add("global-out-of-range", 0, 0, text.str());
  });
}

// Of Linux: "first-last rwxp ...", one line for each mapping. There are thousands where many threads have had stacks,
// so that lines are cut by hand.
void GlobalMemory::read_mappings() {
  mappings_.clear();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const char* const end = line.data() + line.size();
    Mapping mapping{};
    const char* at = std::from_chars(line.data(), end, mapping.first, 16).ptr;
    if (at == end || *at != '-') continue;
    at = std::from_chars(at + 1, end, mapping.last, 16).ptr;
    if (end - at < 3 || at[1] != 'r') continue;
    mapping.writable = at[2] == 'w';
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
