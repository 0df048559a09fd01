// One tensor of a GEMM in memory, as the checks see it; and which two must not overlap.
//
// Tiles are computed in no order that a caller knows, so what is written is neither read nor written by another tile.
// C and input tensors are read tile by tile, each tile before it is written: an output may take the place of one,
// element for element.
#pragma once

#include <cstdint>

#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/epilogue/operands.hpp>
#include <gantry/tma/operands.hpp>
#include <gantry/tma/rules.hpp>

namespace gantry::detail {

struct MatrixFacts {
  const char* name;
  ElementType element;
  const void* data;
  bool rows;                       // are contiguous, not columns
  std::int64_t contiguous, lines;  // elements of each, and how many there are
  std::int64_t stride, batch_stride, batches;

  std::int64_t bytes(std::int64_t elements) const { return elements * element_bits(element) / 8; }
  std::int64_t chunk() const { return 128 / element_bits(element); }  // elements of 16 bytes
  std::int64_t rounded(std::int64_t elements) const { return (elements + chunk() - 1) / chunk() * chunk(); }
  std::int64_t longest_stride() const {
    return static_cast<std::int64_t>(kTmaStrideLimit - 16) * 8 / element_bits(element);
  }

  // A multiple of 16 bytes next to what was asked for: the nearer one, else the other where matrices that are written
  // overlap with it; 0 where they do with both, or where what is read may be shared.
  GANTRY_COLD std::int64_t nearest_batch_stride(bool written) const {
    if (batch_stride < 0 && !written) return 0;
    const std::int64_t asked = batch_stride < 0 ? 0 : batch_stride;
    const std::int64_t below = asked - asked % chunk(), above = below + chunk();
    const std::int64_t nearest = nearest_multiple_from(chunk(), asked, chunk());
    for (const std::int64_t candidate : {nearest, nearest == above ? below : above}) {
      const bool apart = !written || first_overlap({contiguous, lines, stride, batches, candidate}) == 0;
      if (candidate > 0 && apart) return candidate;
    }
    return 0;
  }

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
  // Bytes from the first element to the end of the last one.
  std::int64_t span() const {
    return bytes(bounded(stride) * (lines > 1 ? lines - 1 : 0) + contiguous +
                 bounded(batch_stride) * (batches > 1 ? batches - 1 : 0)) +
           1;
  }
  // Whether one of its elements is there. Of batches that lie in each other's gaps the first is looked at.
  GANTRY_COLD bool holds(std::uintptr_t address) const {
    if (address < begin()) return false;
    const auto rest = static_cast<std::int64_t>(address - begin());
    const std::int64_t apart = batches > 1 ? bytes(bounded(batch_stride)) : 0;
    const std::int64_t batch = apart == 0 ? 0 : rest / apart < batches ? rest / apart : batches - 1;
    return in_first_batch(rest) || in_first_batch(rest - batch * apart);
  }
  bool is_at(const MatrixFacts& x) const {
    return data == x.data && element_bits(element) == element_bits(x.element) && rows == x.rows &&
           (lines == 1 || stride == x.stride) && (batches == 1 || batch_stride == x.batch_stride);
  }

 private:
  // Strides of vectors may be any.
  std::int64_t bounded(std::int64_t elements) const {
    const std::int64_t most = longest_stride();
    return elements < 0 ? 0 : elements > most ? most : elements;
  }
  bool in_first_batch(std::int64_t rest) const {
    if (lines == 1) return rest < bytes(contiguous);
    const std::int64_t line = bytes(bounded(stride));
    return line > 0 && rest / line < lines && rest % line < bytes(contiguous);
  }
};

// Operands by number: A, B, C, D, the scales of A and B, indices of A's rows and of D's, then the arguments of the
// graph.
struct GemmOperandIndex {
  static constexpr int kA = 0, kB = 1, kC = 2, kD = 3, kScaleA = 4, kScaleB = 5, kIndex = 6, kScatter = 7;
  static constexpr int kArguments = 8;
};

struct MemoryUse {
  MatrixFacts tensor;
  bool written;
  bool by_tile;  // every element in the tile that it belongs to
  int operand;   // as GemmOperandIndex counts
};

}  // namespace gantry::detail
