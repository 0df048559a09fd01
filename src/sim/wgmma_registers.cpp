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
  for (std::size_t i = 0; i < fragment.count; ++i) {
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
                          grid().checker().describe(thread.view.self) + " changed the " + fragment.name +
                              " that the wgmma at " + grid().sites().text(fragment.site) + " reads before it came to " +
                              grid().sites().text(site) + ": wgmma.wait_group must cover it first.");
  }
}

void check_fenced(Thread& thread, const Wgmma& mma, SiteId site) {
  WgmmaThread& own = thread.wgmma;
  const char* what = nullptr;
  if (own.fences == 0) {
    what = "before its first wgmma";
    own.fences = 1;
  } else if (std::erase(own.touched, mma.accumulators) > 0) {
    what = "after its accumulators were last touched";
  } else {
    for (WgmmaThread::Fragment& fragment : own.fragments) {
      const bool read_again = (mma.a_in_registers && fragment.registers == mma.a_source) ||
                              (mma.sparse && fragment.registers == mma.metadata_source);
      if (read_again && fragment.fences == own.fences && changed(fragment)) {
        what =
            fragment.count == 1 ? "after its metadata were last written" : "after the registers of A were last written";
      }
    }
    for (const WgmmaThread::Loaded& loaded : own.loaded) {
      if (!mma.a_in_registers || !mma.a_source) break;
      if (loaded.first < mma.a_source + 4 && mma.a_source < loaded.first + loaded.count) {
        what = "after the registers of A were last written";
      }
    }
  }
  if (!what) return;
  complain("wgmma-fence-missing", site,
           grid().checker().describe(thread.view.self) + " issued wgmma without wgmma.fence " + what + ".");
}

void keep_fragments(Thread& thread, const Wgmma& mma, std::uint64_t number, SiteId site) {
  WgmmaThread& own = thread.wgmma;
  const auto keep = [&](const char* name, const std::uint32_t* registers, const std::uint32_t* values,
                        std::size_t count) {
    std::erase_if(own.fragments, [&](const WgmmaThread::Fragment& f) {
      return !f.in_flight && (f.registers == registers || f.fences < own.fences);
    });
    WgmmaThread::Fragment kept{.name = name,
                               .registers = registers,
                               .count = count,
                               .values = {},
                               .product = number,
                               .fences = own.fences,
                               .site = site,
                               .in_flight = true};
    std::copy_n(values, count, kept.values.begin());
    own.fragments.push_back(kept);
  };
  if (mma.a_in_registers && mma.a_source) keep("registers of A", mma.a_source, mma.a_registers, 4);
  if (mma.sparse && mma.metadata_source) keep("metadata", mma.metadata_source, &mma.metadata, 1);
}

void note_loaded_registers(Thread& thread, const std::uint32_t* registers, std::size_t count) {
  auto& loaded = thread.wgmma.loaded;
  const bool known = std::any_of(loaded.begin(), loaded.end(), [&](const WgmmaThread::Loaded& l) {
    return l.first == registers && l.count == count;
  });
  if (!known && thread.wgmma.fences > 0) loaded.push_back({registers, count});
}

}  // namespace gantry::sim
