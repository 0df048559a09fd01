// The tensor maps of a pointer array on the device: the warp that writes them, and the threads that copy with them.
//
// GroupMapWriter keeps a template of each map in shared memory, whose box, element and swizzle the host has encoded.
// For each GEMM it replaces address, extents and stride, a lane for each map, and publishes them in a slot of global
// memory. tensormap.cp_fenceproxy releases them; each thread that copies acquires the maps that it uses
// (acquire_map) after it has read the tile in the ring.
//
// Example at namespace scope:
//     GANTRY_HD inline void begin(const gantry::TmaDescriptor* maps) {  // of the tile's GEMM
//       gantry::acquire_map(maps + gantry::GroupMapIndex::kA);
//     }
#pragma once

#include <gantry/arch/tensormap.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/gemm/pointer_array.hpp>
#include <gantry/tensor/index.hpp>

namespace gantry {

GANTRY_INLINE void acquire_map(const TmaDescriptor* map, Site site = Site::here()) {
  arch::fence_proxy_tensormap_generic(arch::sem_acquire, arch::scope_gpu, map, site);
}

// `Design` has a graph where its epilogue has one.
template <class Design>
class GroupMapWriter {
 public:
  static constexpr int kAux = Design::design.params.aux_maps;
  static constexpr int kMaps = GroupMapIndex::kAux + kAux;
  static_assert(kMaps <= 32, "gantry: a lane edits each map");
  struct alignas(128) Templates {
    TmaDescriptor maps[kMaps];
  };

  // The maps of this CTA's slot.
  GANTRY_INLINE static TmaDescriptor* slot_of(const PointerSchedule& p, int slot) {
    return p.maps + (static_cast<int>(arch::block_index().x) * kGroupMapSlots + slot) * kMaps;
  }

  // The whole warp. `params` are the kernel's, where the design says which map lies where.
  GANTRY_INLINE GroupMapWriter(const void* params, Templates& templates)
      : p_(static_cast<const unsigned char*>(params)), t_(templates) {
    const auto lane = arch::lane_rank();
    for_each_map([&](int map, int offset) {
      const auto* from = reinterpret_cast<const std::uint32_t*>(p_ + offset);
      arch::st(arch::space_shared, reinterpret_cast<std::uint32_t*>(&t_.maps[map]) + lane, from[lane]);
    });
    arch::syncwarp();
  }

  // The maps of GEMM `group` into a slot that no copy reads. The whole warp.
  GANTRY_INLINE void write(const GemmGroup* gemms, int group, TmaDescriptor* slot) const {
    const int lane = static_cast<int>(arch::lane_rank());
    const GroupMatrix mine = matrix(gemms + group, group, lane);
    if (mine.data != nullptr) {
      TmaDescriptor* const map = &t_.maps[lane];
      arch::tensormap_replace_global_address(arch::space_shared, map, mine.data);
      arch::tensormap_replace_global_dim(arch::space_shared, map, arch::n32<0>,
                                         static_cast<std::uint32_t>(mine.contiguous));
      arch::tensormap_replace_global_dim(arch::space_shared, map, arch::n32<1>, static_cast<std::uint32_t>(mine.lines));
      arch::tensormap_replace_global_stride(arch::space_shared, map, arch::n32<0>,
                                            static_cast<std::uint64_t>(mine.stride));
    }
    arch::syncwarp();  // all edits are made, and lane 0 knows that no copy reads the slot
    for_each_map([&](int map, int) {
      arch::tensormap_cp_fenceproxy(arch::sem_release, arch::scope_gpu, slot + map, &t_.maps[map]);
    });
    arch::syncwarp();
  }

  // Why GEMM `group` is left out; also for what its auxiliary tensors are. Fields are loaded when they are asked for:
  // registers are few where this runs.
  GANTRY_INLINE static GroupFault fault(const void* params, const GemmGroup* gemms, int group) {
    constexpr ArrayLayout layout = array_layout(Design::design);
    GroupFault out =
        fault_of_fields(layout, [&](auto field) { return arch::ld(arch::space_global, &(gemms[group].*field)); });
    if (!out.ok()) return out;
    for_each_tensor([&](auto argument, int) {
      const fusion::Operand& operand = operands(params)[argument];
      if (operand.pointer == nullptr || !out.ok()) return;
      const GemmGroupTensor x = fusion::group_tensor(operand, group);
      const int m = arch::ld(arch::space_global, &gemms[group].m), n = arch::ld(arch::space_global, &gemms[group].n);
      constexpr ArrayMatrix layout_of_x = layout_of_tensor<argument>();
      const GroupRule found = rule_of_tensor(layout_of_x, x, m, n);
      if (found != GroupRule::none) out = {found, 'X'};
    });
    for_each_vector([&](auto argument, int bits) {
      const fusion::Operand& operand = operands(params)[argument];
      constexpr bool scalar = Design::graph.arguments[argument].kind == fusion::ArgumentKind::scalar;
      if (scalar && operand.batch_stride != fusion::kByAddress) return;
      const GroupRule found = rule_of_vector(bits, fusion::group_vector(operand, group));
      if (found != GroupRule::none && out.ok()) out = {found, 'X'};
    });
    return out;
  }

 private:
  // f(its number in a slot, its offset in the kernel's parameters)
  template <class F>
  GANTRY_INLINE static void for_each_map(const F& f) {
    constexpr GemmParameterMap at = Design::design.params;
    f(GroupMapIndex::kA, at.a);
    f(GroupMapIndex::kB, at.b);
    if constexpr (Design::design.c.exists()) f(GroupMapIndex::kC, at.c);
    if constexpr (Design::design.stores_d()) f(GroupMapIndex::kD, at.d);
    for_each_index<kAux>([&](auto i) {
      f(GroupMapIndex::kAux + i,
        Constant<Design::design.params.aux>::value + i * static_cast<int>(sizeof(TmaDescriptor)));
    });
  }

  // f(Constant<argument>, its map's number among the auxiliary ones) for every tensor of the graph; of a mask, -1.
  template <class F>
  GANTRY_INLINE static void for_each_tensor(const F& f) {
    if constexpr (Design::design.store == GemmStore::collective) {
      for_each_index<Design::graph.argument_count>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr fusion::Argument a = Design::graph.arguments[argument];
        if constexpr (fusion::is_staged(a) || fusion::is_mask(a)) {
          f(Constant<argument>{}, map_of_argument<argument>());
        }
      });
    }
  }
  // f(Constant<argument>, bits of an element) for every scalar, row and column vector of the graph.
  template <class F>
  GANTRY_INLINE static void for_each_vector(const F& f) {
    if constexpr (Design::design.store == GemmStore::collective) {
      for_each_index<Design::graph.argument_count>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr fusion::Argument a = Design::graph.arguments[argument];
        if constexpr (a.kind == fusion::ArgumentKind::row || a.kind == fusion::ArgumentKind::column ||
                      a.kind == fusion::ArgumentKind::scalar) {
          f(Constant<argument>{}, Constant<element_bits(a.element)>::value);
        }
      });
    }
  }
  template <int argument>
  GANTRY_HD static constexpr int map_of_argument() {
    if (!fusion::is_staged(Design::graph.arguments[argument])) return -1;
    int out = 0;
    for (int i = 0; i < argument; ++i) out += fusion::is_staged(Design::graph.arguments[i]) ? 1 : 0;
    return out;
  }
  template <int argument>
  GANTRY_HD static constexpr ArrayMatrix layout_of_tensor() {
    return array_tensor(Design::graph.arguments[argument]);
  }
  GANTRY_INLINE static const fusion::Operand* operands(const void* params) {
    return reinterpret_cast<const fusion::Operand*>(static_cast<const unsigned char*>(params) +
                                                    Constant<Design::design.params.operands>::value);
  }

  // What this lane's map is of; without data: nothing, and the map is not used.
  GANTRY_INLINE GroupMatrix matrix(const GemmGroup* gemm, int group, int lane) const {
    constexpr ArrayLayout layout = array_layout(Design::design);
    const int m = arch::ld(arch::space_global, &gemm->m), n = arch::ld(arch::space_global, &gemm->n);
    const int k = arch::ld(arch::space_global, &gemm->k);
    GroupMatrix out;
    if (lane < GroupMapIndex::kAux) {
      // Addresses and strides of A, B, C and D lie side by side (planner_definitions.hpp checks that).
      const auto* const addresses = reinterpret_cast<const void* const*>(&gemm->a);
      const std::int64_t* const strides = &gemm->stride_a;
      const void* data = arch::ld(arch::space_global, addresses + lane);
      const std::int64_t stride = arch::ld(arch::space_global, strides + lane);
      if (lane == GroupMapIndex::kA) out = layout.a.of(data, stride, m, k);
      if (lane == GroupMapIndex::kB) out = layout.b.of(data, stride, n, k);
      if (lane == GroupMapIndex::kC) out = layout.c.of(data, stride, m, n);
      if (lane == GroupMapIndex::kD) out = layout.d.of(data, stride, m, n);
      const bool loaded = lane <= GroupMapIndex::kB, exists = lane == GroupMapIndex::kC   ? layout.c.bits > 0
                                                              : lane == GroupMapIndex::kD ? layout.d.bits > 0
                                                                                          : true;
      if ((loaded && k == 0) || !exists) out.data = nullptr;
    }
    for_each_tensor([&](auto argument, int map) {
      const fusion::Operand& operand = operands(p_)[argument];
      if (map < 0 || lane != GroupMapIndex::kAux + map || operand.pointer == nullptr) return;
      const GemmGroupTensor x = fusion::group_tensor(operand, group);
      out = layout_of_tensor<argument>().of(x.data, x.stride, m, n);
    });
    return out;
  }

  const unsigned char* p_;
  Templates& t_;
};

}  // namespace gantry
