// Packing: a kernel that copies an operand whose rows TMA cannot address into the workspace, where they begin at
// multiples of 16 bytes; and what the host must know of it.
//
// TMA takes addresses and strides of whole 16 bytes. A row-major bf16 matrix with K = 4095 has rows of 8190 bytes, each
// of which begins elsewhere inside 16 bytes. A line (row, or column where those are contiguous) is copied in chunks of
// 16 bytes: two aligned loads, shifted into one. What is read lies in the matrix, from its first byte to its last.
//
// Example:
//     using namespace gantry;
//     const PackedOperand a = packed_operand({.element = ElementType::bf16, .contiguous = 4095, .lines = 4096}, 2);
//     // a.packed, a.stride == 4096 elements, a.bytes == 4096 * 8192: the address is 2 bytes past a multiple of 16
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/arch/kernel.hpp>
#include <gantry/arch/launch_config.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/numeric/element_type.hpp>
#include <gantry/tma/alignment.hpp>

namespace gantry {

struct PackLines {
  static constexpr int kThreads = 256;
  static constexpr int kMostMatrices = 2;

  // A batch of matrices. Sizes and strides are bytes.
  struct Matrix {
    const unsigned char* from = nullptr;
    unsigned char* to = nullptr;
    std::int64_t line = 0, lines = 0, batches = 0;
    std::int64_t stride = 0, batch_stride = 0;        // of what is read
    std::int64_t to_stride = 0, to_batch_stride = 0;  // of what is written: multiples of 16

    // Runs of chunks of a line, one for a warp; and of all lines.
    GANTRY_HD constexpr std::int64_t runs() const { return (line + kRunBytes - 1) / kRunBytes; }
    GANTRY_HD constexpr std::int64_t all_runs() const { return runs() * lines * batches; }
  };
  struct Params {
    Matrix matrices[kMostMatrices] = {};
    int count = 0;

    GANTRY_HD constexpr std::int64_t all_runs() const {
      std::int64_t runs = 0;
      for (int i = 0; i < count; ++i) runs += matrices[i].all_runs();
      return runs;
    }
  };

  GANTRY_HD static void run(const Params& params, SharedMemory /*shared*/) {
    const int thread = static_cast<int>(arch::thread_rank()), warp = thread / 32, lane = thread % 32;
    const std::int64_t step = std::int64_t{arch::grid_dim().x} * kWarps;
    for (std::int64_t i = std::int64_t{arch::block_index().x} * kWarps + warp; i < params.all_runs(); i += step) {
      std::int64_t run = i;
      int matrix = 0;
      while (run >= params.matrices[matrix].all_runs()) run -= params.matrices[matrix++].all_runs();
      pack_run(params.matrices[matrix], run, lane);
    }
  }

 private:
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kChunk = 16;
  static constexpr int kChunks = 4;  // of a lane, on their way at the same time
  static constexpr int kRunBytes = 32 * kChunk * kChunks;

  struct alignas(kChunk) Chunk {
    std::uint32_t words[4] = {};
  };

  // Division of 64 bits takes tens of instructions: most counts have 32.
  GANTRY_INLINE static std::int64_t divided(std::int64_t a, std::int64_t b) {
    if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
    return a / b;
  }

  GANTRY_INLINE static void pack_run(const Matrix& x, std::int64_t run, int lane) {
    const std::int64_t line_of_all = divided(run, x.runs());
    const std::int64_t batch = divided(line_of_all, x.lines), line = line_of_all - batch * x.lines;
    const std::int64_t first = (run - line_of_all * x.runs()) * kRunBytes + lane * kChunk;
    const unsigned char* const matrix = x.from + batch * x.batch_stride;
    const unsigned char* const end = matrix + (x.lines - 1) * x.stride + x.line;
    const unsigned char* const from = matrix + line * x.stride;
    unsigned char* const to = x.to + batch * x.to_batch_stride + line * x.to_stride;
    const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % kChunk);
    const auto chunk_at = [&](std::int64_t at) { return reinterpret_cast<Chunk*>(to + at); };
    // Chunks are read whole, but for those of the first and the last line that reach beyond the matrix.
    if (from + first - past < matrix || from + first + (kRunBytes + kChunk) > end) {
      GANTRY_NO_UNROLL
      for (std::int64_t at = first; at < x.line && at < first + kRunBytes; at += 32 * kChunk) {
        const unsigned char* const aligned = from + at - past;
        const auto edge_of = [&](const unsigned char* chunk) {
          if (chunk < matrix || chunk + kChunk > end) return bytes_of(chunk, matrix, end);
          return arch::ld(arch::space_global, reinterpret_cast<const Chunk*>(chunk));
        };
        arch::st(arch::space_global, chunk_at(at), shifted(edge_of(aligned), edge_of(aligned + kChunk), past));
      }
      return;
    }
    Chunk low[kChunks], high[kChunks];
    GANTRY_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const std::int64_t at = first + i * 32 * kChunk;
      if (at >= x.line) continue;
      const auto* const aligned = reinterpret_cast<const Chunk*>(from + at - past);
      low[i] = arch::ld(arch::space_global, aligned);
      if (past != 0) high[i] = arch::ld(arch::space_global, aligned + 1);
    }
    GANTRY_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const std::int64_t at = first + i * 32 * kChunk;
      if (at < x.line) arch::st(arch::space_global, chunk_at(at), shifted(low[i], high[i], past));
    }
  }

  // A chunk that reaches beyond the matrix: the bytes that lie inside.
  GANTRY_INLINE static Chunk bytes_of(const unsigned char* from, const unsigned char* begin, const unsigned char* end) {
    Chunk out;
    // All of them on their way at once: the kernel ends when its last line is there.
    GANTRY_UNROLL
    for (int word = 0; word < 4; ++word) {
      GANTRY_UNROLL
      for (int i = 0; i < 4; ++i) {
        const unsigned char* const at = from + 4 * word + i;
        if (at < begin || at >= end) continue;
        out.words[word] |= static_cast<std::uint32_t>(arch::ld(arch::space_global, at)) << i * 8;
      }
    }
    return out;
  }

  // Bytes `past`, past + 1, ... of 32.
  GANTRY_INLINE static Chunk shifted(const Chunk& low, const Chunk& high, int past) {
    std::uint32_t words[9] = {low.words[0],  low.words[1],  low.words[2],
                              low.words[3],  high.words[0], high.words[1],
                              high.words[2], high.words[3], 0};
    if ((past & 4) != 0) {
      GANTRY_UNROLL
      for (int i = 0; i < 7; ++i) words[i] = words[i + 1];
    }
    if ((past & 8) != 0) {
      GANTRY_UNROLL
      for (int i = 0; i < 6; ++i) words[i] = words[i + 2];
    }
    const int bits = past % 4 * 8;
    Chunk out;
    GANTRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t pair = std::uint64_t{words[i + 1]} << 32 | words[i];
      out.words[i] = static_cast<std::uint32_t>(pair >> bits);
    }
    return out;
  }
};

inline LaunchConfig pack_config(const PackLines::Params& params, int sms) {
  constexpr int kWarps = PackLines::kThreads / 32, kCtasOfAnSm = 8;
  const std::int64_t ctas = (params.all_runs() + kWarps - 1) / kWarps, most = std::int64_t{sms} * kCtasOfAnSm;
  LaunchConfig config;
  config.grid = {static_cast<std::uint32_t>(ctas < most ? ctas : most)};
  config.block = {PackLines::kThreads};
  config.name = "pack_lines";
  return config;
}

// ---- What the host decides

// An operand in memory; strides in elements.
struct OperandLines {
  ElementType element = ElementType::bf16;
  std::int64_t contiguous = 0, lines = 1, batches = 1;
  std::int64_t stride = 0, batch_stride = 0;
};

// Where an operand is packed. Nothing, where TMA takes it as it is.
struct PackedOperand {
  bool packed = false;
  std::int64_t stride = 0, batch_stride = 0;  // of the copy, in elements
  std::size_t offset = 0, bytes = 0;          // in the workspace
  PackLines::Matrix matrix{};                 // but for its addresses
};

namespace detail {

// Sizes and strides come from the caller, and rules refuse what is too long; a product of them ends at the largest
// value.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = 0x7fffffffffffffff;
  return b != 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace detail

// `address`: of the operand, or its rest modulo 16.
inline PackedOperand packed_operand(const OperandLines& x, std::uintptr_t address) {
  constexpr std::int64_t kChunk = kTmaAlignment, kCacheLine = 128;
  const std::int64_t bits = element_bits(x.element);
  const auto bytes = [bits](std::int64_t elements) { return detail::saturated_product(elements, bits) / 8; };
  const auto aligned = [bits](std::int64_t elements) { return is_tma_aligned(elements, static_cast<int>(bits)); };
  const bool one_line = x.lines <= 1, one_batch = x.batches <= 1;
  PackedOperand out;
  out.packed = address % kChunk != 0 || (!one_line && !aligned(x.stride)) || (!one_batch && !aligned(x.batch_stride));
  if (!out.packed || x.contiguous <= 0 || x.lines <= 0 || x.batches <= 0) return {};
  PackLines::Matrix& m = out.matrix;
  m.line = bytes(x.contiguous);
  m.lines = x.lines;
  m.stride = one_line ? 0 : bytes(x.stride);
  // Batches that share an operand share its copy.
  m.batches = x.batch_stride == 0 ? 1 : x.batches;
  m.batch_stride = m.batches == 1 ? 0 : bytes(x.batch_stride);
  const std::int64_t step = m.line < kCacheLine ? kChunk : kCacheLine;
  m.to_stride = (m.line + step - 1) / step * step;
  const std::int64_t matrix_bytes = detail::saturated_product(m.to_stride, m.lines);
  m.to_batch_stride = m.batches == 1 ? 0 : matrix_bytes;
  out.stride = m.to_stride * 8 / bits;
  out.batch_stride = m.batches == 1 && !one_batch ? 0 : detail::saturated_product(matrix_bytes, 8) / bits;
  out.bytes = static_cast<std::size_t>(detail::saturated_product(matrix_bytes, m.batches));
  return out;
}

}  // namespace gantry
