// Subtiles of a matrix that TMA cannot address, because an address, a stride or the end of a line is no multiple of 16
// bytes: threads read and write it in global memory, element-aligned, and touch nothing outside of it.
//
// Values that are read go straight to the registers that hold accumulators. Values that are stored go through the same
// shared memory as for TMA, and from there in words of 4 bytes that neighbouring threads write side by side: straight
// from registers, a warp would write 8 bytes of each of 8 rows at a time. Rows that an index scatters are written 16
// bytes a thread, where they begin at multiples of that.
//
// Example at namespace scope:
//     struct OddShape {
//       static constexpr gantry::Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 64, .warpgroups = 1};
//       static constexpr gantry::ElementType element = gantry::ElementType::bf16;
//       static constexpr bool row_major = true;
//       static constexpr int stages = 2;
//     };
//     using Odd = gantry::DirectTile<OddShape>;
//     static_assert(Odd::offset_of(1, 0) == 128 + 16 && sizeof(Odd::Map) == sizeof(gantry::TmaDescriptor));
#pragma once

#include <gantry/arch/atomic.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/epilogue/staged_tile.hpp>
#include <gantry/epilogue/tensor_params.hpp>

namespace gantry {

// One subtile as a thread sees it.
struct DirectPlace {
  int m, n;         // of the matrix
  int row, column;  // of the subtile's corner
  int batch, thread;
  // Of a group's rows: in the matrix that groups share, or in an index; of a group's columns.
  int first_row = 0, first_column = 0;
};

template <class Shape>
struct DirectTile : StagedTile<Shape> {
  using Base = StagedTile<Shape>;
  using Element = typename Base::Element;
  using Map = DirectMatrix;
  static constexpr Subtiles tile = Shape::tile;
  static constexpr bool row_major = Shape::row_major;
  // Where an index names rows, those outside of the matrix are dropped.
  static constexpr RowScatter kScatter = [] {
    if constexpr (requires { Shape::scatter; }) return Shape::scatter;
    return RowScatter::none;
  }();
  static_assert(Base::kBoxes == 1, "gantry: a tensor that TMA cannot address has subtiles of neighbouring rows");
  static_assert(kScatter == RowScatter::none || row_major, "gantry: rows that are scattered are contiguous");
  static_assert(kScatter != RowScatter::add || Shape::element == ElementType::f32, "gantry: threads add f32");

  // Values outside of the matrix become 0.
  template <class Registers>
  GANTRY_INLINE static void read_global(const Map& x, const DirectPlace& at, Registers& registers) {
    Element* const from = corner(x, at);
    GANTRY_UNROLL
    for (int i = 0; i < tile.values(); ++i) {
      const int row = tile.row(at.thread, i), column = tile.column(at.thread, i);
      const bool inside = at.row + row < at.m && at.column + column < at.n;
      registers.data()[i] = inside ? arch::ld(arch::space_global, from + distance(x, row, column)) : Element{};
    }
  }
  template <class Registers>
  GANTRY_INLINE static void write_global(const Map& x, const DirectPlace& at, const Registers& registers) {
    Element* const to = corner(x, at);
    GANTRY_UNROLL
    for (int i = 0; i < tile.values(); ++i) {
      const int row = tile.row(at.thread, i), column = tile.column(at.thread, i);
      if (at.row + row >= at.m || at.column + column >= at.n) continue;
      arch::st(arch::space_global, to + distance(x, row, column), static_cast<Element>(registers.data()[i]));
    }
  }

  // A buffer to global memory, by all threads of the tile. Requires that they have synchronised since it was written.
  GANTRY_INLINE static void store_global(const Map& x, const DirectPlace& at, const Element* buffers, int stage) {
    const auto* const from = reinterpret_cast<const unsigned char*>(buffers) + stage * Base::kStageBytes;
    if constexpr (kScatter != RowScatter::none) return scatter(x, at, from);
    Element* const to = corner(x, at);
    const int lines = row_major ? at.m - at.row : at.n - at.column;
    const int elements = row_major ? at.n - at.column : at.m - at.row;
    constexpr int kWords = kLine / kWordElements, kEach = kLines * kWords / tile.threads();
    // As many at the same time as there are registers beside the accumulators.
    constexpr bool kSpare = tile.m * tile.n / tile.threads() <= 128;
    constexpr int kAtOnce = kSpare && kEach % 8 == 0 ? 8 : kEach % 2 == 0 ? 2 : 1;
    GANTRY_NO_UNROLL
    for (int first = 0; first < kEach; first += kAtOnce) {
      GANTRY_UNROLL
      for (int i = first; i < first + kAtOnce; ++i) {
        const int word = at.thread + i * tile.threads();
        const int line = word / kWords;
        if (line < lines) store_word(to + line * x.stride, from, {line, word % kWords, elements});
      }
    }
  }

  // Bytes from the beginning of a buffer to an element of a line (a row, or a column where those are contiguous).
  GANTRY_HD static constexpr int offset_of(int line, int element) {
    const int byte = element * kBytes;
    const int plain = byte / kSwizzle * (kLines * kSwizzle) + line * kSwizzle + byte % kSwizzle;
    return plain ^ ((plain >> 7 & (kSwizzle / 16 - 1)) << 4);
  }

 private:
  static constexpr int kBytes = static_cast<int>(sizeof(Element));
  static constexpr int kLine = row_major ? tile.epi_n : tile.epi_m, kLines = row_major ? tile.epi_m : tile.epi_n;
  static constexpr int kWordElements = kBytes < 4 ? 4 / kBytes : 1;
  static constexpr int kSwizzle = kLine * kBytes % 128 == 0  ? 128
                                  : kLine * kBytes % 64 == 0 ? 64
                                  : kLine * kBytes % 32 == 0 ? 32
                                                             : 16;
  struct alignas(kWordElements* kBytes) Word {
    Element elements[kWordElements];
  };
  struct WordPlace {
    int line, word, elements;
  };

  GANTRY_INLINE static Element* corner(const Map& x, const DirectPlace& at) {
    return static_cast<Element*>(x.data) + at.batch * x.batch_stride +
           distance(x, at.first_row + at.row, at.first_column + at.column);
  }
  GANTRY_INLINE static std::int64_t distance(const Map& x, int row, int column) {
    return row_major ? row * x.stride + column : column * x.stride + row;
  }

  static constexpr int kChunk = 16 / kBytes, kChunks = kLine / kChunk;

  // What one thread writes of a buffer at a time: 16 bytes of a line.
  struct Piece {
    int line, column;
  };
  // The i-th of a thread's pieces, which lie in the order of threads; line kLines and more: there is none. Where lines
  // are shared out evenly, all pieces of a thread have one column.
  GANTRY_INLINE static Piece piece(int thread, int i) {
    if constexpr (tile.threads() % kChunks == 0) {
      return {thread / kChunks + i * (tile.threads() / kChunks), thread % kChunks * kChunk};
    } else {
      const int number = thread + i * tile.threads();
      return {number / kChunks, number % kChunks * kChunk};
    }
  }

  // Rows go where the index says, 16 bytes a thread where rows begin at multiples of that. What a warp writes is at
  // most eight pieces of rows, so that the order of rows does not matter to the memory.
  GANTRY_INLINE static void scatter(const Map& x, const DirectPlace& at, const unsigned char* from) {
    static_assert(kLine % kChunk == 0, "gantry: lines in shared memory are whole 16 bytes");
    constexpr int kEach = (kLines * kChunks + tile.threads() - 1) / tile.threads();
    constexpr int kAtOnce = kEach % 4 == 0 ? 4 : kEach % 2 == 0 ? 2 : 1;
    auto* const to = static_cast<Element*>(x.data) + at.batch * x.batch_stride + at.column;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % 16 == 0 && x.stride % kChunk == 0;
    const std::int32_t* const index = x.index + at.batch * x.index_stride + at.first_row + at.row;
    const int lines = at.m - at.row < kLines ? at.m - at.row : kLines;
    GANTRY_NO_UNROLL
    for (int begin = 0; begin < kEach; begin += kAtOnce) {
      std::int32_t rows[kAtOnce];
      GANTRY_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int line = piece(at.thread, begin + i).line;
        rows[i] = line < lines ? arch::ld(arch::space_global, index + line) : -1;
      }
      GANTRY_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const auto [line, column] = piece(at.thread, begin + i);
        if (rows[i] < 0 || rows[i] >= x.rows) continue;
        Element* const place = to + rows[i] * x.stride + column;
        const int elements = at.n - at.column - column;  // of the row, from this piece on
        if (aligned && elements >= kChunk) {
          const auto* const chunk = reinterpret_cast<const Chunk*>(from + offset_of(line, column));
          put(reinterpret_cast<Chunk*>(place), arch::ld(arch::space_shared, chunk));
        } else {
          put_some(place, from, {line, column, elements < kChunk ? elements : kChunk});
        }
      }
    }
  }
  // The elements of a line from one on, one by one.
  struct Some {
    int line, first, count;
  };
  GANTRY_INLINE static void put_some(Element* to, const unsigned char* from, const Some& at) {
    GANTRY_NO_UNROLL
    for (int k = 0; k < at.count; ++k) {
      const auto* const one = reinterpret_cast<const Element*>(from + offset_of(at.line, at.first + k));
      put(to + k, arch::ld(arch::space_shared, one));
    }
  }
  using Chunk = arch::f32x4;  // which threads add; whatever the elements are, where they are stored
  template <class T>
  GANTRY_INLINE static void put(T* to, const T& value) {
    if constexpr (kScatter == RowScatter::add) {
      arch::red(arch::op_add, arch::space_global, to, value);
    } else {
      arch::st(arch::space_global, to, value);
    }
  }

  // Words are aligned in global memory. Where a line begins inside one, the thread that has its beginning has its end
  // too, so that there are as many words as in an aligned line.
  GANTRY_INLINE static void store_word(Element* line, const unsigned char* from, const WordPlace& at) {
    const int inside = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % sizeof(Word)) / kBytes;
    const int first = at.word * kWordElements - inside;
    Word word;
    if (inside == 0) {
      word = arch::ld(arch::space_shared, reinterpret_cast<const Word*>(from + offset_of(at.line, first)));
    } else {
      GANTRY_UNROLL
      for (int k = 0; k < kWordElements; ++k) {
        word.elements[k] = arch::ld(arch::space_shared,
                                    reinterpret_cast<const Element*>(from + offset_of(at.line, element(first + k))));
      }
    }
    if (first >= 0 && first + kWordElements <= at.elements) {
      arch::st(arch::space_global, reinterpret_cast<Word*>(line + first), word);
      return;
    }
    GANTRY_UNROLL
    for (int k = 0; k < kWordElements; ++k) {
      const int e = element(first + k);
      if (e < at.elements) arch::st(arch::space_global, line + e, word.elements[k]);
    }
  }
  GANTRY_HD static constexpr int element(int i) { return i < 0 ? i + kLine : i; }
};

}  // namespace gantry
