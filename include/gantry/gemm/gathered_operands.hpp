// The operand source of gathered rows: one warp copies rows of A that an index names, B comes by TMA.
//
// Each lane copies 16 bytes at a time with cp.async: eight lanes have a row of the K tile, 128 bytes, and an
// instruction four rows. Where rows begin is found once for a tile: each lane reads a few indices and keeps the rows'
// offsets, and shuffles bring an offset to the eight lanes that copy the row. Rows that do not exist, and what lies
// beyond K, become zeros (cp.async with fewer source bytes than 16).
//
// A stage is full when B's bytes have come and A has arrived. cp.async writes by the generic proxy and wgmma reads by
// the async proxy, so the writer waits for its copies, fences, and then arrives. It does that kLag stages late, so that
// copies of that many stages are on their way.
//
// Invariant: a stage is handed over before the warp waits for one that comes kStages - 2 or more after it. The math
// warpgroups release a stage when they have begun the next one, so at least two are theirs whenever the warp waits for
// an empty stage. And no more than three stages wait: while the warp waits for the next tile of a group, the others can
// read all slots of the ring but three, and it has four (group_ring.hpp).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Gathered {
//       static constexpr gantry::GemmDesign design =
//           gantry::make_gemm_design({.gather_a = true}, gantry::fusion::graph("d = acc"));
//     };
//     static_assert(gantry::GatheredOperands<Gathered>::kThreads == 32);
#pragma once

#include <gantry/arch/cp_async.hpp>
#include <gantry/arch/fence.hpp>
#include <gantry/gemm/mainloop.hpp>

namespace gantry {

template <class Design>
struct GatheredOperands {
  using Loop = Mainloop<Design>;
  using Params = typename Loop::Params;
  static constexpr int kThreads = 32;
  static constexpr int kArrivals = 2;  // B's bytes are announced; A is there
  static constexpr int kRegisters = Design::design.roles.producer_registers;
  static constexpr int kStages = Loop::kStages, kTileM = Loop::kTileM;
  static constexpr int kLag = kStages - 2 < 3 ? kStages - 2 : 3;

  // A warp.
  class Producer {
   public:
    GANTRY_INLINE Producer(const Params& params, SharedMemory shared, const int& /*k_steps*/)
        : p_(params),
          s_(shared),
          place_(Loop::Place::mine()),
          lane_(static_cast<int>(arch::lane_rank())),
          to_(s_.template at<unsigned char>(Design::design.shared.a) + gather_offset(lane_ / 8, lane_ % 8)) {}

    // `k_steps`: of this tile, where K wraps around.
    GANTRY_INLINE void load(const Work& work, const int& k_steps) {
      find_rows(work);
      const TmaCopy<typename Loop::LoadB> load_b{&p_.b};
      const auto b = tma_partition(load_b, place_.m, group_modes<0, 2>(Loop::shared_b(s_)),
                                   Loop::template tiles_of_b<false>(load_b, work, place_));
      int k = work.k_begin;
      GANTRY_NO_UNROLL
      for (int left = work.steps; left > 0; --left) {
        arch::wait(&barriers().empty[write_.index()], write_.phase());
        if (lane_ == 0) {
          std::uint64_t* const full = &barriers().full[write_.index()];
          arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full, kBytesOfB);
          copy(load_b.with(full, place_.column_mask()), b.gmem(_, k), b.smem(_, write_.index()));
        }
        copy_rows(k);
        arch::cp_async_commit_group();
        if (waiting_ < kLag) {
          ++waiting_;
        } else {
          arch::cp_async_wait_group(arch::n32<kLag>);
          hand_over(1);
        }
        ++write_;
        k += work.k_step;
        if (k == k_steps) k = 0;
      }
    }

    // Waits until every stage has been released, so that no CTA leaves while others may still signal it.
    GANTRY_INLINE void tail() {
      if constexpr (kLag > 0) {
        arch::cp_async_wait_all();
        hand_over(waiting_);
      }
      for (int i = 0; i < kStages; ++i, ++write_) arch::wait(&barriers().empty[write_.index()], write_.phase());
    }

   private:
    static constexpr std::uint32_t kBytesOfB = Loop::kStageBytes - Loop::kStageBytesA;
    static constexpr bool kGroups = Design::design.options.groups == GemmGrouping::along_m;

    GANTRY_INLINE auto& barriers() const { return Loop::barriers(s_); }

    // Where the rows of the tile are: this lane has every 32nd.
    GANTRY_INLINE void find_rows(const Work& work) {
      const GatherParams& a = p_.a;
      const int first = (work.m * Loop::kClusterM + place_.m) * kTileM;
      const int count = kGroups ? work.group.size : a.count;
      from_ = static_cast<const unsigned char*>(a.data);
      const std::int32_t* index = a.index;
      if constexpr (kGroups) {
        index += work.group.first();
      } else {
        index += static_cast<std::int64_t>(work.batch) * a.count;
        from_ += work.batch * a.batch_stride;
      }
      GANTRY_UNROLL
      for (int i = 0; i < kTileM / 32; ++i) {
        const int line = first + 32 * i + lane_;
        const int row = line < count ? arch::ld(arch::space_global, index + line) : -1;
        rows_[i] = row >= 0 && row < a.rows ? static_cast<std::uint32_t>(row) * a.stride : kNoRow;
      }
    }

    // Sends this lane's chunks of a K tile on their way.
    GANTRY_INLINE void copy_rows(int k) const {
      const std::int64_t at = std::int64_t{k} * 128 + lane_ % 8 * 16, beyond = p_.a.k_bytes - at;
      const std::uint32_t bytes = beyond >= 16 ? 16 : beyond > 0 ? static_cast<std::uint32_t>(beyond) : 0;
      const unsigned char* const from = from_ + at;
      unsigned char* const to = to_ + write_.index() * static_cast<int>(Loop::kStageBytesA);
      unsigned char* const odd = to_odd(to);
      GANTRY_UNROLL
      for (int i = 0; i < kTileM / 4; ++i) {  // rows 4 i to 4 i + 3
        const std::uint32_t row = arch::shfl_sync(arch::kFullWarp, rows_[i / 8], i % 8 * 4 + lane_ / 8);
        const bool exists = row != kNoRow;
        arch::cp_async_cg(arch::space_shared, arch::space_global, (i % 2 == 0 ? to : odd) + i * 512,
                          from + (exists ? std::uint64_t{row} * 16 : 0), arch::n32<16>, exists ? bytes : 0);
      }
    }
    // Of every second four rows: the swizzle has their chunks four further, or four before.
    GANTRY_INLINE unsigned char* to_odd(unsigned char* to) const {
      const int even = gather_offset(lane_ / 8, lane_ % 8), odd = gather_offset(lane_ / 8 + 4, lane_ % 8) - 512;
      return to + (odd - even);
    }

    // The oldest stages that wait, whose copies of this thread are there.
    GANTRY_INLINE void hand_over(int stages) {
      arch::fence_proxy_async(arch::space_shared);
      arch::syncwarp();
      for (int i = 0; i < stages; ++i, ++ready_) {
        if (lane_ == 0) arch::mbarrier_arrive(&barriers().full[ready_.index()]);
      }
    }

    const Params& p_;
    SharedMemory s_;
    typename Loop::Place place_;
    int lane_;
    unsigned char* to_;  // in stage 0, this lane's chunk of the first four rows
    const unsigned char* from_ = nullptr;
    std::uint32_t rows_[kTileM / 32] = {};  // chunks of 16 bytes before them, or kNoRow
    typename Loop::State write_ = make_producer_start_state<kStages>();
    typename Loop::State ready_{};  // the oldest that has not been handed over
    int waiting_ = 0;
  };
};

}  // namespace gantry
