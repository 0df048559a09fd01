// The producer of mainloop.hpp: one thread loads K tiles of A and B by TMA.
#pragma once

#include <gantry/gemm/mainloop.hpp>

namespace gantry {

template <class Design>
class Mainloop<Design>::Producer {
 public:
  // `k_steps`: K tiles of every tile, 0 where they differ.
  GANTRY_INLINE Producer(const Params& params, SharedMemory shared, const int& k_steps)
      : p_(params),
        s_(shared),
        pipeline_(barriers(shared), pipeline_params(PipelineRole::producer)),
        place_(Place::mine()),
        repeating_steps_(kClusterK == 1 && k_steps > 0 && k_steps <= kStages && kStages % k_steps == 0 ? k_steps : -1) {
  }

  // `k_steps`: of this tile, where K wraps around.
  GANTRY_INLINE void load(const Work& work, const int& k_steps) {
    if constexpr (Shape::kOwnMaps) enter(work.one);
    const Place at = place();
    const TileBox box_a = box_of_a(work), box_b = box_of_b(work);
    TileBoxes boxes(box_a, box_b);
    const TmaCopy<LoadA> load_a{map_of_a(work, boxes)};
    const TmaCopy<LoadB> load_b{map_of_b(work, boxes)};
    const auto a =
        tma_partition(load_a, at.n, group_modes<0, 2>(shared_a(s_)), tiles_of_a(load_a, work, at, box_a.shift));
    const auto b =
        tma_partition(load_b, at.m, group_modes<0, 2>(shared_b(s_)), tiles_of_b(load_b, work, at, box_b.shift));
    int k = work.k_begin;
    const bool repeats = stays_in_column(work);
    GANTRY_NO_UNROLL
    for (int left = work.steps; left > 0; --left) {
      if constexpr (kHasSmallerBoxes) boxes.make_opaque();
      const bool holds_b = repeats && steps_in_column_ >= kStages;
      const bool is_early = take_early();
      if (!is_early) pipeline_.producer_acquire(write_, bytes_of(boxes, holds_b));
      std::uint64_t* full = pipeline_.producer_get_barrier(write_);
      if (!is_early || Shape::kConstant != ConstantOperand::a) {
        const TmaCopy<LoadA> load{map_of_a(work, boxes)};
        copy_part<kBoxesOfA>(load.with(full, place().row_mask()), boxes.smaller_a(), a.gmem(_, k),
                             a.smem(_, write_.index()));
      }
      if (!holds_b) {
        if (!is_early || Shape::kConstant != ConstantOperand::b) {
          const TmaCopy<LoadB> load{map_of_b(work, boxes)};
          copy_part<kBoxesOfB>(load.with(full, place().column_mask()), boxes.smaller_b(), b.gmem(_, k),
                               b.smem(_, write_.index()));
        }
        ++steps_in_column_;
      }
      ++write_;
      k += work.k_step;
      if (k == k_steps) k = 0;
    }
  }

  // The constant operand of the first K tiles, as many as there are stages: load() of the same work, which comes
  // next, brings the other. Requires stages that nobody has used.
  GANTRY_INLINE void load_early(const Work& work, const int& k_steps) {
    constexpr bool is_a = Shape::kConstant == ConstantOperand::a;
    const TileBox box_a = box_of_a(work), box_b = box_of_b(work);
    const TileBoxes boxes(box_a, box_b);
    const TmaCopy<LoadConstant> load{is_a ? map_of_a(work, boxes) : map_of_b(work, boxes)};
    const auto tiles = [&] {
      if constexpr (is_a) {
        return tiles_of_a(load, work, place_, box_a.shift);
      } else {
        return tiles_of_b(load, work, place_, box_b.shift);
      }
    }();
    const auto stages = [&] {
      if constexpr (is_a) return shared_a(s_);
      if constexpr (!is_a) return shared_b(s_);
    }();
    const auto part = tma_partition(load, is_a ? place_.n : place_.m, group_modes<0, 2>(stages), tiles);
    int k = work.k_begin;
    State stage = write_;
    early_ = work.steps < kStages ? work.steps : kStages;
    GANTRY_NO_UNROLL
    for (int left = early_; left > 0; --left) {
      pipeline_.producer_acquire(stage, bytes_of(boxes, false));
      copy(load.with(pipeline_.producer_get_barrier(stage), is_a ? place_.row_mask() : place_.column_mask()),
           part.gmem(_, k), part.smem(_, stage.index()));
      ++stage;
      k += work.k_step;
      if (k == k_steps) k = 0;
    }
  }

  // Waits until every stage has been released, so that no CTA leaves while others may still signal it.
  GANTRY_INLINE void tail() {
    for (int i = 0; i < kStages; ++i, ++write_) arch::wait(&barriers(s_).empty[write_.index()], write_.phase());
  }

 private:
  // Smaller boxes of the operand whose rows groups share.
  static constexpr int kBoxesOfA = kGroups == GemmGrouping::along_m ? Design::design.group_boxes : 0;
  static constexpr int kBoxesOfB = kGroups == GemmGrouping::along_n ? Design::design.group_boxes : 0;
  static constexpr bool kHasSmallerBoxes = Design::design.has_edges() || Design::design.group_boxes > 0;

  // Where this CTA is. Beside the boxes of groups there are no registers for masks and offsets: they are computed where
  // they are used.
  GANTRY_INLINE Place place() const {
    Place out = place_;
    if constexpr (kMulticast > 1 && Design::design.group_boxes > 0) {
      out.m = static_cast<int>(arch::opaque(static_cast<std::uint32_t>(out.m)));
      out.n = static_cast<int>(arch::opaque(static_cast<std::uint32_t>(out.n)));
    }
    return out;
  }

  // What brings this CTA's parts of A and B.
  GANTRY_INLINE TileBox box_of_a([[maybe_unused]] const Work& work) const {
    if constexpr (Design::design.edge_a) {
      return box_at_edge<kTileM, kClusterN>(p_.edges.a, work.m * kClusterM + place_.m, place_.n);
    } else if constexpr (kBoxesOfA > 0) {
      return boxes_of_group<kTileM, kClusterN>(work.group.size, work.m * kClusterM + place_.m, place_.n);
    } else {
      return {.loaded = kTileM};
    }
  }
  GANTRY_INLINE TileBox box_of_b([[maybe_unused]] const Work& work) const {
    if constexpr (Design::design.edge_b) {
      return box_at_edge<kTileN, kClusterM>(p_.edges.b, work.n * kClusterN + place_.n, place_.m);
    } else if constexpr (kBoxesOfB > 0) {
      return boxes_of_group<kTileN, kClusterM>(work.group.size, work.n * kClusterN + place_.n, place_.m);
    } else {
      return {.loaded = kTileN};
    }
  }
  GANTRY_INLINE const TmaDescriptor* map_of_a([[maybe_unused]] const Work& work,
                                              [[maybe_unused]] const TileBoxes& boxes) const {
    if constexpr (Shape::kOwnMaps) return work.one.maps + GroupMapIndex::kA;
    if constexpr (Design::design.edge_a) {
      if (boxes.smaller_a() != 0) return &p_.edges.map_a;
    }
    return &p_.a;
  }
  GANTRY_INLINE const TmaDescriptor* map_of_b([[maybe_unused]] const Work& work,
                                              [[maybe_unused]] const TileBoxes& boxes) const {
    if constexpr (Shape::kOwnMaps) return work.one.maps + GroupMapIndex::kB;
    if constexpr (Design::design.edge_b) {
      if (boxes.smaller_b() != 0) return &p_.edges.map_b;
    }
    return &p_.b;
  }
  // Issues one box, or those of the rows that a group ends with: a box brings as many rows as its map says. A loop,
  // since unrolled it takes registers for the address of each map.
  template <int boxes, class Load, class G, class S>
  GANTRY_INLINE void copy_part(const Load& load, [[maybe_unused]] int smaller, const G& from, const S& to) const {
    if constexpr (boxes > 0) {
      if (smaller != 0) {
        GANTRY_NO_UNROLL
        for (int i = 0; smaller >> i != 0; ++i) {
          if ((smaller >> i & 1) == 0) continue;
          Load box = load;
          box.map = &p_.group_boxes[i];
          const auto first = coord(rows_before_box(smaller, i) * kTileK, Constant<0>{});
          copy(box, domain_offset(first, from), domain_offset(first, to));
        }
        return;
      }
    }
    copy(load, from, to);
  }
  // What a full barrier expects of one K tile.
  GANTRY_INLINE static std::uint32_t bytes_of(const TileBoxes& boxes, bool holds_b) {
    if constexpr (!kHasSmallerBoxes) return holds_b ? kStageBytesA : kStageBytes;
    return kRowBytes * static_cast<std::uint32_t>(boxes.loaded_a() + (holds_b ? 0 : boxes.loaded_b()));
  }

  // True if the constant operand of the next K tile has been loaded.
  GANTRY_INLINE bool take_early() {
    if constexpr (Shape::kConstant == ConstantOperand::none) return false;
    if (early_ == 0) return false;
    --early_;
    return true;
  }

  // True if stages come round with the same part of B. They hold it once a whole ring has been loaded for the column.
  GANTRY_INLINE bool stays_in_column(const Work& work) {
    const bool repeats = work.steps == repeating_steps_ && work.k_begin == 0 && work.k_step == 1;
    if (!repeats || work.n != n_ || work.batch != batch_) steps_in_column_ = 0;
    n_ = repeats ? work.n : -1;
    batch_ = work.batch;
    return repeats;
  }

  // Before the first load by the maps of another GEMM of a pointer array. Loads of a GEMM are a bulk group, which
  // says when they have read their maps: afterwards those of the third GEMM before this one have, and maps may come
  // round (pointer_scheduler.hpp). Barriers do not say so much: a load is multicast to other CTAs, too.
  GANTRY_INLINE void enter(const WorkOfArray& gemm) {
    if (gemm.slot == slot_) return;
    slot_ = gemm.slot;
    arch::cp_async_bulk_commit_group();
    arch::cp_async_bulk_wait_group_read(arch::n32<2>);
    acquire_map(gemm.maps + GroupMapIndex::kA);
    acquire_map(gemm.maps + GroupMapIndex::kB);
  }

  const Params& p_;
  SharedMemory s_;
  Pipeline pipeline_;
  Place place_;
  State write_ = make_producer_start_state<kStages>();
  int repeating_steps_;      // K tiles of every tile, if a stage then has the same one whenever its turn comes; else -1
  int n_ = -1, batch_ = -1;  // the column, if the next tile may be in it
  int steps_in_column_ = 0;
  int early_ = 0;  // K tiles whose constant operand load_early() has loaded
  int slot_ = -1;  // of a pointer array: of the GEMM that is loaded
};

}  // namespace gantry
