#include "issue.hpp"

#include <bit>

namespace gantry::sim {

void fault(const char* rule, SiteId site, const std::string& text) {
  accuse(rule, site, text);
  grid().stop();
}

namespace {

Cta& owner_of_barrier(const void* barrier, SiteId site) {
  Cta* owner = grid().shared_owner(barrier);
  if (!owner)
    fault("mbarrier-placement", site,
          "The mbarrier of a copy, at address " + address_text(barrier) + ", is not in shared memory.");
  return *owner;
}

}  // namespace

std::vector<Cta*> receivers(std::optional<std::uint16_t> mask, Cta& to, const void* barrier, SiteId site) {
  if (!mask) {
    const Cta& owner = owner_of_barrier(barrier, site);
    if (&owner != &to) {
      fault("mbarrier-placement", site,
            "A copy goes to " + grid().cta_text(to.index) + " and is to be credited to a barrier of " +
                grid().cta_text(owner.index) + ": the barrier lies where the bytes go.");
    }
    return {&to};
  }
  const auto& ctas = self().cta->cluster->ctas;
  if (*mask == 0) fault("multicast-mask", site, "A multicast names no CTA: its mask is 0.");
  if (*mask >> ctas.size() != 0) {
    fault("multicast-mask", site,
          "A multicast names CTA " + std::to_string(std::bit_width(*mask) - 1) + " of a cluster of " +
              std::to_string(ctas.size()) + ": the highest is " + std::to_string(ctas.size() - 1) + ".");
  }
  std::vector<Cta*> named;
  for (const auto& cta : ctas) {
    if ((*mask >> cta->rank & 1) != 0) named.push_back(cta.get());
  }
  return named;
}

Mbarrier& credited_barrier(Cta& cta, const void* pointer, SiteId site) {
  const auto offset =
      static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - owner_of_barrier(pointer, site).visible);
  const auto name = [&] { return grid().names().describe_mbarrier(cta.visible + offset); };
  const auto found = cta.mbarriers.find(offset);
  if (found == cta.mbarriers.end() || !found->second.live) {
    fault("mbarrier-uninitialised", site, "A copy is to be credited to " + name() + ", which was not initialised.");
  }
  if (cta.alive == 0) {
    fault("cluster-peer-gone", site, "A copy goes to " + grid().cta_text(cta.index) + ", which has ended.");
  }
  Mbarrier& barrier = found->second;
  if (!grid().checking()) return barrier;
  const auto issued = [&] {
    return grid().checker().describe(self().view.self) + " issued a copy that is credited to " + name();
  };
  if (!knows_init(self(), barrier)) {
    complain("mbarrier-init-race", site, issued() + ", and no barrier orders that after its mbarrier.init.");
  }
  if (!barrier.published) {
    complain("mbarrier-init-unfenced", site,
             issued() + ", whose mbarrier.init was not followed by fence.mbarrier_init.");
  }
  return barrier;
}

}  // namespace gantry::sim
