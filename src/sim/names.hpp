// Names that a kernel gave to objects in memory, and how reports speak of bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <gantry/arch/detail/machine.hpp>

namespace gantry::sim {

class Launches;

class Names {
 public:
  explicit Names(const Launches& launches) : launches_(launches) {}

  void add(const void* pointer, const ObjectName& name);

  // "'full[2]' of CTA 0", "bytes 16..31 of 'tile' in CTA 0"
  std::string describe_bytes(std::uint64_t address, std::uint64_t bytes) const;

  // "'full[2]' of CTA 0", "the mbarrier at bytes 16..23 of the shared memory of CTA 0"
  std::string describe_mbarrier(const void* barrier) const;

 private:
  struct Name {
    std::uint64_t bytes;
    std::string text;
    int index;
  };
  const Launches& launches_;
  std::map<std::uint64_t, Name> names_;  // by address
};

// "0x7f00"
std::string address_text(std::uint64_t address);
inline std::string address_text(const void* pointer) { return address_text(reinterpret_cast<std::uint64_t>(pointer)); }

}  // namespace gantry::sim
