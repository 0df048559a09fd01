// copy(atom, from, to): issues the instructions of a copy atom for every block of two partitions, in compile-time
// loops. copy(from, to) vectorises by itself; copy_if(predicate, ...) skips elements or instructions whose predicate is
// false.
//
// A partition is ((what one instruction moves, ...), repetitions...), as TiledCopy makes it: instruction i moves the
// i-th run of elements on both sides. Extents are known at compile time, so registers stay registers. Shared and global
// memory are reached through `arch/` alone.
//
// Example:
//     using namespace gantry;
//     float memory[64] = {};
//     auto global = make_tensor(make_gmem_ptr(memory), Tile<8, 8>{});
//     auto registers = make_fragment_like(global);
//     copy(registers, global);                                           // 16 bytes at a time
//     copy(Copy_Atom<UniversalCopy<float>, float>{}, global, registers);  // one float at a time
//     copy_if([](auto i) { return i < 8; }, registers, global);          // the first column
#pragma once

#include <gantry/arch/matrix.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/atom/copy_atom.hpp>
#include <gantry/atom/detail/words.hpp>
#include <gantry/layout/divide.hpp>
#include <gantry/numeric/convert.hpp>
#include <gantry/tensor/fragment.hpp>

namespace gantry {

namespace detail {

// ---- One access

template <class T>
GANTRY_INLINE constexpr auto space_of() {
  if constexpr (EngineOf<T>::memory == Memory::shared) {
    return arch::space_shared;
  } else {
    return arch::space_global;
  }
}

// The elements of a run as one word. Requires that they are contiguous, and in memory aligned to the word.
template <class Run, class Word, class T>
GANTRY_INLINE Word load_word(const T& t, [[maybe_unused]] Site site) {
  if constexpr (kInRegisters<T>) {
    Word words[1];
    read_registers<Run>(words, t);
    return words[0];
  } else {
    const auto* at = element_address(t, Constant<Run::at(0)>{});
    return arch::ld(space_of<T>(), reinterpret_cast<const Word*>(at), site);
  }
}
template <class Run, class Word, class T>
GANTRY_INLINE void store_word(T& t, const Word& word, [[maybe_unused]] Site site) {
  if constexpr (kInRegisters<T>) {
    const Word words[1] = {word};
    write_registers<Run>(t, words);
  } else {
    auto* at = element_address(t, Constant<Run::at(0)>{});
    arch::st(space_of<T>(), reinterpret_cast<Word*>(at), word, site);
  }
}

// ---- The widest accesses

// How many elements an access moves, and which: (element of the access, access) -> index of the tensors.
struct VectorPlan {
  int elements = 1;
  Layout walk;
};

// What bounds the width of an access on one side: the alignment of its layout in memory, and the chunk that a swizzle
// keeps contiguous.
template <class T>
GANTRY_HD constexpr std::int64_t aligned_elements() {
  if (kInRegisters<T>) return 128;
  const Int n = max_alignment(without_axes(LayoutOf<T>::value));
  const std::int64_t aligned = n.is_known() && n.value() > 0 ? n.value() & -n.value() : 1;
  const std::int64_t together = unswizzled_elements<EngineOf<T>>();
  return aligned < together ? aligned : together;
}

template <class S, class D>
GANTRY_HD constexpr VectorPlan plan_vectors(int max_bits) {
  const Layout from = without_axes(LayoutOf<S>::value);
  const Layout to = without_axes(LayoutOf<D>::value);
  const Int count = product(from.shape());
  VectorPlan out{.elements = 1, .walk = make_layout(make_shape(_1, count))};
  constexpr int bits = sizeof_bits_v<ValueOfTensor<S>>;
  const Layout common = max_common_layout(from, to);
  if (bits < 8 || !common.ok()) return out;
  std::int64_t n = size(common);
  const std::int64_t limits[] = {aligned_elements<S>(), aligned_elements<D>(), max_bits < bits ? 1 : max_bits / bits};
  n &= -n;
  for (const std::int64_t limit : limits) n = n < limit ? n : limit;
  if (n <= 1) return out;
  const Layout walk = logical_divide(make_layout(count), composition(common, make_layout(Int::fixed(n))));
  if (walk.ok()) out = {static_cast<int>(n), walk};
  return out;
}

template <class S, class D, int max_bits>
struct VectorPlanOf {
  static constexpr VectorPlan value = plan_vectors<S, D>(max_bits);
};

template <class S, class D>
GANTRY_INLINE constexpr void check_sizes() {
  static_assert(plain<S>::kUnknownExtents == 0 && plain<D>::kUnknownExtents == 0,
                "gantry: copy needs extents that are known at compile time: slice the tensors down to one tile first");
  static_assert(size(LayoutOf<S>::value) == size(LayoutOf<D>::value),
                "gantry: copy needs as many elements in its destination as in its source");
}

// One element, converted where the types differ.
template <int i, class S, class D>
GANTRY_INLINE void copy_element(const S& from, D& to) {
  using To = ValueOfTensor<D>;
  using From = ValueOfTensor<S>;
  if constexpr (__is_same(To, From)) {
    to(Constant<i>{}) = static_cast<From>(from(Constant<i>{}));
  } else {
    to(Constant<i>{}) = convert<To>(static_cast<From>(from(Constant<i>{})));
  }
}

// The elements of access i of a vector plan.
template <class Plan, int i>
struct Walked {
  GANTRY_HD static constexpr int at(int k) { return static_cast<int>(Plan::value.walk(Plan::value.elements * i + k)); }
};

template <int max_bits, class S, class D>
GANTRY_INLINE void copy_vectors(const S& from, D& to, [[maybe_unused]] Site site) {
  if constexpr (!__is_same(ValueOfTensor<S>, ValueOfTensor<D>) || (kInRegisters<S> && kInRegisters<D>) ||
                kIsPacked<ValueOfTensor<S>>) {
    for_each_index<size_v<plain<S>>>([&](auto i) { copy_element<i>(from, to); });
  } else {
    using Plan = VectorPlanOf<S, D, max_bits>;
    constexpr int n = Plan::value.elements;
    using Word = uint_bit_t<sizeof_bits_v<ValueOfTensor<S>> * n>;
    for_each_index<size_v<plain<S>> / n>([&](auto i) {
      using Run = Walked<Plan, decltype(i)::value>;
      store_word<Run>(to, load_word<Run, Word>(from, site), site);
    });
  }
}

// ---- Instructions

// Rows of a matrix instruction in shared memory, the other side in registers.
template <class T, class Registers>
GANTRY_INLINE constexpr void check_rows() {
  constexpr int elements = 128 / sizeof_bits_v<ValueOfTensor<T>>;
  static_assert(EngineOf<T>::memory == Memory::shared && kInRegisters<Registers>,
                "gantry: ldmatrix and stmatrix move matrices between shared memory and registers");
  static_assert(
      RunsAreContiguous<T, elements>::value && unswizzled_elements<EngineOf<T>>() >= elements,
      "gantry: ldmatrix and stmatrix move rows of 16 bytes: the elements of a row must be contiguous in shared "
      "memory. Along the other mode use the operation that transposes (_T instead of _N, or the reverse)");
}

template <class S, class D, int kCount, bool kTransposed>
GANTRY_INLINE constexpr void check_operands(MatrixLoad<kCount, kTransposed>) {
  check_rows<S, D>();
}
template <class S, class D, int kCount, bool kTransposed>
GANTRY_INLINE constexpr void check_operands(MatrixStore<kCount, kTransposed>) {
  check_rows<D, S>();
}
template <class S, class D, class Word>
GANTRY_INLINE constexpr void check_operands(UniversalCopy<Word>) {
  constexpr int elements = sizeof_bits_v<Word> / sizeof_bits_v<ValueOfTensor<S>>;
  static_assert(
      RunsAreContiguous<S, elements>::value && RunsAreContiguous<D, elements>::value,
      "gantry: one access moves contiguous elements: what the copy partitions must be contiguous on both sides");
}

// One instruction: elements from `s` on in the source and from `d` on in the destination.
template <int s, int d, int kCount, bool kTransposed, class S, class D>
GANTRY_INLINE void issue(MatrixLoad<kCount, kTransposed>, const S& from, D& to, Site site) {
  std::uint32_t words[kCount];
  if constexpr (kTransposed) {
    arch::ldmatrix(words, element_address(from, Constant<s>{}), arch::trans, site);
  } else {
    arch::ldmatrix(words, element_address(from, Constant<s>{}), site);
  }
  write_registers<Consecutive<d>>(to, words);
}
template <int s, int d, int kCount, bool kTransposed, class S, class D>
GANTRY_INLINE void issue(MatrixStore<kCount, kTransposed>, const S& from, D& to, Site site) {
  std::uint32_t words[kCount];
  read_registers<Consecutive<s>>(words, from);
  if constexpr (kTransposed) {
    arch::stmatrix(element_address(to, Constant<d>{}), words, arch::trans, site);
  } else {
    arch::stmatrix(element_address(to, Constant<d>{}), words, site);
  }
}
template <int s, int d, class Word, class S, class D>
GANTRY_INLINE void issue(UniversalCopy<Word>, const S& from, D& to, Site site) {
  using Bits = uint_bit_t<sizeof_bits_v<Word>>;
  store_word<Consecutive<d>>(to, load_word<Consecutive<s>, Bits>(from, site), site);
}

template <class Atom, class S, class D>
GANTRY_INLINE constexpr int instruction_count() {
  static_assert(plain<S>::kUnknownExtents == 0 && plain<D>::kUnknownExtents == 0,
                "gantry: copy needs extents that are known at compile time: slice the tensors down to one tile first");
  static_assert(__is_same(ValueOfTensor<S>, ValueOfTensor<D>),
                "gantry: an instruction copies elements as they are: convert them before or after");
  static_assert(sizeof_bits_v<ValueOfTensor<S>> == sizeof_bits_v<typename Atom::value_type>,
                "gantry: the copy atom is for elements of another width");
  constexpr int sources = static_cast<int>(size(LayoutOf<S>::value[0]));
  constexpr int destinations = static_cast<int>(size(LayoutOf<D>::value[0]));
  static_assert(
      sources % Atom::source_values == 0 && destinations % Atom::destination_values == 0,
      "gantry: mode 0 of a partition holds whole instructions: partition source and destination with the tiled "
      "copy that the atom belongs to");
  constexpr int n = size_v<plain<S>> / Atom::source_values;
  static_assert(n * Atom::destination_values == size_v<plain<D>>,
                "gantry: copy needs as many instructions in its destination as in its source");
  check_operands<S, D>(typename Atom::Operation{});
  return n;
}

}  // namespace detail

// ---- copy

// Every element of `from` to the element of `to` with the same index, in the widest accesses that both allow. Elements
// are converted where the types differ. Both start at a multiple of the access, as whole buffers and their partitions
// do.
template <StaticTensor S, StaticTensor D>
GANTRY_INLINE void copy(const S& from, D&& to, Site site = Site::here()) {
  detail::check_sizes<S, D>();
  detail::copy_vectors<128>(from, to, site);
}

// The instructions of an atom, for partitions whose mode 0 holds what it moves.
template <class Op, class T, StaticTensor S, StaticTensor D>
GANTRY_INLINE void copy(const Copy_Atom<Op, T>&, const S& from, D&& to, Site site = Site::here()) {
  if constexpr (detail::kIsAutoVectorizing<Op>) {
    detail::check_sizes<S, D>();
    detail::copy_vectors<Op::max_bits>(from, to, site);
  } else {
    using Atom = Copy_Atom<Op, T>;
    for_each_index<detail::instruction_count<Atom, S, D>()>(
        [&](auto i) { detail::issue<i * Atom::source_values, i * Atom::destination_values>(Op{}, from, to, site); });
  }
}

// ---- copy_if

namespace detail {

GANTRY_CALLS_ANY
template <int i, class P>
GANTRY_INLINE bool holds(const P& predicate) {
  return predicate(Constant<i>{});
}

}  // namespace detail

// Element i where predicate(i) holds, i a constant. The predicate is a function or a tensor of bool.
template <class P, StaticTensor S, StaticTensor D>
GANTRY_INLINE void copy_if(const P& predicate, const S& from, D&& to) {
  detail::check_sizes<S, D>();
  for_each_index<size_v<detail::plain<S>>>([&](auto i) {
    if (detail::holds<i>(predicate)) detail::copy_element<i>(from, to);
  });
}

// Instruction i where predicate(i) holds. Whole warps agree about instructions that belong to a warp.
template <class Op, class T, class P, StaticTensor S, StaticTensor D>
requires(!detail::kIsAutoVectorizing<Op>) GANTRY_INLINE
    void copy_if(const Copy_Atom<Op, T>&, const P& predicate, const S& from, D&& to, Site site = Site::here()) {
  using Atom = Copy_Atom<Op, T>;
  for_each_index<detail::instruction_count<Atom, S, D>()>([&](auto i) {
    if (detail::holds<i>(predicate))
      detail::issue<i * Atom::source_values, i * Atom::destination_values>(Op{}, from, to, site);
  });
}

}  // namespace gantry
