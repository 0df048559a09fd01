// gemm(mma, a, b, acc, accumulate): issues the instructions of a tiled MMA for every block of its fragments, in
// compile-time loops: acc = A B^T, or acc += A B^T, with A of (M, K) and B of (N, K).
//
// The instructions are asynchronous. Before the first, `arch::wgmma_fence()`; after the last,
// `arch::wgmma_commit_group()` and, before the accumulators are touched, `arch::wgmma_wait_group`, with
// warpgroup_fence_operand(acc) on both sides. Neither operand may be overwritten before that wait.
//
// Example at namespace scope:
//     struct Mma {
//       using Operation = gantry::SM90_GMMA<64, float, gantry::f16, gantry::f16>;
//       static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
//     };
//     struct Operand {
//       static constexpr gantry::ComposedLayout value = tile_to_shape(
//           gantry::smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16), gantry::make_shape(gantry::_64, gantry::_64));
//     };
//     inline float product(gantry::f16* a, gantry::f16* b, int thread) {
//       using namespace gantry;
//       const TiledMma<Mma> mma;
//       const auto mine = mma.get_slice(thread);
//       const auto fa = mine.partition_fragment_A(make_tensor(make_smem_ptr(a), Operand{}));  // (1, 1, 4)
//       const auto fb = mine.partition_fragment_B(make_tensor(make_smem_ptr(b), Operand{}));
//       auto acc = partition_fragment_C(mma, Tile<64, 64>{});
//       warpgroup_fence_operand(acc);
//       arch::wgmma_fence();
//       gemm(mma, fa, fb, acc, false);
//       arch::wgmma_commit_group();
//       arch::wgmma_wait_group(arch::n32<0>);
//       warpgroup_fence_operand(acc);
//       return acc(0);
//     }
#pragma once

#include <gantry/atom/accumulator.hpp>

namespace gantry {

namespace detail {

template <class T>
inline constexpr bool kIsDescriptor = __is_same(EngineOf<T>, DescriptorIterator);

// Rank 3 with the k mode, rank 2 for one block along K.
template <class T>
inline constexpr int kBlocksK = rank(LayoutOf<T>::value) > 2 ? static_cast<int>(size(LayoutOf<T>::value, 2)) : 1;

template <class T, int row, int k>
GANTRY_HD constexpr int fragment_index() {
  constexpr Layout l = LayoutOf<T>::value;
  return static_cast<int>(size(l, 0)) * (row + static_cast<int>(size(l, 1)) * k);
}

template <class Op, int m, int n, int k, class A, class B, class Acc>
GANTRY_INLINE void issue_product(const A& a, const B& b, Acc& acc, bool accumulate, Site site) {
  constexpr int c = fragment_index<Acc, m, n>();
  constexpr int at_a = fragment_index<A, m, k>();
  constexpr int at_b = fragment_index<B, n, k>();
  arch::Accumulator<Op>& block = acc.data().block({kOffset<Acc, c>});
  const std::uint64_t descriptor_b = b(Constant<at_b>{});
  if constexpr (kIsDescriptor<A>) {
    arch::wgmma_mma_async<Op>(block, a(Constant<at_a>{}), descriptor_b, accumulate, site);
  } else {
    arch::WgmmaFragment fragment;
    read_registers<Consecutive<at_a>>(fragment.words, a);
    arch::wgmma_mma_async<Op>(block, fragment, descriptor_b, accumulate, site);
  }
}

}  // namespace detail

// Fragments (V, M, K) of A and (V, N, K) of B, or one block along K of each, into accumulators (V, M, N).
template <class C, StaticTensor A, StaticTensor B, StaticTensor Acc>
GANTRY_INLINE void gemm(const TiledMma<C>&, const A& a, const B& b, Acc& acc, bool accumulate = true,
                        Site site = Site::here()) {
  constexpr int ms = static_cast<int>(size(detail::LayoutOf<Acc>::value, 1));
  constexpr int ns = static_cast<int>(size(detail::LayoutOf<Acc>::value, 2));
  constexpr int ks = detail::kBlocksK<A>;
  static_assert(static_cast<int>(size(detail::LayoutOf<A>::value, 1)) == ms,
                "gantry: gemm: A and the accumulators have different numbers of blocks along M");
  static_assert(static_cast<int>(size(detail::LayoutOf<B>::value, 1)) == ns,
                "gantry: gemm: B and the accumulators have different numbers of blocks along N");
  static_assert(detail::kBlocksK<B> == ks, "gantry: gemm: A and B have different numbers of blocks along K");
  using Op = typename C::Operation;
  if constexpr (ms * ns * ks == 1) {
    detail::issue_product<Op, 0, 0, 0>(a, b, acc, accumulate, site);
  } else {
    // One loop: in nested ones NVRTC does not take the outer index for a constant.
    for_each_index<ks * ns * ms>([&](auto i) {
      constexpr int m = i % ms, n = i / ms % ns, k = i / (ms * ns);
      detail::issue_product<Op, m, n, k>(a, b, acc, accumulate || k > 0, site);
    });
  }
}

}  // namespace gantry
