// Scattered rows that are added in a fixed order (RowScatter::ordered): a kernel that adds them, and what the host must
// know of it.
//
// The GEMM stores row i in slot i of the workspace, by TMA, as if the slots were its D. When it has ended, this kernel
// adds the slots of each row of D in the order of their numbers, beginning with what D holds: the same bits on every
// run. A slot is used if its row is one of a group (group_reader.hpp) and its index lies in D; rows of D that no index
// names are not touched.
//
// A CTA takes 16 rows of D and a segment of their columns. It reads the whole index, and lists the slots of its rows in
// ascending order; then each warp takes one row and 512 columns at a time.
//
// Example:
//     using namespace gantry;
//     const SumSlots::Params params =
//         row_slots({.m = 16384, .n = 7168, .batch = 1, .rows = 4096, .d_stride = 7168, .sms = 132});
//     // slot_bytes(params) == 16384 * 7168 * 4, in 512 units of 16 rows of D and half of its columns
#pragma once

#include <cstddef>

#include <gantry/arch/atomic.hpp>
#include <gantry/arch/barrier.hpp>
#include <gantry/arch/kernel.hpp>
#include <gantry/arch/launch_config.hpp>
#include <gantry/gemm/group_reader.hpp>
#include <gantry/gemm/pack.hpp>

namespace gantry {

struct SumSlots {
  static constexpr int kThreads = 256;
  static constexpr int kRows = 16;      // of D, that a CTA has at a time
  static constexpr int kRun = 512;      // columns of a warp
  static constexpr int kScan = 2048;    // indices that a CTA reads at a time
  static constexpr int kListed = 4096;  // slots that are listed before they are added

  // Strides count elements.
  struct Params {
    const float* slots = nullptr;
    float* d = nullptr;
    const std::int32_t* index = nullptr;
    std::int64_t slot_stride = 0, slot_batch_stride = 0;  // slots begin at multiples of 16 bytes
    std::int64_t d_stride = 0, d_batch_stride = 0;
    int rows = 0, columns = 0;  // of D
    int count = 0;              // of the slots, and of the index, for each matrix of a batch
    int batch = 1;
    int segments = 1;        // of the columns
    GroupSchedule groups{};  // where rows are those of groups; else without offsets

    GANTRY_HD constexpr int runs() const { return columns / kRun + (columns % kRun > 0 ? 1 : 0); }
    GANTRY_HD constexpr int row_blocks() const { return rows / kRows + (rows % kRows > 0 ? 1 : 0); }
    GANTRY_HD constexpr std::int64_t units() const { return std::int64_t{batch} * row_blocks() * segments; }
  };

  struct Storage {
    std::int32_t slots[kListed];  // ascending
    std::int32_t rows[kListed];   // of D, from the unit's first on; kRows more where no group has the slot yet
    std::int32_t found[kThreads / 32];
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    auto& s = shared.as<Storage>();
    for (std::int64_t i = arch::block_index().x; i < p.units(); i += arch::grid_dim().x) {
      const std::int64_t block = i / p.segments;
      const auto segment = static_cast<int>(i % p.segments);
      const int runs = p.runs() / p.segments + (p.runs() % p.segments > 0 ? 1 : 0);
      const int first = segment * runs < p.runs() ? segment * runs : p.runs();
      add_unit(p, s,
               {.batch = static_cast<int>(block / p.row_blocks()),
                .row = static_cast<int>(block % p.row_blocks()) * kRows,
                .run = first,
                .runs = runs < p.runs() - first ? runs : p.runs() - first});
    }
  }

 private:
  static constexpr int kWarps = kThreads / 32, kEach = kScan / kThreads;
  static constexpr int kPieces = kRun / 128;  // of 16 bytes, of a lane
  static constexpr std::int32_t kNone = 0x7fffffff;
  using Piece = arch::f32x4;

  struct Unit {
    int batch, row;  // the first
    int run, runs;   // of columns
  };

  GANTRY_WRAPS GANTRY_INLINE static void add_unit(const Params& p, Storage& s, const Unit& unit) {
    int listed = 0;
    const int scans = p.count / kScan + (p.count % kScan > 0 ? 1 : 0);
    for (int i = 0; i < scans; ++i) {
      listed = list(p, s, unit, i * kScan, listed);
      if (listed + kScan > kListed || i + 1 == scans) {
        if (listed > 0) add_listed(p, s, unit, listed);
        listed = 0;
      }
    }
  }

  // Appends those of kScan slots that go to the unit's rows. Returns how many are listed.
  GANTRY_WRAPS GANTRY_INLINE static int list(const Params& p, Storage& s, const Unit& unit, int first, int listed) {
    const int thread = static_cast<int>(arch::thread_rank()), warp = thread / 32, lane = thread % 32;
    const int begin = first + thread * kEach;
    const std::int32_t* const index = p.index + std::int64_t{unit.batch} * p.count;
    std::int32_t rows[kEach];
    int own = 0;
    GANTRY_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const int to = begin + i < p.count ? arch::ld(arch::space_global, index + begin + i) : -1;
      const bool here = to >= unit.row && to < p.rows && to - unit.row < kRows;
      rows[i] = here ? to - unit.row : -1;
      own += here ? 1 : 0;
    }
    int end = own;  // of this lane's slots among those of the warp
    GANTRY_UNROLL
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = arch::shfl_up_sync(arch::kFullWarp, end, distance);
      if (lane >= distance) end += other;
    }
    if (lane == 31) arch::st(arch::space_shared, &s.found[warp], end);
    arch::syncthreads();
    int at = listed + end - own;
    GANTRY_UNROLL
    for (int w = 0; w < kWarps; ++w) {
      const int found = arch::ld(arch::space_shared, &s.found[w]);
      if (w < warp) at += found;
      listed += found;
    }
    const int unconfirmed = p.groups.offsets != nullptr ? kRows : 0;
    // Pointers, not arrays: without a barrier `at` lies anywhere, and it is the simulated SM that reports the store.
    std::int32_t* const slots = s.slots;
    std::int32_t* const kept_rows = s.rows;
    GANTRY_UNROLL
    for (int i = 0; i < kEach; ++i) {
      if (rows[i] < 0) continue;
      arch::st(arch::space_shared, slots + at, begin + i);
      arch::st(arch::space_shared, kept_rows + at, rows[i] + unconfirmed);
      ++at;
    }
    arch::syncthreads();
    return listed;
  }

  // Rows that no group has were not computed, and their slots hold nothing. By one warp.
  GANTRY_INLINE static void confirm(const Params& p, Storage& s, int listed) {
    GroupReader reader(p.groups);
    for (int first = 0; first < p.groups.groups; first += 32) {
      const GroupLines lines = reader.read_rows(first);
      int low = 0, high = lines.size > 0 ? listed : 0;  // the first slot of the group's is among [low, high]
      while (low < high) {
        const int middle = (low + high) / 2;
        if (arch::ld(arch::space_shared, &s.slots[middle]) < lines.first()) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      for (; lines.size > 0 && low < listed && arch::ld(arch::space_shared, &s.slots[low]) < lines.end; ++low) {
        arch::st(arch::space_shared, &s.rows[low], arch::ld(arch::space_shared, &s.rows[low]) - kRows);
      }
    }
  }

  GANTRY_INLINE static void add_listed(const Params& p, Storage& s, const Unit& unit, int listed) {
    const int warp = static_cast<int>(arch::thread_rank()) / 32;
    if (p.groups.offsets != nullptr) {
      if (warp == 0) confirm(p, s, listed);
      arch::syncthreads();
    }
    // A thread has the same elements of D each time, and reads what it wrote. Nobody writes to the list before all have
    // come to the first barrier of list().
    for (int i = warp; i < kRows * unit.runs; i += kWarps) {
      add_row(p, s, unit, {.listed = listed, .row = i / unit.runs, .run = unit.run + i % unit.runs});
    }
  }

  struct Part {
    int listed, row, run;
  };

  GANTRY_INLINE static void add_row(const Params& p, const Storage& s, const Unit& unit, const Part& part) {
    const int lane = static_cast<int>(arch::lane_rank()), column = part.run * kRun + lane * 4;
    const float* const slots = p.slots + unit.batch * p.slot_batch_stride + column;
    float* const d = p.d + unit.batch * p.d_batch_stride + (unit.row + part.row) * p.d_stride + column;
    const bool aligned = reinterpret_cast<std::uintptr_t>(d) % 16 == 0;
    const int columns = p.columns - column;  // from this lane's first on
    Piece sums[kPieces];
    bool begun = false;
    for (int first = 0; first < part.listed; first += 32) {
      const int entry = first + lane;
      const bool mine = entry < part.listed && arch::ld(arch::space_shared, &s.rows[entry]) == part.row;
      std::int32_t slot = mine ? arch::ld(arch::space_shared, &s.slots[entry]) : kNone;
      const auto next = [&slot] {
        const std::int32_t least = arch::redux_sync(arch::op_min, arch::kFullWarp, slot);
        if (slot == least) slot = kNone;
        return least;
      };
      for (std::int32_t one = next(); one != kNone; one = next()) {
        const std::int32_t two = next();  // on its way at the same time
        Piece x[kPieces], y[kPieces];
        if (!begun) read(d, columns, aligned, sums);
        begun = true;
        read(slots + one * p.slot_stride, columns, true, x);
        if (two != kNone) read(slots + two * p.slot_stride, columns, true, y);
        add(sums, x);
        if (two != kNone) add(sums, y);
      }
    }
    if (begun) write(d, columns, aligned, sums);
  }

  // Of the columns that there are; those of other pieces are left as they are.
  GANTRY_INLINE static void read(const float* from, int columns, bool aligned, Piece (&out)[kPieces]) {
    GANTRY_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      const int left = columns - i * 128;
      const float* const at = from + i * 128;
      out[i] = {};
      if (aligned && left >= 4) {
        out[i] = arch::ld(arch::space_global, reinterpret_cast<const Piece*>(at));
      } else {
        if (left > 0) out[i].x = arch::ld(arch::space_global, at);
        if (left > 1) out[i].y = arch::ld(arch::space_global, at + 1);
        if (left > 2) out[i].z = arch::ld(arch::space_global, at + 2);
        if (left > 3) out[i].w = arch::ld(arch::space_global, at + 3);
      }
    }
  }
  GANTRY_INLINE static void write(float* to, int columns, bool aligned, const Piece (&values)[kPieces]) {
    GANTRY_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      const int left = columns - i * 128;
      float* const at = to + i * 128;
      if (aligned && left >= 4) {
        arch::st(arch::space_global, reinterpret_cast<Piece*>(at), values[i]);
      } else {
        if (left > 0) arch::st(arch::space_global, at, values[i].x);
        if (left > 1) arch::st(arch::space_global, at + 1, values[i].y);
        if (left > 2) arch::st(arch::space_global, at + 2, values[i].z);
        if (left > 3) arch::st(arch::space_global, at + 3, values[i].w);
      }
    }
  }
  GANTRY_INLINE static void add(Piece (&sums)[kPieces], const Piece (&values)[kPieces]) {
    GANTRY_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      sums[i].x += values[i].x;
      sums[i].y += values[i].y;
      sums[i].z += values[i].z;
      sums[i].w += values[i].w;
    }
  }
};

// ---- What the host decides

// Rows of a GEMM, and of the D that they go to; `n` counts the columns of D.
struct SlotExtents {
  std::int64_t m = 0, n = 0, batch = 1;
  std::int64_t rows = 0, d_stride = 0, d_batch_stride = 0;
  int sms = 1;
};

// But for addresses and groups. Columns are cut where rows of D alone leave SMs idle.
inline SumSlots::Params row_slots(const SlotExtents& e) {
  constexpr std::int64_t kUnitsOfAnSm = 2;
  SumSlots::Params out;
  out.slot_stride = (e.n + 3) / 4 * 4;
  out.slot_batch_stride = detail::saturated_product(out.slot_stride, e.m);
  out.d_stride = e.d_stride;
  out.d_batch_stride = e.d_batch_stride;
  out.rows = static_cast<int>(e.rows);
  out.columns = static_cast<int>(e.n);
  out.count = static_cast<int>(e.m);
  out.batch = static_cast<int>(e.batch);
  const std::int64_t blocks = e.batch * out.row_blocks(), wanted = kUnitsOfAnSm * e.sms;
  const std::int64_t segments = blocks > 0 ? (wanted + blocks - 1) / blocks : 1;
  out.segments = static_cast<int>(segments < out.runs() ? segments : out.runs());
  return out;
}

inline std::size_t slot_bytes(const SumSlots::Params& p) {
  return static_cast<std::size_t>(
      detail::saturated_product(detail::saturated_product(p.slot_batch_stride, p.batch), 4));
}

inline LaunchConfig sum_config(const SumSlots::Params& p, int sms) {
  constexpr std::int64_t kCtasOfAnSm = 2;  // by their registers
  const std::int64_t most = kCtasOfAnSm * sms;
  LaunchConfig config;
  config.grid = {static_cast<std::uint32_t>(p.units() < most ? p.units() : most)};
  config.block = {SumSlots::kThreads};
  config.shared_bytes = sizeof(SumSlots::Storage);
  config.name = "sum_slots";
  return config;
}

}  // namespace gantry
