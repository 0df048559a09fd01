// C and D as the host hands them over, their tensor maps, and every reason why they cannot be copied.
//
// EpilogueMatrix where the policy's layout is row- or column-major, EpilogueTensor where it is the tensor of a
// convolution. Strides are in elements.
//
// Example:
//     using namespace gantry;
//     // Rows 0, 1, ... are the pixels of 8 images of 28 x 28; every second column and row of a tensor of 56 x 56.
//     float activations[1] = {};
//     const EpilogueTensor d{.pointer = activations, .images = 8, .extent = {56, 56}, .step = {2, 2}};
//     // d.pixels(2) == 8 * 28 * 28
#pragma once

#include <cstdint>

#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/epilogue/detail/distance.hpp>
#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/epilogue/tensor_params.hpp>
#include <gantry/epilogue/workspace.hpp>
#include <gantry/tma/matrix_plan.hpp>
#include <gantry/tma/ragged.hpp>

namespace gantry {

// A batch of matrices in global memory, row- or column-major as the policy says.
struct EpilogueMatrix {
  void* pointer = nullptr;
  std::int64_t stride = 0;        // elements from one row (column) to the next
  std::int64_t batch_stride = 0;  // elements from one matrix to the next
};

// The tensor of a convolution: its pixels are the problem's rows, along W first, then H, D and the images; its channels
// are the columns. Axes are in W, H, D order; the policy's layout says how many there are.
struct EpilogueTensor {
  void* pointer = nullptr;
  std::int64_t images = 1;
  std::int64_t extent[kTmaMaxSpatialRank] = {1, 1, 1};
  std::int32_t first[kTmaMaxSpatialRank] = {0, 0, 0};  // the pixel where rows begin, and the step from one to the next:
  std::int32_t step[kTmaMaxSpatialRank] = {1, 1, 1};   // the gradient of a strided convolution visits some only
  // From one pixel to the next along W, H, D, and after the last axis to the next image; all zero: packed.
  std::int64_t strides[kTmaMaxSpatialRank + 1] = {0, 0, 0, 0};

  // Rows of the problem. Requires that first lies inside the extent.
  std::int64_t pixels(int axes) const {
    std::int64_t out = images;
    for (int i = 0; i < axes; ++i) out *= (extent[i] - first[i] - 1) / step[i] + 1;
    return out;
  }
};

namespace detail {

// The arguments of a matrix's tensor map.
inline TmaDescriptorParams bind_matrix(const TmaMatrixBox& box, const EpilogueMatrix& matrix,
                                       const EpilogueProblem& p) {
  const int lines = box.contiguous == MatrixMode::second ? p.m : p.n;
  const int batch = p.share_d() ? 1 : p.batch;
  const TmaDescriptorParams map =
      bind(box, {.address = reinterpret_cast<std::uint64_t>(matrix.pointer),
                 .first = p.m,
                 .second = p.n,
                 .batch = batch,
                 .stride = matrix.stride,
                 .batch_stride = batch > 1 ? matrix.batch_stride : distance_of_lines(matrix.stride, lines)});
  return p.share_d() ? ragged(map) : map;
}

// A map for a kernel to edit: box, element and swizzle are right; address, extents and stride stand in for others.
inline TmaDescriptorParams template_map(const TmaMatrixBox& box) {
  constexpr std::int64_t kExtent = 256;
  constexpr std::uint64_t kAddress = 1 << 20;
  return bind(box, {.address = kAddress,
                    .first = kExtent,
                    .second = kExtent,
                    .batch = 1,
                    .stride = kExtent,
                    .batch_stride = kExtent * kExtent});
}

// The box of a ring of subtiles in a kernel's type.
template <class Tile, bool stored>
inline constexpr TmaMatrixBox kBoxOf = compact(Tile::template Plan<stored ? TmaOp::store : TmaOp::load>::value);

// The im2col plan of the tensor of a convolution.
template <class Tile, TmaOp op>
Im2colPlan bind_tensor(const EpilogueTensor& tensor, const EpilogueProblem& p) {
  constexpr int axes = Tile::kRank - 2;
  constexpr std::int64_t bytes = sizeof(typename Tile::Element);
  Convolution conv;
  conv.data_type = Tile::kDataType;
  conv.address = reinterpret_cast<std::uint64_t>(tensor.pointer);
  conv.spatial_rank = axes;
  conv.images = tensor.images;
  conv.channels = p.n;
  for (int i = 0; i < axes; ++i) {
    conv.extent[i] = tensor.extent[i];
    conv.stride[i] = tensor.step[i];
    conv.pad_lower[i] = -tensor.first[i];
  }
  for (int i = 0; i <= axes; ++i) conv.byte_strides[i] = static_cast<std::uint64_t>(tensor.strides[i] * bytes);
  Im2colTile tile;
  tile.channels = Tile::kChannels;
  tile.pixels = Tile::kPixels;
  tile.swizzle = Tile::kSwizzle;
  return plan_im2col(conv, tile, op);
}

// A tensor map over C or D, as the tile's kernel takes it. `encode` makes the map of its parameters.
template <class Tile, bool stored, class Encode>
typename Tile::Map encode_map(const EpilogueMatrix& matrix, const EpilogueProblem& p, const Encode& encode) {
  return encode(bind_matrix(kBoxOf<Tile, stored>, matrix, p));
}
template <class Tile, bool stored, class Encode>
typename Tile::Map encode_map(const EpilogueTensor& tensor, const EpilogueProblem& p, const Encode& encode) {
  const Im2colPlan plan = bind_tensor < Tile, stored ? TmaOp::store_im2col : TmaOp::load_im2col > (tensor, p);
  Im2colMap out;
  out.descriptor = encode(plan.map);
  for (int i = 0; i < kTmaMaxSpatialRank; ++i) {
    out.pixels.count[i] = static_cast<std::int32_t>(plan.output[i]);
    out.pixels.first[i] = tensor.first[i];
    out.pixels.step[i] = tensor.step[i];
  }
  return out;
}

// Matrices that are written, one for each batch, and how their elements lie.
struct WrittenMatrices {
  std::int64_t contiguous, lines;  // elements of a line, and how many there are
  std::int64_t stride, batches, batch_stride;
};

// The first batch with an element that batch 0 has too; 0 where none of the first thousands has. Requires strides that
// are not negative and lines that do not overlap.
inline std::int64_t first_overlap(const WrittenMatrices& x) {
  constexpr std::int64_t kLooksAt = 4096;
  for (std::int64_t batch = 1; batch < x.batches && batch < kLooksAt; ++batch) {
    if (x.batch_stride > INT64_MAX / batch) return 0;
    const std::int64_t line = batch * x.batch_stride / x.stride, rest = batch * x.batch_stride % x.stride;
    if (line >= x.lines) return 0;
    if (rest < x.contiguous || (line + 1 < x.lines && x.stride - rest < x.contiguous)) return batch;
  }
  return 0;
}

// False where batches of a matrix are written into each other, which is a reason.
GANTRY_COLD inline bool check_overlap(const char* name, const WrittenMatrices& x, ArgumentReasons& out) {
  const std::int64_t batch = first_overlap(x);
  if (batch == 0) return true;
  out.add({.rule = ArgumentRule::batches_overlap,
           .operand = name,
           .actual = x.batch_stride,
           .nearest = distance_of_lines(x.stride, x.lines),
           .first = batch});
  return false;
}

// What M and N are multiples of where every operand is whole chunks of 16 bytes: lines that are written end with a
// chunk, lines that are packed begin with one.
struct SizeSteps {
  std::int64_t m = 1, n = 1;

  constexpr void add(ElementType element, bool along_n) noexcept {
    if (element_bits(element) == 0) return;
    const std::int64_t chunk = 128 / element_bits(element);
    std::int64_t& step = along_n ? n : m;
    if (chunk > step) step = chunk;
  }
};

// The lines of a matrix: its rows, or its columns where those are contiguous.
struct MatrixLines {
  const char* name;
  ElementType element;
  bool rows, written;
  std::int64_t contiguous, stride;  // elements of a line, and from one to the next
  std::int64_t step;                // that all operands ask of their size
};

// TMA reads and writes rows (or columns) that begin at multiples of 16 bytes, and writes whole chunks of as many: what
// lies behind a row may be somebody else's.
GANTRY_COLD inline void check_lines(const MatrixLines& x, ArgumentReasons& out) {
  const std::int64_t bits = element_bits(x.element), chunk = 128 / bits;
  const bool ends_inside = x.written && x.contiguous % chunk != 0;
  if (ends_inside) {
    const std::int64_t step = x.step > chunk ? x.step : chunk;
    const std::int64_t nearest = nearest_multiple_from(step, x.contiguous, step);
    out.add({.rule = ArgumentRule::ends_inside_chunk,
             .operand = x.name,
             .columns = !x.rows,
             .actual = x.contiguous,
             .nearest = nearest,
             .first = x.contiguous % chunk * bits / 8,
             .second = nearest < x.contiguous ? nearest + step : 0});
  }
  if (x.stride % chunk == 0 || (ends_inside && x.stride == x.contiguous)) return;
  out.add({.rule = ArgumentRule::stride_misaligned,
           .operand = x.name,
           .columns = !x.rows,
           .element = x.element,
           .actual = x.stride,
           .nearest = nearest_multiple_from(x.contiguous, x.stride, chunk),
           .first = x.stride * bits / 8});
}

// Checks whether C, D and tensors of the fusion can be copied.
class OperandCheck {
 public:
  OperandCheck(ArgumentReasons& out, const EpilogueProblem& p, const SizeSteps& steps)
      : out_(out), problem_(p), steps_(steps) {}

  // What TMA moves.
  GANTRY_COLD void check(const char* name, const EpilogueMatrix& matrix, const TmaMatrixBox& box) const {
    const bool rows = box.contiguous == MatrixMode::second, stored = writes_global(box.op);
    if (!check_strides({name, box.element, rows, stored}, matrix)) return;
    if (matrix.stride < static_cast<std::int64_t>(kTmaStrideLimit)) {
      check_lines(
          {name, box.element, rows, stored, rows ? problem_.n : problem_.m, matrix.stride, rows ? steps_.n : steps_.m},
          out_);
    }
    const TmaDescriptorParams map = bind_matrix(box, matrix, problem_);
    TmaViolations found = validate(map);
    found.add(check_operation(box.op, map));
    for (const TmaViolation& v : found) {
      const bool of_lines = v.rule == TmaRule::store_ends_inside_chunk ||
                            (v.rule == TmaRule::stride_not_multiple && (v.index == 0 || problem_.batch == 1));
      if (!of_lines) check_map_rule(name, v);
    }
  }
  template <class Tile, bool stored>
  void check(const char* name, const EpilogueMatrix& matrix) const {
    check(name, matrix, kBoxOf<Tile, stored>);
  }
  template <class Tile, bool stored>
  void check(const char* name, const EpilogueTensor& tensor) const {
    constexpr int axes = Tile::kRank - 2;
    check_pixels(name, bind_tensor < Tile, stored ? TmaOp::store_im2col : TmaOp::load_im2col > (tensor, problem_),
                 tensor.images, axes);
  }

  struct Operand {
    const char* name;
    ElementType element;
    bool rows, written;
  };

  // What threads read and write element by element.
  GANTRY_COLD void check_elements(const Operand& x, const EpilogueMatrix& matrix) const {
    if (!check_strides(x, matrix)) return;
    if (problem_.batch > 1 && matrix.batch_stride < 0) {
      out_.add({.rule = ArgumentRule::batch_stride_negative, .operand = x.name, .actual = matrix.batch_stride});
    }
    check_alignment(x.name, reinterpret_cast<std::uintptr_t>(matrix.pointer),
                    static_cast<std::size_t>(element_bits(x.element) / 8));
  }
  template <class Element>
  void check_elements(const char* name, const EpilogueMatrix& matrix, bool row_major, bool written) const {
    check_strides({name, element_type_v<Element>, row_major, written}, matrix);
    check_alignment(name, reinterpret_cast<std::uintptr_t>(matrix.pointer), alignof(Element));
  }

 private:
  GANTRY_COLD void check_map_rule(const char* name, const TmaViolation& v) const {
    // What lies behind a row may be somebody else's.
    const bool writes_beyond = v.rule == TmaRule::store_ends_inside_chunk;
    if (writes_beyond || verdict_of(v) != TmaVerdict::legal) out_.add(quoted(name, v));
  }

  GANTRY_COLD void check_pixels(const char* name, const Im2colPlan& plan, std::int64_t images, int axes) const {
    for (const TmaViolation& v : plan.violations) check_map_rule(name, v);
    if (problem_.batch != 1) {
      out_.add({.rule = ArgumentRule::images_and_batches, .operand = name, .actual = problem_.batch, .nearest = 1});
    }
    if (!plan.ok() || plan.pixels() == problem_.m) return;
    ArgumentReason reason{.rule = ArgumentRule::pixels_differ,
                          .operand = name,
                          .actual = plan.pixels(),
                          .nearest = plan.pixels(),
                          .first = problem_.m};
    reason.words.append(images);
    for (int i = axes - 1; i >= 0; --i) reason.words.append(" x ").append(plan.output[i]);
    out_.add(reason);
  }

  GANTRY_COLD void check_alignment(const char* name, std::uintptr_t address, std::size_t alignment) const {
    const std::uintptr_t beyond = address % alignment;
    if (beyond == 0) return;
    out_.add({.rule = ArgumentRule::element_misaligned,
              .operand = name,
              .actual = static_cast<std::int64_t>(beyond),
              .nearest = static_cast<std::int64_t>(alignment - beyond),
              .first = static_cast<std::int64_t>(alignment)});
  }

  GANTRY_COLD bool check_strides(const Operand& x, const EpilogueMatrix& matrix) const {
    const int extent = x.rows ? problem_.n : problem_.m;
    if (matrix.stride < extent) {
      out_.add({.rule = ArgumentRule::stride_too_short,
                .operand = x.name,
                .columns = !x.rows,
                .actual = matrix.stride,
                .nearest = extent,
                .first = extent});
      return false;
    }
    const bool too_long = matrix.stride >= static_cast<std::int64_t>(kTmaStrideLimit);  // which TMA says
    if (!x.written || matrix.batch_stride < 0 || too_long || problem_.share_d()) return true;
    return check_overlap(
        x.name, {extent, x.rows ? problem_.m : problem_.n, matrix.stride, problem_.batch, matrix.batch_stride}, out_);
  }

  ArgumentReasons& out_;
  EpilogueProblem problem_;
  SizeSteps steps_;
};

}  // namespace detail

}  // namespace gantry
