// From a tensor in shared memory to the matrix descriptors of wgmma.
//
// The descriptor can express eight arrangements of 8 x 16-byte core matrices, K-major or MN-major at each swizzle, with
// two strides between them. describe_matrix finds the strides of a layout, or the rule that it breaks;
// make_gmma_descriptor builds the tensor of descriptors for all blocks of a partition, whose strides count 16 bytes, so
// that stepping along K or to another stage is one addition.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout tile = tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _64));
//     constexpr Layout block = composition(tile.layout(), make_tile(_64, _16));
//     constexpr MatrixArrangement a = describe_matrix(block, tile.swizzle(), Major::K, 16);
//     static_assert(a.ok() && a.swizzle_bytes == 128 && a.stride_bytes == 1024);
#pragma once

#include <gantry/arch/wgmma.hpp>
#include <gantry/atom/detail/words.hpp>
#include <gantry/layout/smem_atoms.hpp>

// X(id, sentence).
#define GANTRY_MATRIX_RULES(X)                                                                                    \
  X(none, "no fault")                                                                                             \
  X(swizzle,                                                                                                      \
    "wgmma knows the swizzles Sw<0,4,3>, Sw<1,4,3>, Sw<2,4,3> and Sw<3,4,3> on bytes; this one has {actual} "     \
    "bits")                                                                                                       \
  X(not_k_contiguous,                                                                                             \
    "the instruction reads a K-major operand, and its elements are {actual} apart along K in "                    \
    "shared memory: say Major::MN, or lay K out contiguously")                                                    \
  X(not_mn_contiguous,                                                                                            \
    "the instruction reads an MN-major operand, and its elements are {actual} apart along M or N "                \
    "in shared memory: say Major::K, or lay M or N out contiguously")                                             \
  X(not_canonical,                                                                                                \
    "the shared layout is none that wgmma can read: groups of 8 rows must be as the swizzle's atom "              \
    "has them, {actual} bytes to a row; make it with tile_to_shape(smem_atom(...), ...)")                         \
  X(stride_alignment, "a matrix descriptor counts strides in 16 bytes, below 262144: a stride is {actual} bytes") \
  X(block_alignment, "blocks of an operand start at multiples of 16 bytes, and these are {actual} bits apart")

namespace gantry {

enum class MatrixRule : std::uint8_t {
#define GANTRY_X(id, sentence) id,
  GANTRY_MATRIX_RULES(GANTRY_X)
#undef GANTRY_X
};

// The strides and the swizzle of an operand, or why it has none.
struct MatrixArrangement {
  int swizzle_bytes = 0;  // 0 without a swizzle
  std::int64_t leading_bytes = 16;
  std::int64_t stride_bytes = 16;
  MatrixRule rule = MatrixRule::none;
  std::int64_t actual = 0;

  GANTRY_HD constexpr bool ok() const { return rule == MatrixRule::none; }
  GANTRY_HD static constexpr MatrixArrangement faulty(MatrixRule rule, std::int64_t actual) {
    return {.rule = rule, .actual = actual};
  }
};

namespace detail {

// The arrangement with the given strides, as a layout (row, k), in elements. `row` elements make a row of the atom and
// `chunk` make 16 bytes.
GANTRY_HD constexpr Layout canonical_matrix(const Layout& block, Major major, const MatrixArrangement& a, int bits) {
  const auto elements = [bits](std::int64_t bytes) { return Int::fixed(bytes * 8 / bits); };
  const Int rows = Int::fixed(size(block, 0));
  const Int ks = Int::fixed(size(block, 1));
  const Int chunk = elements(16);
  const bool swizzled = a.swizzle_bytes != 0;
  const Int row = elements(swizzled ? a.swizzle_bytes : 16);
  const Int leading = elements(a.leading_bytes);
  const Int stride = elements(a.stride_bytes);
  if (major == Major::K) {
    const Int columns = ks.value() < chunk.value() ? ks : chunk;
    return make_layout(make_shape(make_shape(_8, rows / _8), make_shape(columns, ks / columns)),
                       make_stride(make_stride(row, stride), make_stride(_1, swizzled ? chunk : leading)));
  }
  const Int run = rows.value() < row.value() ? rows : row;
  return make_layout(
      make_shape(make_shape(run, rows / run), make_shape(_8, ks / _8)),
      make_stride(make_stride(_1, swizzled ? leading : stride), make_stride(row, swizzled ? stride : leading)));
}

// The distance in bytes between elements (0, 0) and (row, k) of a block; 16 where the block does not reach that far.
GANTRY_HD constexpr std::int64_t block_distance(const Layout& block, std::int64_t row, std::int64_t k, int bits) {
  const bool inside = row < size(block, 0) && k < size(block, 1);
  return inside ? block(row, k) * bits / 8 : 16;
}

}  // namespace detail

// What one instruction reads: `block` is (M or N, K) in elements of `bits`, `swizzle` acts on its byte addresses.
GANTRY_HD constexpr MatrixArrangement describe_matrix(const Layout& block, const Swizzle& swizzle, Major major,
                                                      int bits) {
  if (!swizzle.is_identity() && (swizzle.bits() > 3 || swizzle.base() != 4 || swizzle.shift() != 3)) {
    return MatrixArrangement::faulty(MatrixRule::swizzle, swizzle.bits());
  }
  MatrixArrangement a;
  a.swizzle_bytes = swizzle.bits() == 0 ? 0 : 16 << swizzle.bits();
  const std::int64_t row = (a.swizzle_bytes != 0 ? a.swizzle_bytes : 16) * 8 / bits;
  const std::int64_t chunk = 128 / bits;
  const std::int64_t step = major == Major::K ? block(0, 1) : block(1, 0);
  if (step != 1) {
    return MatrixArrangement::faulty(major == Major::K ? MatrixRule::not_k_contiguous : MatrixRule::not_mn_contiguous,
                                     step);
  }
  const bool swizzled = a.swizzle_bytes != 0;
  if (major == Major::K) {
    a.stride_bytes = detail::block_distance(block, 8, 0, bits);
    a.leading_bytes = swizzled ? 16 : detail::block_distance(block, 0, chunk, bits);
  } else {
    const std::int64_t along_rows = detail::block_distance(block, row, 0, bits);
    const std::int64_t along_k = detail::block_distance(block, 0, 8, bits);
    a.leading_bytes = swizzled ? along_rows : along_k;
    a.stride_bytes = swizzled ? along_k : along_rows;
  }
  const IntTuple by_mode = make_int_tuple(_1, _1);
  if (coalesce(block, by_mode) != coalesce(detail::canonical_matrix(block, major, a, bits), by_mode)) {
    return MatrixArrangement::faulty(MatrixRule::not_canonical, row * bits / 8);
  }
  const std::int64_t strides[] = {a.leading_bytes, a.stride_bytes};
  for (const std::int64_t bytes : strides) {
    if (bytes % 16 != 0 || bytes < 0 || bytes >= 1 << 18) {
      return MatrixArrangement::faulty(MatrixRule::stride_alignment, bytes);
    }
  }
  return a;
}

namespace detail {

template <MatrixRule rule, std::int64_t actual>
struct MatrixRefused;
#define GANTRY_X(id, sentence)                                                            \
  template <std::int64_t actual>                                                          \
  struct MatrixRefused<MatrixRule::id, actual> {                                          \
    static constexpr bool ok = MatrixRule::id == MatrixRule::none || (actual != actual);  \
    static_assert(ok, "gantry: " sentence "  (values: see MatrixRefused<rule, actual>)"); \
  };
GANTRY_MATRIX_RULES(GANTRY_X)
#undef GANTRY_X

}  // namespace detail

// ---- In a kernel

// Counts descriptors: the element at an offset is the descriptor that many times 16 bytes further on. Offsets never
// carry out of the address, so the upper half, which holds strides and swizzle, stays the constant that it is.
class DescriptorIterator {
 public:
  using value_type = std::uint64_t;
  using element_type = const std::uint64_t;
  using Index = int;
  using At = Offset<int, 1>;
  static constexpr int axes = 1;

  DescriptorIterator() = default;
  GANTRY_INLINE constexpr explicit DescriptorIterator(std::uint64_t first) : first_(first) {}

  GANTRY_INLINE constexpr std::uint64_t at(At offset) const {
    const auto address = static_cast<std::uint32_t>(first_) + static_cast<std::uint32_t>(offset.along[0]);
    return (first_ >> 32 << 32) | address;
  }
  GANTRY_INLINE constexpr DescriptorIterator moved(At offset) const { return DescriptorIterator(at(offset)); }

 private:
  std::uint64_t first_ = 0;
};

namespace detail {

// A partition (block, repetitions...) with one descriptor for each block.
struct DescriptorStrides {
  Layout layout;
  MatrixRule rule = MatrixRule::none;
  std::int64_t actual = 0;
};

GANTRY_HD constexpr DescriptorStrides descriptor_strides(const Layout& partition, int bits) {
  DescriptorStrides out;
  IntTuple shape = make_int_tuple(_1);
  IntTuple stride = make_int_tuple(_0);
  for (int i = 1; i < rank(partition); ++i) {
    const Layout mode = partition[i];
    shape.push_back(mode.shape());
    stride.push_back(transform_leaf(mode.shape(), mode.stride(), [&](const Int& extent, const Int& step) {
      const std::int64_t distance = step.value() * bits;
      if (!extent.is_fixed(1) && distance % 128 != 0) {
        out.rule = MatrixRule::block_alignment;
        out.actual = distance;
      }
      return Int::fixed(distance / 128);
    }));
  }
  out.layout = Layout(shape, stride);
  return out;
}

template <class L, int bits>
struct DescriptorLayout {
  static constexpr DescriptorStrides strides = descriptor_strides(L::value, bits);
  static constexpr Layout value = strides.layout;
};

template <class T, Major major>
struct ArrangementOf {
  static constexpr MatrixArrangement value =
      describe_matrix(LayoutOf<T>::value[0], ByteSwizzleOf<EngineOf<T>>::get(), major, sizeof_bits_v<ValueOfTensor<T>>);
};

}  // namespace detail

// The descriptors (1, repetitions...) of a partition ((M or N, K), repetitions...) in shared memory. Requires a buffer
// that starts at a multiple of its swizzle's period.
template <Major major, StaticTensor T>
GANTRY_INLINE auto make_gmma_descriptor(const T& t, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::EngineOf<T>::memory == Memory::shared, "gantry: wgmma reads its operands from shared memory");
  using Arrangement = detail::ArrangementOf<T, major>;
  using New = detail::DescriptorLayout<detail::LayoutOf<T>, sizeof_bits_v<detail::ValueOfTensor<T>>>;
  static_assert(sizeof(detail::MatrixRefused<Arrangement::value.rule, Arrangement::value.actual>) != 0);
  static_assert(sizeof(detail::MatrixRefused<New::strides.rule, New::strides.actual>) != 0);
  constexpr MatrixArrangement a = Arrangement::value;
  const auto first = arch::wgmma_descriptor(detail::unswizzled_address(t, Constant<0>{}),
                                            {.leading_bytes = static_cast<std::uint32_t>(a.leading_bytes),
                                             .stride_bytes = static_cast<std::uint32_t>(a.stride_bytes),
                                             .swizzle_bytes = a.swizzle_bytes},
                                            site);
  return Tensor<DescriptorIterator, New>(DescriptorIterator(first));
}

}  // namespace gantry
