// All decisions about an epilogue that are made before a kernel runs, as one value with named fields: tiles, stages,
// buffers, shared layouts, copy operations, TMA plans, storage.
//
// CollectiveBuilder (builder.hpp) computes it, at compile time for a kernel's configuration or at run time; a policy
// that cannot be says why in `reasons`, with every reason. Invariant of one that is ok(): epilogue tiles fill the CTA
// tile, buffers are as `storage` says, and reuse is free of deadlock. In device code a policy is read in constant
// expressions only.
//
// Example:
//     using namespace gantry;
//     constexpr EpiloguePolicy nothing_built;
//     static_assert(nothing_built.ok() && !nothing_built.uses_tma() && nothing_built.subtiles() == 0);
#pragma once

#include <gantry/epilogue/operations_by_tile.hpp>
#include <gantry/epilogue/policy_rules.hpp>
#include <gantry/epilogue/tile.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// C or D. Where the tensor is void, the fields below `element` are those of what stands in for it: D's for C, the
// auxiliary output's for D.
struct EpilogueOperand {
  ElementType element = ElementType::void_;       // void: the tensor does not exist
  ElementType smem_element = ElementType::void_;  // of the tile in shared memory
  LayoutTag layout = kRowMajor;
  IntTuple gmem_stride{};        // (M,N,L); unknown() is given at run time
  int gmem_alignment = 0;        // elements, as promised by the caller
  int stages = 0;                // buffers that smem_layout counts
  ComposedLayout smem_atom{};    // on byte addresses
  ComposedLayout smem_layout{};  // (EPI_M,EPI_N,stages)
  int smem_alignment = 0;        // bytes
  int stage_bytes = 0;           // of one epilogue tile
  TmaPlan plan{};                // of one epilogue tile; its structure, bound when a tensor is given

  GANTRY_HD constexpr bool exists() const noexcept { return element != ElementType::void_; }
  GANTRY_HD constexpr bool m_major() const noexcept { return is_m_major(layout); }
  GANTRY_HD constexpr bool im2col() const noexcept { return is_im2col(layout); }
  GANTRY_HD constexpr int spatial_rank() const noexcept { return gantry::spatial_rank(layout); }
  // TMA instructions that one epilogue tile takes.
  GANTRY_HD constexpr int instructions() const noexcept {
    const int moved = static_cast<int>(plan.num_bits_per_tma / 8);
    return moved > 0 ? stage_bytes / moved : 0;
  }
};

// Which buffers there are in shared memory.
enum class EpilogueBuffers : std::uint8_t { none, c_and_d, c_only, d_only, d_reuses_c };

// Shared memory of an epilogue. Offsets and sizes are bytes; offsets count from a multiple of `alignment`.
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
  int tensormap_offset = 0;
  int tensormap_bytes = 0;  // pointer arrays: tensor maps that are rewritten for each group
  int pipeline_offset = 0;
  int pipeline_bytes = 0;  // barriers of the load pipeline
  int pipeline_alignment = 1;
  int bytes = 0;  // all of it
  int alignment = 1;
};

struct EpiloguePolicy {
  PolicyFlavour flavour = PolicyFlavour::gantry;
  EpilogueSchedule asked = EpilogueSchedule::automatic;
  EpilogueSchedule schedule = EpilogueSchedule::no_smem_warp_specialized;  // never automatic

  TileMNK cta_tile{0, 0, 0};
  TileMN epi_tile{};
  ElementType element_acc = ElementType::f32;
  ElementType element_compute = ElementType::f32;
  int warpgroups = 1;      // that share a CTA tile
  int map_warpgroups = 1;  // that have tensor maps of D of their own; read where there are pointer arrays

  int stages_c = 0;  // of the load pipeline
  int stages_d = 0;  // store groups in flight, and the one being written
  int fragment_size = 1;
  bool reuse_smem_c = false;
  bool delay_tma_store = false;
  bool deadlock_bypassed = false;  // for the demonstration of the deadlock; see CollectiveBuilder

  EpilogueOperand c{};
  EpilogueOperand d{};

  TmaOp copy_op_g2s = TmaOp::load;
  TmaOp copy_op_s2g = TmaOp::store;
  CopyOp copy_op_s2r = CopyOp::none;
  CopyOp copy_op_r2s = CopyOp::none;
  CopyOp copy_op_r2r = CopyOp::none;
  CopyOp copy_atom_c = CopyOp::none;  // how accumulators are dealt out to fragments

  int transaction_bytes = 0;  // of C in one stage; auxiliary loads add to it
  EpilogueStorage storage{};
  EpilogueReasons reasons{};

  // There is such an epilogue, and this machine has room for it.
  GANTRY_HD constexpr bool ok() const noexcept { return reasons.empty(); }
  GANTRY_HD constexpr bool refused() const noexcept { return reasons.has(EpilogueWeight::refused); }

  GANTRY_HD constexpr bool uses_tma() const noexcept { return info(schedule).collective == EpilogueCollective::tma; }
  GANTRY_HD constexpr bool pointer_array() const noexcept { return info(schedule).pointer_array; }
  GANTRY_HD constexpr int threads() const noexcept { return kWarpgroupThreads * warpgroups; }

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
