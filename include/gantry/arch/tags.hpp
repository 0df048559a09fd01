// The qualifiers of PTX instructions as values that select an overload: state spaces, memory semantics, scopes,
// reduction operations, and integers known at compile time. Their names are those of `cuda::ptx`.
//
// Example:
//     static_assert(gantry::arch::n32<3>.value == 3);
//     static_assert(gantry::arch::space_cluster.value == gantry::arch::Space::cluster);
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry::arch {

enum class Space : std::uint8_t { global, shared, cluster };
enum class Semantics : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
// Element types of matrix instructions.
enum class MmaType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, s32 };
enum class Major : std::uint8_t { k, mn };
enum class ReduceOp : std::uint8_t { add, min, max, inc, dec, and_, or_, xor_ };

template <Space S>
struct SpaceTag {
  static constexpr Space value = S;
};
template <Semantics S>
struct SemanticsTag {
  static constexpr Semantics value = S;
};
template <Scope S>
struct ScopeTag {
  static constexpr Scope value = S;
};
template <ReduceOp O>
struct OpTag {
  static constexpr ReduceOp value = O;
};
template <int N>
struct n32_t {
  static constexpr int value = N;
};

using space_global_t = SpaceTag<Space::global>;
using space_shared_t = SpaceTag<Space::shared>;
using space_cluster_t = SpaceTag<Space::cluster>;
using sem_relaxed_t = SemanticsTag<Semantics::relaxed>;
using sem_acquire_t = SemanticsTag<Semantics::acquire>;
using sem_release_t = SemanticsTag<Semantics::release>;
using sem_acq_rel_t = SemanticsTag<Semantics::acq_rel>;
using sem_sc_t = SemanticsTag<Semantics::sc>;
using scope_cta_t = ScopeTag<Scope::cta>;
using scope_cluster_t = ScopeTag<Scope::cluster>;
using scope_gpu_t = ScopeTag<Scope::gpu>;
using scope_sys_t = ScopeTag<Scope::sys>;
using op_add_t = OpTag<ReduceOp::add>;
using op_min_t = OpTag<ReduceOp::min>;
using op_max_t = OpTag<ReduceOp::max>;
using op_inc_t = OpTag<ReduceOp::inc>;
using op_dec_t = OpTag<ReduceOp::dec>;
using op_and_op_t = OpTag<ReduceOp::and_>;
using op_or_op_t = OpTag<ReduceOp::or_>;
using op_xor_op_t = OpTag<ReduceOp::xor_>;

inline constexpr space_global_t space_global{};
inline constexpr space_shared_t space_shared{};
inline constexpr space_cluster_t space_cluster{};
inline constexpr sem_relaxed_t sem_relaxed{};
inline constexpr sem_acquire_t sem_acquire{};
inline constexpr sem_release_t sem_release{};
inline constexpr sem_acq_rel_t sem_acq_rel{};
inline constexpr sem_sc_t sem_sc{};
inline constexpr scope_cta_t scope_cta{};
inline constexpr scope_cluster_t scope_cluster{};
inline constexpr scope_gpu_t scope_gpu{};
inline constexpr scope_sys_t scope_sys{};
inline constexpr op_add_t op_add{};
inline constexpr op_min_t op_min{};
inline constexpr op_max_t op_max{};
inline constexpr op_inc_t op_inc{};
inline constexpr op_dec_t op_dec{};
inline constexpr op_and_op_t op_and_op{};
inline constexpr op_or_op_t op_or_op{};
inline constexpr op_xor_op_t op_xor_op{};
template <int N>
inline constexpr n32_t<N> n32{};

// An L2 eviction policy, as `createpolicy` builds it. A hint: it changes no result.
struct CachePolicy {
  std::uint64_t bits = 0;
};
inline constexpr CachePolicy kEvictFirst{0x12F0000000000000};
inline constexpr CachePolicy kEvictLast{0x14F0000000000000};
inline constexpr CachePolicy kEvictNormal{0x16F0000000000000};

}  // namespace gantry::arch
