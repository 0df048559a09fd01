// Accumulators of a tiled MMA as a tensor in registers: (registers of an instruction, repetitions along M and N).
//
// They are not ordinary registers: between the first wgmma and the wait that covers the last one they must not be
// accessed. The accumulator type of the operation enforces that (arch/wgmma.hpp), and this tensor is built on it. It
// owns its registers, is constructed in place and never copied; views of it (slices, retile_S of a tiled copy) read and
// write the same registers.
//
// Example at namespace scope:
//     struct Mma {
//       using Operation = gantry::SM90_GMMA<64, float, gantry::f16, gantry::f16>;
//       static constexpr gantry::TiledMmaLayout value = gantry::make_tiled_mma(gantry::MMA_Atom<Operation>::value);
//     };
//     inline float first_twice() {
//       auto acc = gantry::partition_fragment_C(gantry::TiledMma<Mma>{}, gantry::Tile<128, 64>{});  // ((2, 2, 8), 2, 1)
//       acc(0) = 1;
//       return 2 * acc(0);
//     }
#pragma once

#include <gantry/atom/tiled_mma.hpp>
#include <gantry/tensor/fragment.hpp>

namespace gantry {

namespace detail {

// Half of a register.
template <class Register, class T>
class RegisterPart {
 public:
  GANTRY_INLINE RegisterPart(Register& whole, int part) : whole_(whole), shift_(part * sizeof_bits_v<T>) {}

  GANTRY_INLINE operator T() const { return T::from_bits(static_cast<std::uint16_t>(whole_ >> shift_)); }
  GANTRY_INLINE const RegisterPart& operator=(const T& value) const {
    const Register mask = Register{0xFFFF} << shift_;
    whole_ = (whole_ & ~mask) | static_cast<Register>(value.bits) << shift_;
    return *this;
  }
  GANTRY_INLINE const RegisterPart& operator=(const RegisterPart& other) const { return *this = static_cast<T>(other); }

 private:
  Register& whole_;
  int shift_;
};

}  // namespace detail

// Points at an element of the accumulators of Op.
template <class Op>
class AccumulatorPointer {
 public:
  using value_type = typename Op::ElementD;
  using element_type = value_type;
  using Index = int;
  using At = Offset<int, 1>;
  static constexpr Memory memory = Memory::registers;
  static constexpr int axes = 1;
  static constexpr int kElements = Op::kN / 2;  // of one instruction, in a thread

  AccumulatorPointer() = default;
  GANTRY_INLINE constexpr explicit AccumulatorPointer(arch::Accumulator<Op>* blocks, int index = 0)
      : blocks_(blocks), index_(index) {}

  GANTRY_INLINE decltype(auto) at(At offset) const {
    const int i = index_ + offset.along[0];
    arch::Accumulator<Op>& block = blocks_[i / kElements];
    const int element = i % kElements;
    if constexpr (sizeof_bits_v<value_type> == 16) {
      return detail::RegisterPart<typename arch::Accumulator<Op>::Register, value_type>(block[element / 2],
                                                                                        element % 2);
    } else {
      return reinterpret_cast<value_type&>(block[element]);
    }
  }
  GANTRY_INLINE decltype(auto) operator[](int i) const { return at({i}); }
  GANTRY_INLINE constexpr AccumulatorPointer moved(At offset) const {
    return AccumulatorPointer(blocks_, index_ + offset.along[0]);
  }

  // The accumulator of the instruction that the element belongs to.
  GANTRY_INLINE arch::Accumulator<Op>& block(At offset) const {
    return blocks_[(index_ + offset.along[0]) / kElements];
  }

 private:
  arch::Accumulator<Op>* blocks_ = nullptr;
  int index_ = 0;
};

// The accumulators of n instructions.
template <class Op, int n>
class AccumulatorArray {
 public:
  using value_type = typename Op::ElementD;
  using element_type = value_type;
  using Index = int;
  using At = Offset<int, 1>;
  static constexpr Memory memory = Memory::registers;
  static constexpr int axes = 1;

  // Not defaulted: `AccumulatorArray{}` would set every register to zero.
  GANTRY_INLINE AccumulatorArray() {}  // NOLINT(modernize-use-equals-default)

  GANTRY_INLINE constexpr auto data() { return AccumulatorPointer<Op>(blocks_); }
  GANTRY_INLINE constexpr auto data() const {
    return AccumulatorPointer<Op>(const_cast<arch::Accumulator<Op>*>(blocks_));
  }
  GANTRY_INLINE decltype(auto) at(At offset) { return data().at(offset); }
  GANTRY_INLINE decltype(auto) at(At offset) const { return data().at(offset); }
  GANTRY_INLINE constexpr auto moved(At offset) { return data().moved(offset); }
  GANTRY_INLINE constexpr auto moved(At offset) const { return data().moved(offset); }

 private:
  arch::Accumulator<Op> blocks_[n];
};

namespace detail {

template <class Op, int n>
struct OwnsElements<AccumulatorArray<Op, n>> {
  static constexpr bool value = true;
};

// The fragment of C for a tile, registers in order.
template <class C, class Shape>
struct FragmentC {
  GANTRY_HD static constexpr Layout make() {
    const Layout all = C::value.thrfrg_C(make_layout(Shape::value));
    if (!all.ok()) return all;
    const Layout frg = all[1];
    IntTuple shape = make_int_tuple(frg.shape()[0]);
    for (int i = 0; i < rank(frg[1]); ++i) shape.push_back(frg.shape()[1][i]);
    return make_layout(shape);
  }
  static constexpr Layout value = make();
};

}  // namespace detail

// Accumulators for a tile (M, N) of C. Not initialised: the first wgmma overwrites them (scale-d = 0).
template <class C, StaticValue Shape>
GANTRY_INLINE auto partition_fragment_C(const TiledMma<C>&, Shape) {
  using L = detail::FragmentC<C, static_type<Shape>>;
  GANTRY_STATIC_CHECK(L::value);
  using Op = typename C::Operation;
  constexpr int blocks = static_cast<int>(size(L::value)) / AccumulatorPointer<Op>::kElements;
  return Tensor<AccumulatorArray<Op, blocks>, L>();
}

// Keeps the compiler from moving uses of the accumulators across this point.
template <class Op, int n, class L>
GANTRY_INLINE void warpgroup_fence_operand(Tensor<AccumulatorArray<Op, n>, L>& acc) {
  for_each_index<n>(
      [&](auto i) { arch::warpgroup_fence_operand(acc.data().block({i * AccumulatorPointer<Op>::kElements})); });
}

}  // namespace gantry
