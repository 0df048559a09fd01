// What an epilogue is asked for: every field has a default that leaves the decision to the flavour's rules.
//
// Example:
//     using namespace gantry;
//     constexpr CollectiveBuilder asked{.tile = {128, 128, 64}, .d = ElementType::bf16};
//     static_assert(asked.stages_d == 0 && asked.c == ElementType::void_);  // left open; no source
#pragma once

#include <gantry/epilogue/storage.hpp>

namespace gantry {

// Delayed stores with reuse and StagesC <= StagesD stop for ever. `bypassed_for_demonstration` builds them all the
// same, so that the simulator can show who waits for whom.
enum class DeadlockCheck : std::uint8_t { refused, bypassed_for_demonstration };

struct CollectiveBuilder {
  PolicyFlavour flavour = PolicyFlavour::gantry;
  EpilogueSchedule schedule = EpilogueSchedule::automatic;
  TileMNK tile{};
  EpiTile epi_tile{};  // extents, or a tiler of layouts; {}: by the flavour's rule

  ElementType c = ElementType::void_;  // void: no source
  ElementType d = ElementType::void_;  // void: nothing is stored but what the fusion stores
  LayoutTag layout_c = kRowMajor;
  LayoutTag layout_d = kRowMajor;
  int align_c = 0;  // elements that pointers and strides are multiples of; 0: 16 bytes
  int align_d = 0;
  ElementType acc = ElementType::f32;
  ElementType compute = ElementType::f32;
  Rounding rounding = Rounding::nearest_even;  // of D, auxiliary outputs and results of reductions
  ElementType aux = ElementType::void_;        // of the auxiliary output that stands in for D where D is void

  int warpgroups = 0;  // 0 here and below: by the flavour's rule
  int stages_c = 0;
  int stages_d = 0;
  int fragment_size = 0;
  Choice reuse_smem_c = Choice::automatic;
  Choice delay_tma_store = Choice::automatic;
  DeadlockCheck deadlock = DeadlockCheck::refused;

  StorageNeed fusion{};  // the fusion's own shared memory

  // The policy, or every reason why there is none.
  GANTRY_HD constexpr EpiloguePolicy policy(const Sm90Limits& limits = kSm90) const;
};

}  // namespace gantry
