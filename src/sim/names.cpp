#include "names.hpp"

#include <iterator>
#include <sstream>

#include "launches.hpp"

namespace gantry::sim {
namespace {

std::string byte_range(std::uint64_t first, std::uint64_t count) {
  if (count == 1) return "byte " + std::to_string(first);
  return "bytes " + std::to_string(first) + ".." + std::to_string(first + count - 1);
}

}  // namespace

void Names::add(const void* pointer, const ObjectName& name) {
  names_[reinterpret_cast<std::uint64_t>(pointer)] = {name.bytes, std::string(name.text) + name.part, name.index};
}

std::string Names::describe_bytes(std::uint64_t address, std::uint64_t bytes) const {
  const auto* pointer = reinterpret_cast<const std::byte*>(address);
  const Cta* cta = launches_.shared_owner(pointer);
  const auto after = names_.upper_bound(address);
  if (after != names_.begin()) {
    const auto& [start, name] = *std::prev(after);
    if (address < start + name.bytes) {
      std::string text = "'" + name.text;
      if (name.index >= 0) text += "[" + std::to_string(name.index) + "]";
      text += "'";
      const bool part = bytes < name.bytes;
      if (part) text.insert(0, byte_range(address - start, bytes) + " of ");
      if (cta) text += (part ? " in " : " of ") + launches_.cta_text(cta->index);
      return text;
    }
  }
  if (cta) {
    const auto offset = static_cast<std::uint64_t>(pointer - cta->visible);
    return byte_range(offset - kSharedBase, bytes) + " of the shared memory of " + launches_.cta_text(cta->index);
  }
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " of global memory at " + address_text(address);
}

std::string Names::describe_mbarrier(const void* barrier) const {
  std::string text = describe_bytes(reinterpret_cast<std::uint64_t>(barrier), sizeof(std::uint64_t));
  if (!text.starts_with('\'')) text.insert(0, "the mbarrier at ");
  return text;
}

std::string address_text(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

}  // namespace gantry::sim
