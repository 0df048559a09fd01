// All decisions about an epilogue that are made before a kernel runs, as one compact value: tiles, stages, buffers, TMA
// boxes, storage. CollectiveEpilogue reads it; what only reports need (shared layouts, copy operations, whole plans)
// is computed from it on demand, by the functions that the kernel's own types call.
//
// CollectiveBuilder (builder.hpp) makes it, at compile time for a kernel's configuration or at run time; a policy
// that cannot be built has every reason in `reasons`. Invariant of one that is ok(): the collective that it names
// compiles, epilogue tiles fill the CTA tile, and reuse is free of deadlock. In device code a policy is read in
// constant expressions only.
//
// Example:
//     using namespace gantry;
//     constexpr EpiloguePolicy nothing_built;
//     static_assert(nothing_built.ok() && !nothing_built.uses_tma() && nothing_built.subtiles() == 0);
#pragma once

#include <gantry/epilogue/operations_by_tile.hpp>
#include <gantry/epilogue/policy_rules.hpp>
#include <gantry/epilogue/subtiles.hpp>
#include <gantry/epilogue/tile.hpp>
#include <gantry/tma/matrix_box.hpp>

namespace gantry {

class ComposedLayout;
class IntTuple;
struct TmaPlan;

// C or D. Where the tensor is void, the fields below `element` are those of what stands in for it: D's for C, the
// auxiliary output's for D.
struct EpilogueOperand {
  ElementType element = ElementType::void_;       // void: the tensor does not exist
  ElementType smem_element = ElementType::void_;  // of the tile in shared memory
  LayoutTag layout = kRowMajor;
  int gmem_alignment = 0;                 // elements, as promised by the caller
  bool direct = false;                    // TMA cannot address the tensor: threads read and write it (direct_tile.hpp)
  RowScatter scatter = RowScatter::none;  // of D, which is direct then
  int stages = 0;                         // buffers of one subtile each
  TileMN subtile{};
  TileMN part{};       // of it, whose rows and columns are neighbours: what one box is part of
  TmaMatrixBox box{};  // of one subtile, as the kernel copies it; nothing where the tensor is void

  GANTRY_HD constexpr bool exists() const noexcept { return element != ElementType::void_; }
  GANTRY_HD constexpr bool m_major() const noexcept { return is_m_major(layout); }
  GANTRY_HD constexpr bool im2col() const noexcept { return is_im2col(layout); }
  GANTRY_HD constexpr int spatial_rank() const noexcept { return gantry::spatial_rank(layout); }
  GANTRY_HD constexpr int bits() const noexcept { return element_bits(smem_element); }
  GANTRY_HD constexpr int stage_bytes() const noexcept { return subtile.size() * bits() / 8; }
  GANTRY_HD constexpr int parts() const noexcept { return part.size() > 0 ? subtile.size() / part.size() : 1; }

  // policy_layouts.hpp has the definitions of the next five.
  // (M,N,batch); unknown() is given at run time.
  GANTRY_HD constexpr IntTuple gmem_stride() const;

  // On byte addresses; and (EPI_M,EPI_N,stages), of a subtile in parts those of each part one after the other. These
  // and those below require a policy that uses TMA.
  GANTRY_HD constexpr ComposedLayout smem_atom() const;
  GANTRY_HD constexpr ComposedLayout smem_layout() const;
  GANTRY_HD constexpr int smem_alignment() const;
  // The whole plan of a subtile, or of a part of it, over the tensor's own modes, load or store.
  GANTRY_HD constexpr TmaPlan plan(TmaOp op) const;

  // Between shared memory and registers.
  GANTRY_HD constexpr CopyOp smem_load() const { return smem_load_operation(bits(), m_major(), part.n); }
  GANTRY_HD constexpr CopyOp smem_store() const { return smem_store_operation(bits(), m_major(), part.n); }

  // TMA instructions that one subtile takes.
  GANTRY_HD constexpr int instructions() const noexcept {
    return box.instruction_bytes > 0 ? stage_bytes() / box.instruction_bytes : 0;
  }
};

// Which buffers there are in shared memory.
enum class EpilogueBuffers : std::uint8_t { none, c_and_d, c_only, d_only, d_reuses_c };

// Shared memory of an epilogue: epilogue_storage (storage.hpp) lays it out. Offsets and sizes are bytes; offsets count
// from a multiple of `alignment`.
struct EpilogueStorage {
  EpilogueBuffers buffers = EpilogueBuffers::none;
  int c_offset = 0;
  int c_bytes = 0;
  int d_offset = 0;  // c_offset, where D reuses C
  int d_bytes = 0;
  int collective_bytes = 0;  // buffers of C and D
  int fusion_offset = 0;
  int fusion_bytes = 0;
  int tensor_bytes = 0;  // buffers and fusion
  int tensor_alignment = 1;
  int tensormap_offset = 0;
  int tensormap_bytes = 0;  // pointer arrays: tensor maps that are rewritten for each group
  int pipeline_offset = 0;
  int pipeline_bytes = 0;  // barriers of the load pipeline
  int pipeline_alignment = 1;
  int bytes = 0;  // all of it
  int alignment = 1;

  GANTRY_HD friend constexpr bool operator==(const EpilogueStorage&, const EpilogueStorage&) noexcept = default;
};

struct EpiloguePolicy {
  PolicyFlavour flavour = PolicyFlavour::gantry;
  EpilogueSchedule asked = EpilogueSchedule::automatic;
  EpilogueSchedule schedule = EpilogueSchedule::no_smem_warp_specialized;  // never automatic

  TileMNK cta_tile{0, 0, 0};
  EpiTile epi_tile{};
  ElementType element_acc = ElementType::f32;
  ElementType element_compute = ElementType::f32;
  Rounding rounding = Rounding::nearest_even;  // of D, auxiliary outputs and results of reductions
  int warpgroups = 1;                          // that share a CTA tile
  int map_warpgroups = 1;  // that have tensor maps of D of their own; read where there are pointer arrays

  int stages_c = 0;  // of the load pipeline
  int stages_d = 0;  // store groups in flight, and the one being written
  int fragment_size = 1;
  bool reuse_smem_c = false;
  bool delay_tma_store = false;
  bool own_maps = false;           // of C, D and tensors: a pointer array of GEMMs, whose maps a kernel writes
  bool ragged = false;             // groups share C, D and tensors, whose maps are ragged
  RowCtas row_ctas{};              // of a GEMM's cluster, for what is combined over a row
  bool gated = false;              // a value of D has two accumulators; gemm/gated.hpp has their order
  bool deadlock_bypassed = false;  // for the demonstration of the deadlock; see CollectiveBuilder

  EpilogueOperand c{};
  EpilogueOperand d{};

  EpilogueStorage storage{};  // with the fusion's need as the builder was told
  EpilogueReasons reasons{};

  // The epilogue exists, a collective runs it, and it fits into the shared memory of an SM.
  GANTRY_HD constexpr bool ok() const noexcept { return reasons.empty(); }
  // There is no such epilogue: the values mean nothing.
  GANTRY_HD constexpr bool refused() const noexcept { return reasons.has(RuleWeight::refused); }

  GANTRY_HD constexpr bool uses_tma() const noexcept { return info(schedule).collective == EpilogueCollective::tma; }
  GANTRY_HD constexpr bool pointer_array() const noexcept { return info(schedule).pointer_array; }
  GANTRY_HD constexpr int threads() const noexcept { return kWarpgroupThreads * warpgroups; }

  // Which buffers there are. CUTLASS keeps those of a void D, where its reductions work.
  GANTRY_HD constexpr EpilogueBuffers buffers() const noexcept {
    if (!uses_tma()) return EpilogueBuffers::none;
    if (reuse_smem_c) return EpilogueBuffers::d_reuses_c;
    const bool keeps_d = d.exists() || flavour == PolicyFlavour::cutlass_compatible;
    if (c.exists() && !c.direct) return keeps_d ? EpilogueBuffers::c_and_d : EpilogueBuffers::c_only;
    return keeps_d ? EpilogueBuffers::d_only : EpilogueBuffers::none;
  }
  // Of C in one stage; auxiliary loads add to it.
  GANTRY_HD constexpr int transaction_bytes() const noexcept { return c.stage_bytes(); }

  // Operations by the names of CUTLASS: global to shared memory and back; how accumulators are partitioned into
  // fragments.
  GANTRY_HD constexpr TmaOp copy_op_g2s() const noexcept { return c.im2col() ? TmaOp::load_im2col : TmaOp::load; }
  GANTRY_HD constexpr TmaOp copy_op_s2g() const noexcept { return d.im2col() ? TmaOp::store_im2col : TmaOp::store; }
  GANTRY_HD constexpr CopyOp copy_atom_c() const noexcept { return accumulator_operation(epi_tile.box().n); }

  // The part of the tile that each thread visits, and in which order.
  GANTRY_HD constexpr Subtiles cut() const noexcept {
    return {.m = cta_tile.m,
            .n = cta_tile.n,
            .epi_m = epi_tile.m,
            .epi_n = epi_tile.n,
            .warpgroups = warpgroups,
            .m_runs = epi_tile.rows,
            .n_runs = epi_tile.columns,
            .row_ctas = row_ctas,
            .ragged = ragged};
  }

  // Epilogue tiles of a CTA tile, of which there are none without one.
  GANTRY_HD constexpr int subtiles_m() const noexcept { return epi_tile.m > 0 ? cta_tile.m / epi_tile.m : 0; }
  GANTRY_HD constexpr int subtiles_n() const noexcept { return epi_tile.n > 0 ? cta_tile.n / epi_tile.n : 0; }
  GANTRY_HD constexpr int subtiles() const noexcept { return subtiles_m() * subtiles_n(); }

  // How far the pipelines' states move in one CTA tile.
  GANTRY_HD constexpr int load_pipe_increment() const noexcept { return uses_tma() ? subtiles() : 1; }
  GANTRY_HD constexpr int store_pipe_increment() const noexcept { return uses_tma() ? subtiles() : 1; }

  // The store pipeline: buffers it cycles through, and groups that may still be unread when a buffer is acquired.
  GANTRY_HD constexpr int store_stages() const noexcept { return reuse_smem_c ? stages_c : stages_d; }
  GANTRY_HD constexpr int store_unacquired_stages() const noexcept { return stages_d > 0 ? stages_d - 1 : 0; }
};

}  // namespace gantry
