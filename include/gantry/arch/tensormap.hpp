// Tensor maps edited by a kernel: replacing fields, publishing the map to the tensormap proxy, prefetching it.
//
// A copy reads its map through a proxy of its own. A map that was edited in shared memory is published with
// `tensormap_cp_fenceproxy` by a whole warp; every thread that then issues copies with it acquires it first.
//
// Example at namespace scope:
//     GANTRY_HD inline void retarget(gantry::TmaDescriptor* local, gantry::TmaDescriptor* slot, const void* data) {
//       using namespace gantry::arch;
//       tensormap_replace_global_address(space_shared, local, data);  // one lane; then syncwarp()
//       tensormap_cp_fenceproxy(sem_release, scope_gpu, slot, local);  // the whole warp
//       fence_proxy_tensormap_generic(sem_acquire, scope_gpu, slot);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>
#include <gantry/tma/descriptor.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// Into the cache of descriptors. Once for each map, by one thread, at the start of a kernel.
GANTRY_INLINE void prefetch_tensormap(const TmaDescriptor* map, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#else
  sim::tensormap_prefetch(map, site);
#endif
}

#if GANTRY_ON_DEVICE
#define GANTRY_REPLACE(field, width, ordinal, constraint)                                                   \
  if constexpr (S == Space::global) {                                                                       \
    asm volatile("tensormap.replace.tile." field ".global.b1024." width " [%0], " ordinal "%1;" ::"l"(map), \
                 constraint(value)                                                                          \
                 : "memory");                                                                               \
  } else {                                                                                                  \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." width " [%0], " ordinal              \
                 "%1;" ::"r"(shared_address(map)),                                                          \
                 constraint(value)                                                                          \
                 : "memory");                                                                               \
  }
#define GANTRY_REPLACE_BODY(field, id, width, constraint, number) GANTRY_REPLACE(field, width, "", constraint)
#define GANTRY_REPLACE_ORDINAL_BODY(field, id, width, constraint) \
  if constexpr (N == 0) {                                         \
    GANTRY_REPLACE(field, width, "0, ", constraint)               \
  }                                                               \
  if constexpr (N == 1) {                                         \
    GANTRY_REPLACE(field, width, "1, ", constraint)               \
  }                                                               \
  if constexpr (N == 2) {                                         \
    GANTRY_REPLACE(field, width, "2, ", constraint)               \
  }                                                               \
  if constexpr (N == 3) {                                         \
    GANTRY_REPLACE(field, width, "3, ", constraint)               \
  }                                                               \
  if constexpr (N == 4) {                                         \
    GANTRY_REPLACE(field, width, "4, ", constraint)               \
  }
#else
#define GANTRY_REPLACE_BODY(field, id, width, constraint, number) \
  sim::tensormap_replace(map, sim::MapField::id, 0, static_cast<std::uint64_t>(number), site)
#define GANTRY_REPLACE_ORDINAL_BODY(field, id, width, constraint) \
  sim::tensormap_replace(map, sim::MapField::id, N, static_cast<std::uint64_t>(value), site)
#endif

template <Space S>
GANTRY_INLINE void tensormap_replace_global_address(SpaceTag<S>, TmaDescriptor* map, const void* value,
                                                    [[maybe_unused]] Site site = Site::here()) {
  GANTRY_REPLACE_BODY("global_address", global_address, "b64", "l", reinterpret_cast<std::uint64_t>(value));
}

// `value` is the rank minus one.
template <Space S>
GANTRY_INLINE void tensormap_replace_rank(SpaceTag<S>, TmaDescriptor* map, std::uint32_t value,
                                          [[maybe_unused]] Site site = Site::here()) {
  GANTRY_REPLACE_BODY("rank", rank, "b32", "r", value);
}

// Elements of dimension N of the box, of the tensor; the traversal step of dimension N; the byte stride of dimension N
// + 1.
template <int N, Space S>
GANTRY_INLINE void tensormap_replace_box_dim(SpaceTag<S>, TmaDescriptor* map, n32_t<N>, std::uint32_t value,
                                             [[maybe_unused]] Site site = Site::here()) {
  static_assert(N >= 0 && N < 5, "a map has five dimensions");
  GANTRY_REPLACE_ORDINAL_BODY("box_dim", box_dim, "b32", "r");
}

template <int N, Space S>
GANTRY_INLINE void tensormap_replace_global_dim(SpaceTag<S>, TmaDescriptor* map, n32_t<N>, std::uint32_t value,
                                                [[maybe_unused]] Site site = Site::here()) {
  static_assert(N >= 0 && N < 5, "a map has five dimensions");
  GANTRY_REPLACE_ORDINAL_BODY("global_dim", global_dim, "b32", "r");
}

template <int N, Space S>
GANTRY_INLINE void tensormap_replace_element_stride(SpaceTag<S>, TmaDescriptor* map, n32_t<N>, std::uint32_t value,
                                                    [[maybe_unused]] Site site = Site::here()) {
  static_assert(N >= 0 && N < 5, "a map has five dimensions");
  GANTRY_REPLACE_ORDINAL_BODY("element_stride", element_stride, "b32", "r");
}

template <int N, Space S>
GANTRY_INLINE void tensormap_replace_global_stride(SpaceTag<S>, TmaDescriptor* map, n32_t<N>, std::uint64_t value,
                                                   [[maybe_unused]] Site site = Site::here()) {
  static_assert(N >= 0 && N < 4, "a map has four strides");
  GANTRY_REPLACE_ORDINAL_BODY("global_stride", global_stride, "b64", "l");
}

#if GANTRY_ON_DEVICE
#undef GANTRY_REPLACE_BODY
#define GANTRY_REPLACE_BODY(field, id, width, constraint, number) \
  constexpr int value = number;                                   \
  GANTRY_REPLACE(field, width, "", constraint)
#endif

template <Space S, TmaDataType Type>
GANTRY_INLINE void tensormap_replace_elemtype(SpaceTag<S>, TmaDescriptor* map,
                                              [[maybe_unused]] Site site = Site::here()) {
  static_assert(hopper_has(Type), "Hopper has no tensor maps of this element type");
  GANTRY_REPLACE_BODY("elemtype", elemtype, "b32", "n", ptx_elemtype(Type));
}

template <Space S, TmaSwizzle Swizzle>
GANTRY_INLINE void tensormap_replace_swizzle_mode(SpaceTag<S>, TmaDescriptor* map,
                                                  [[maybe_unused]] Site site = Site::here()) {
  static_assert(hopper_has(Swizzle), "Hopper swizzles 32, 64 or 128 bytes, or not at all");
  GANTRY_REPLACE_BODY("swizzle_mode", swizzle_mode, "b32", "n", static_cast<int>(Swizzle));
}

template <Space S, TmaInterleave Interleave>
GANTRY_INLINE void tensormap_replace_interleave_layout(SpaceTag<S>, TmaDescriptor* map,
                                                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_REPLACE_BODY("interleave_layout", interleave_layout, "b32", "n", static_cast<int>(Interleave));
}

template <Space S, TmaFill Fill>
GANTRY_INLINE void tensormap_replace_fill_mode(SpaceTag<S>, TmaDescriptor* map,
                                               [[maybe_unused]] Site site = Site::here()) {
  GANTRY_REPLACE_BODY("fill_mode", fill_mode, "b32", "n", static_cast<int>(Fill));
}

#undef GANTRY_REPLACE_BODY
#undef GANTRY_REPLACE_ORDINAL_BODY
#if GANTRY_ON_DEVICE
#undef GANTRY_REPLACE
#endif

// Copies a map from shared to global memory and releases it to the tensormap proxy. The whole warp calls it.
GANTRY_INLINE void tensormap_cp_fenceproxy(sem_release_t, scope_gpu_t, TmaDescriptor* global_map,
                                           const TmaDescriptor* shared_map, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], [%1], 128;" ::"l"(global_map),
      "r"(shared_address(shared_map))
      : "memory");
#else
  sim::tensormap_copy_release(global_map, shared_map, Scope::gpu, site);
#endif
}

// Edits that this thread made to maps in global memory are released to the tensormap proxy.
GANTRY_INLINE void fence_proxy_tensormap_generic(sem_release_t, scope_gpu_t,
                                                 [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
#else
  sim::fence_tensormap_release(Scope::gpu, site);
#endif
}

// Copies that this thread issues from now on read the map as it was last released.
GANTRY_INLINE void fence_proxy_tensormap_generic(sem_acquire_t, scope_gpu_t, const TmaDescriptor* map,
                                                 [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
#else
  sim::fence_tensormap_acquire(map, Scope::gpu, site);
#endif
}

}  // namespace gantry::arch
