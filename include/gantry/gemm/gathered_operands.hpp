// The operand source of gathered rows: warps copy rows of A that an index names, B comes by TMA.
//
// Each lane copies 16 bytes at a time with cp.async: eight lanes have a row of the K tile, 128 bytes, and an
// instruction four rows. Warps take fours of rows by turns. Where rows begin is found once for a tile: each lane reads
// a few indices and keeps the rows' offsets, and shuffles bring an offset to the eight lanes that copy the row. Rows
// that do not exist, and what lies beyond K, become zeros (cp.async with fewer source bytes than 16).
//
// A stage is full when B's bytes have come and the copies of every thread have arrived by themselves
// (cp.async.mbarrier.arrive.noinc): nobody waits for a copy but who multiplies it. cp.async writes by the generic proxy
// and wgmma reads by the async proxy, so the math warpgroups fence when they have waited for a stage (mainloop.hpp).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Gathered {
//       static constexpr gantry::GemmDesign design =
//           gantry::make_gemm_design({.gather_a = true}, gantry::fusion::graph("d = acc"));
//     };
//     static_assert(gantry::GatheredOperands<Gathered>::kThreads == 128);  // no other role needs a warp
#pragma once

#include <gantry/arch/cp_async.hpp>
#include <gantry/gemm/mainloop.hpp>

namespace gantry {

template <class Design>
struct GatheredOperands {
  using Loop = Mainloop<Design>;
  using Params = typename Loop::Params;
  static constexpr int kWarps = Design::design.roles.copy_warps;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kArrivals = 1 + kThreads;  // B's bytes are announced; each thread's chunks of A are there
  static constexpr int kRegisters = Design::design.roles.producer_registers;
  static constexpr int kStages = Loop::kStages, kTileM = Loop::kTileM;

  // Warps. `rank`: of the calling one among them.
  class Producer {
   public:
    GANTRY_INLINE Producer(const Params& params, SharedMemory shared, const int& /*k_steps*/, int rank)
        : p_(params),
          s_(shared),
          rank_(rank),
          lane_(static_cast<int>(arch::lane_rank())),
          to_(s_.template at<unsigned char>(Design::design.shared.a) + gather_offset(line(lane_ / 8), lane_ % 8)) {}

    // `k_steps`: of this tile, where K wraps around.
    GANTRY_INLINE void load(const Work& work, const int& k_steps) {
      find_rows(work);
      const typename Loop::Place place = Loop::Place::mine();
      const TmaCopy<typename Loop::LoadB> load_b{&p_.b};
      const auto b =
          tma_partition(load_b, place.m, group_modes<0, 2>(Loop::shared_b(s_)), Loop::tiles_of_b(load_b, work, place));
      int k = work.k_begin;
      GANTRY_NO_UNROLL
      for (int left = work.steps; left > 0; --left) {
        std::uint64_t* const full = &barriers().full[write_.index()];
        arch::wait(&barriers().empty[write_.index()], write_.phase());
        if (rank_ == 0 && lane_ == 0) {
          arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full, kBytesOfB);
          copy(load_b.with(full, place.column_mask()), b.gmem(_, k), b.smem(_, write_.index()));
        }
        copy_rows(k);
        arch::cp_async_mbarrier_arrive_noinc(full);
        ++write_;
        k += work.k_step;
        if (k == k_steps) k = 0;
      }
    }

    // Waits until every stage has been released, so that no CTA leaves while others may still signal it.
    GANTRY_INLINE void tail() {
      for (int i = 0; i < kStages; ++i, ++write_) arch::wait(&barriers().empty[write_.index()], write_.phase());
    }

   private:
    static constexpr std::uint32_t kBytesOfB = Loop::kStageBytesB;
    static constexpr bool kGroups = Design::design.options.groups == GemmGrouping::along_m;
    static constexpr int kLines = kTileM / kWarps, kCopies = kLines / 4;  // of a warp
    static constexpr int kKept = (kLines + 31) / 32;

    GANTRY_INLINE auto& barriers() const { return Loop::barriers(s_); }

    // Line of the tile that is line i of this warp: fours of lines by turns.
    GANTRY_INLINE int line(int i) const { return (i / 4 * kWarps + rank_) * 4 + i % 4; }

    // Where the rows of this warp's lines are: this lane has every 32nd. A shuffle brings one to the eight lanes that
    // copy it: a register for each of them would be spilled.
    GANTRY_INLINE void find_rows(const Work& work) {
      const GatherParams& a = p_.a;
      const int first = (work.m * Loop::kClusterM + Loop::Place::mine().m) * kTileM;
      const int count = kGroups ? work.group.size : a.count;
      from_ = static_cast<const unsigned char*>(a.data) + 16 * (lane_ % 8);
      const std::int32_t* index = a.index;
      if constexpr (kGroups) {
        index += work.group.first();
      } else {
        index += static_cast<std::int64_t>(work.batch) * a.count;
        from_ += work.batch * a.batch_stride;
      }
      GANTRY_UNROLL
      for (int i = 0; i < kKept; ++i) {
        const int mine = 32 * i + lane_, at = first + line(mine);
        const int row = mine < kLines && at < count ? arch::ld(arch::space_global, index + at) : -1;
        rows_[i] = row >= 0 && row < a.rows ? static_cast<std::uint32_t>(row) * a.stride : kNoRow;
      }
    }
    // Sends this lane's chunks of a K tile on their way.
    GANTRY_INLINE void copy_rows(int k) const {
      const std::int64_t beyond = p_.a.k_bytes - std::int64_t{k} * 128;
      if (beyond >= 128) return copy_chunks(k, 16);
      const std::int64_t bytes = beyond - 16 * (lane_ % 8);
      copy_chunks(k, bytes >= 16 ? 16 : bytes > 0 ? static_cast<std::uint32_t>(bytes) : 0);
    }
    GANTRY_INLINE void copy_chunks(int k, std::uint32_t bytes) const {
      const unsigned char* const from = from_ + std::int64_t{k} * 128;
      unsigned char* const to = to_ + write_.index() * static_cast<int>(Loop::kStageBytesA);
      GANTRY_UNROLL
      for (int i = 0; i < kCopies; ++i) {
        const std::uint32_t row = arch::shfl_sync(arch::kFullWarp, rows_[i / 8], i % 8 * 4 + lane_ / 8);
        arch::cp_async_cg(arch::space_shared, arch::space_global, place(to, i), from + std::uint64_t{row} * 16,
                          arch::n32<16>, row != kNoRow ? bytes : 0);
      }
    }
    // Of copy i, where the first one's is `to`. The swizzle repeats after eight lines, so that warps which take turns
    // have one place; a warp alone has the chunks of every second four lines four further, or four before.
    GANTRY_INLINE unsigned char* place(unsigned char* to, int i) const {
      unsigned char* const out = to + 4 * 128 * kWarps * i;
      if constexpr (kWarps > 1) return out;
      return i % 2 == 0 ? out : out + (lane_ % 8 ^ lane_ / 8) / 4 * -128 + 64;
    }

    const Params& p_;
    SharedMemory s_;
    int rank_, lane_;
    unsigned char* to_;                    // in stage 0, this lane's chunk of its first line
    const unsigned char* from_ = nullptr;  // this lane's chunk of the first K tile of row 0
    std::uint32_t rows_[kKept] = {};       // chunks of 16 bytes before them, or kNoRow
    typename Loop::State write_ = make_producer_start_state<kStages>();
  };
};

}  // namespace gantry
