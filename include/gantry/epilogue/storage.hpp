// Where everything of an epilogue lies in shared memory: buffers of C and D, the fusion's own storage, tensor maps that
// are rewritten, barriers.
//
// Gantry packs: each part starts at the next multiple of its alignment, and tensors and the whole are rounded up to
// theirs. The compatible flavour counts as the nested structures of CUTLASS do, each rounded up to its alignment and an
// empty one a byte, so that budgets made for it hold.
//
// Example:
//     using namespace gantry;
//     constexpr EpilogueStorage s = epilogue_storage({.buffers = EpilogueBuffers::d_reuses_c,
//                                                     .c = {.bytes = 4 * 4096, .alignment = 512},
//                                                     .d = {.bytes = 4 * 4096, .alignment = 512},
//                                                     .stages_c = 4});
//     static_assert(s.d_offset == s.c_offset && s.collective_bytes == 16384 && s.pipeline_bytes == 4 * 16);
#pragma once

#include <gantry/epilogue/policy_layouts.hpp>

namespace gantry {

struct StorageNeed {
  int bytes = 0;
  int alignment = 1;
};

struct StorageQuestion {
  EpilogueBuffers buffers = EpilogueBuffers::none;
  StorageNeed c{};  // all stages
  StorageNeed d{};
  StorageNeed fusion{};
  int tensormaps = 0;
  int stages_c = 0;
  PolicyFlavour flavour = PolicyFlavour::gantry;
};

inline constexpr int kBarrierBytes = 8;
inline constexpr int kTensorMapBytes = 128;

namespace detail {

GANTRY_HD constexpr int round_up(int value, int alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}

// Parts laid out one after another.
struct StorageCursor {
  int bytes = 0;
  int alignment = 1;

  GANTRY_HD constexpr int take(int size, int align) noexcept {
    const int at = round_up(bytes, align);
    bytes = at + size;
    if (align > alignment) alignment = align;
    return at;
  }
  // As the end of a structure: its size is a multiple of its alignment, and never 0.
  GANTRY_HD constexpr void close() noexcept { bytes = round_up(bytes > 0 ? bytes : 1, alignment); }
};

GANTRY_HD constexpr void place_buffers(const StorageQuestion& q, EpilogueStorage& out, StorageCursor& at) noexcept {
  switch (q.buffers) {
    case EpilogueBuffers::none:
      return;
    case EpilogueBuffers::d_reuses_c:
      out.c_bytes = out.d_bytes = q.c.bytes > q.d.bytes ? q.c.bytes : q.d.bytes;
      out.c_offset = out.d_offset = at.take(out.c_bytes, q.c.alignment > q.d.alignment ? q.c.alignment : q.d.alignment);
      return;
    case EpilogueBuffers::c_and_d:
    case EpilogueBuffers::c_only:
    case EpilogueBuffers::d_only:
      break;
  }
  if (q.buffers != EpilogueBuffers::d_only) {
    out.c_bytes = q.c.bytes;
    out.c_offset = at.take(q.c.bytes, q.c.alignment);
  }
  if (q.buffers != EpilogueBuffers::c_only) {
    out.d_bytes = q.d.bytes;
    out.d_offset = at.take(q.d.bytes, q.d.alignment);
  }
}

}  // namespace detail

GANTRY_HD constexpr EpilogueStorage epilogue_storage(const StorageQuestion& q) noexcept {
  const bool as_structures = q.flavour == PolicyFlavour::cutlass_compatible;
  EpilogueStorage out;
  out.buffers = q.buffers;
  if (as_structures && q.buffers == EpilogueBuffers::none && q.fusion.bytes == 0) {
    out.tensor_bytes = out.bytes = 1;  // empty structures, and two empty pipelines
    out.pipeline_bytes = 2;
    return out;
  }
  detail::StorageCursor at;
  detail::place_buffers(q, out, at);
  if (as_structures) at.close();
  out.collective_bytes = at.bytes;
  out.fusion_bytes = as_structures && q.fusion.bytes == 0 ? 1 : q.fusion.bytes;
  out.fusion_offset = at.take(out.fusion_bytes, q.fusion.alignment);
  if (as_structures || at.bytes > 0) at.close();
  out.tensor_bytes = at.bytes;
  out.tensor_alignment = at.alignment;
  out.tensormap_bytes = q.tensormaps * kTensorMapBytes;
  out.tensormap_offset = at.take(out.tensormap_bytes, q.tensormaps > 0 ? kTensorMapBytes : 1);
  // A barrier that says full and one that says empty, for each stage of the load pipeline.
  out.pipeline_bytes = 2 * kBarrierBytes * q.stages_c;
  out.pipeline_alignment = q.stages_c > 0 ? kBarrierBytes : 1;
  out.pipeline_offset = at.take(out.pipeline_bytes, out.pipeline_alignment);
  if (as_structures || at.bytes > 0) at.close();
  out.bytes = at.bytes;
  out.alignment = at.alignment;
  return out;
}

// That of a policy whose fusion has this need. Collectives, designs and the policy itself take their offsets from here.
GANTRY_HD constexpr EpilogueStorage epilogue_storage(const EpiloguePolicy& p, const StorageNeed& fusion) {
  StorageQuestion q{.buffers = p.buffers(), .fusion = fusion, .flavour = p.flavour};
  if (p.uses_tma()) {
    q.c = {p.c.stages * p.c.stage_bytes(), p.c.smem_alignment()};
    q.d = {p.d.stages * p.d.stage_bytes(), p.d.smem_alignment()};
    q.tensormaps = p.pointer_array() ? 1 + p.map_warpgroups : 0;
    q.stages_c = p.stages_c;
  }
  return epilogue_storage(q);
}

namespace detail {

// Refuses storage that a block has no room for. What a fusion keeps grows with the buffers too, as do barriers.
GANTRY_HD constexpr void check_room(const EpiloguePolicy& p, const EpilogueStorage& storage, const Sm90Limits& limits,
                                    EpilogueReasons& out) {
  const int most = limits.shared_bytes_per_block;
  if (storage.bytes <= most) return;
  const int buffers = p.reuse_smem_c ? p.stages_c : (p.c.exists() ? p.stages_c : 0) + p.stages_d;
  const int each = buffers > 0 ? storage.bytes / buffers : 0;
  out.add({.rule = EpilogueRule::shared_memory,
           .actual = storage.bytes,
           .nearest = each > 0 ? most / each : 0,
           .first = most});
}

}  // namespace detail

}  // namespace gantry
