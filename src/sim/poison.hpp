// What a wgmma computes from shared memory that nothing has written: a NaN that no arithmetic makes (machine.hpp),
// looked for where values reach global memory, and where an operation decides by them. Rows that nobody stores do no
// harm. A branch of the kernel's own C++ cannot be seen.
#pragma once

#include <cstdint>

#include "sites.hpp"

namespace gantry::sim {

class Poison {
 public:
  // A product at this place has read bytes that nothing had written.
  void spread(SiteId product) { product_ = product; }

  // The values go to global memory, by the operation at `site`.
  void check(const void* values, std::uint64_t bytes, SiteId site) const {
    if (product_ != 0) look(values, bytes, site, "brings a value to global memory");
  }

  // The operation at `site` compares the values with others.
  void check_compared(const void* values, std::uint64_t bytes, SiteId site) const {
    if (product_ != 0) look(values, bytes, site, "compares a value");
  }

 private:
  void look(const void* values, std::uint64_t bytes, SiteId site, const char* what) const;

  SiteId product_ = 0;  // 0: there has been none
};

}  // namespace gantry::sim
