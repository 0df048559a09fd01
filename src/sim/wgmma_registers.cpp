#include "wgmma_registers.hpp"

#include <algorithm>

#include "grid.hpp"

namespace gantry::sim {
namespace {

// The array may have gone out of scope: its memory is still the stack's, and changed means that it was used again.
#if defined(__GNUC__)
__attribute__((no_sanitize("address")))
#endif
bool changed(const WgmmaThread::Fragment& fragment) {
  for (std::size_t i = 0; i < fragment.values.size(); ++i) {
    if (fragment.registers[i] != fragment.values[i]) return true;
  }
  return false;
}

}  // namespace

void check_fragments(Thread& thread, SiteId site) {
  for (WgmmaThread::Fragment& fragment : thread.wgmma.fragments) {
    if (!fragment.in_flight || !changed(fragment)) continue;
    fragment.in_flight = false;
    grid().findings().add("wgmma-operand-reused", fragment.site, site,
                          grid().checker().describe(thread.view.self) +
                              " changed the registers of A that the wgmma at " + grid().sites().text(fragment.site) +
                              " reads before it came to " + grid().sites().text(site) +
                              ": wgmma.wait_group must cover the product first.");
  }
}

void check_fenced(Thread& thread, const Wgmma& mma, SiteId site) {
  WgmmaThread& own = thread.wgmma;
  const char* what = nullptr;
  if (own.fences == 0) {
    what = "before its first product";
    own.fences = 1;
  } else if (std::erase(own.touched, mma.accumulators) > 0) {
    what = "after its accumulators were last touched";
  } else if (mma.a_in_registers && mma.a_source) {
    for (WgmmaThread::Fragment& fragment : own.fragments) {
      if (fragment.registers == mma.a_source && fragment.fences == own.fences && changed(fragment)) {
        what = "after the registers of A were last written";
      }
    }
    for (const WgmmaThread::Loaded& loaded : own.loaded) {
      if (loaded.first < mma.a_source + 4 && mma.a_source < loaded.first + loaded.count) {
        what = "after the registers of A were last written";
      }
    }
  }
  if (!what) return;
  complain("wgmma-fence-missing", site,
           grid().checker().describe(thread.view.self) + " issued wgmma without wgmma.fence " + what + ".");
}

void keep_fragment(Thread& thread, const Wgmma& mma, std::uint64_t number, SiteId site) {
  WgmmaThread& own = thread.wgmma;
  std::erase_if(own.fragments, [&](const WgmmaThread::Fragment& f) {
    return !f.in_flight && (f.registers == mma.a_source || f.fences < own.fences);
  });
  WgmmaThread::Fragment kept{.registers = mma.a_source,
                             .values = {},
                             .product = number,
                             .fences = own.fences,
                             .site = site,
                             .in_flight = true};
  std::copy_n(mma.a_registers, 4, kept.values.begin());
  own.fragments.push_back(kept);
}

void note_loaded_registers(Thread& thread, const std::uint32_t* registers, std::size_t count) {
  auto& loaded = thread.wgmma.loaded;
  const bool known = std::any_of(loaded.begin(), loaded.end(), [&](const WgmmaThread::Loaded& l) {
    return l.first == registers && l.count == count;
  });
  if (!known && thread.wgmma.fences > 0) loaded.push_back({registers, count});
}

}  // namespace gantry::sim
