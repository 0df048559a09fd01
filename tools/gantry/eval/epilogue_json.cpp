#include "eval/epilogue_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/epilogue/dispatch_policy.hpp>
#include <gantry/layout/print.hpp>

namespace gantry::tool {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string text_of(const T& value) {
  return to_text(value).c_str();
}

void append_stride(std::string& out, TupleView stride) {
  if (stride.is_leaf()) {
    out += stride.leaf().is_fixed() ? fmt::format("C<{}>", stride.leaf().value()) : "int64_t";
    return;
  }
  out += "tuple<";
  bool first = true;
  for (const TupleView part : stride) {
    if (!first) out += ", ";
    first = false;
    append_stride(out, part);
  }
  out += '>';
}

// The type behind an element, as a compiler prints it.
std::string_view type_name(ElementType element) {
  switch (element) {
    case ElementType::s8:
      return "signed char";
    case ElementType::u8:
      return "unsigned char";
    case ElementType::s16:
      return "short";
    case ElementType::u16:
      return "unsigned short";
    case ElementType::s32:
      return "int";
    case ElementType::u32:
      return "unsigned int";
    case ElementType::s64:
      return "long";
    case ElementType::u64:
      return "unsigned long";
    default:
      return gantry::info(element).cute_name;
  }
}

// The second argument is left out where a compiler leaves it out.
std::string store_pipeline(const EpiloguePolicy& p) {
  if (p.store_stages() <= 1) return fmt::format("PipelineTmaStore<{}>", p.store_stages());
  return fmt::format("PipelineTmaStore<{}, {}>", p.store_stages(), p.store_unacquired_stages());
}

std::string no_smem_collective(const EpiloguePolicy& p) {
  const std::string thread_op = fmt::format(
      "thread::LinearCombination<{}, 1, {}, {}, thread::ScaleType::{}, FloatRoundStyle::round_to_nearest, {}>",
      type_name(p.d.element), type_name(p.element_acc), type_name(p.element_compute),
      p.c.exists() ? "Default" : "OnlyAlphaScaling", type_name(p.c.smem_element));
  return fmt::format("detail::Sm90TmaWarpSpecializedAdapter<DefaultEpilogue{}<{}, {}, {}, {}, {}>>",
                     p.pointer_array() ? "Array" : "", type_name(p.c.element), stride_text(p.c), stride_text(p.d),
                     thread_op, p.pointer_array() ? to_text(p.schedule) : "gemm::EpilogueDefault");
}

Json no_smem_json(const EpiloguePolicy& p) {
  Json out;
  out["collective"] = no_smem_collective(p);
  out["gmem_tiled_copy_C"] = "void";
  out["gmem_tiled_copy_D"] = "void";
  out["sizeof_SharedStorage"] = p.storage.bytes;
  out["alignof_SharedStorage"] = p.storage.alignment;
  out["sizeof_TensorStorage"] = p.storage.tensor_bytes;
  out["sizeof_PipelineStorage"] = p.storage.pipeline_bytes;
  out["TmaTransactionBytes"] = p.transaction_bytes();
  out["RequiresTransactionBytes"] = false;
  out["load_pipe_increment"] = p.load_pipe_increment();
  out["store_pipe_increment"] = p.store_pipe_increment();
  out["load_pipeline"] = fmt::format("PipelineTransactionAsync<{}>", p.stages_c);
  out["store_pipeline"] = store_pipeline(p);
  out["scale_type_only_alpha"] = !p.c.exists();
  out["FragmentSize"] = p.fragment_size;
  return out;
}

void write_shared(Json& out, const EpiloguePolicy& p) {
  out["smem_layout_atom_C"] = text_of(p.c.smem_atom());
  out["smem_layout_atom_D"] = text_of(p.d.smem_atom());
  out["smem_layout_C"] = text_of(p.c.smem_layout());
  out["smem_layout_D"] = text_of(p.d.smem_layout());
  out["smem_alignment_C"] = p.c.smem_alignment();
  out["smem_alignment_D"] = p.d.smem_alignment();
}

void write_operations(Json& out, const EpiloguePolicy& p) {
  out["copy_op_G2S"] = cute_name(p.copy_op_g2s());
  out["copy_op_S2R"] = cute_name(p.c.smem_load());
  out["copy_op_S2G"] = cute_name(p.copy_op_s2g());
  out["copy_op_R2S"] = cute_name(p.d.smem_store());
  out["copy_atom_C"] = fmt::format("Copy_Atom<{}, half_t>", cute_name(p.copy_atom_c()));
  out["copy_op_R2R"] = cute_name(CopyOp::none);
}

void write_storage(Json& out, const EpiloguePolicy& p) {
  const EpilogueStorage& s = p.storage;
  out["sizeof_SharedStorage"] = s.bytes;
  out["alignof_SharedStorage"] = s.alignment;
  out["sizeof_TensorStorage"] = s.tensor_bytes;
  out["alignof_TensorStorage"] = s.alignment;
  out["sizeof_CollectiveStorage"] = s.collective_bytes;
  out["sizeof_PipelineStorage"] = s.pipeline_bytes;
  out["alignof_PipelineStorage"] = s.pipeline_alignment;
  out["sizeof_FusionStorage"] = s.fusion_bytes;
  if (!p.pointer_array()) return;
  out["sizeof_TensorMapStorage"] = s.tensormap_bytes;
  out["NumEpilogueWarpGroups"] = p.map_warpgroups;
}

void write_pipelines(Json& out, const EpiloguePolicy& p) {
  out["TmaTransactionBytes"] = p.transaction_bytes();
  out["RequiresTransactionBytes"] = true;
  out["load_pipe_increment"] = p.load_pipe_increment();
  out["store_pipe_increment"] = p.store_pipe_increment();
  out["load_pipeline"] = fmt::format("PipelineTransactionAsync<{}>", p.stages_c);
  out["store_pipeline"] = store_pipeline(p);
  out["store_pipeline_state"] = fmt::format("PipelineState<{}>", p.store_stages());
}

void write_copies(Json& out, const EpiloguePolicy& p) {
  const TmaPlan plan_c = p.c.plan(TmaOp::load), plan_d = p.d.plan(TmaOp::store);
  out["stride_C"] = stride_text(p.c);
  out["stride_D"] = stride_text(p.d);
  out["tma_C_basis"] = text_of(plan_c.tma_gbasis);
  out["tma_D_basis"] = text_of(plan_d.tma_gbasis);
  out["tma_C_swizzle"] = text_of(plan_c.smem.swizzle());
  out["tma_D_swizzle"] = text_of(plan_d.smem.swizzle());
  out["tma_C_elems_per_instr"] = plan_c.elements_per_tma();
  out["tma_D_elems_per_instr"] = plan_d.elements_per_tma();
}

}  // namespace

std::string stride_text(const EpilogueOperand& operand) {
  std::string out;
  append_stride(out, operand.gmem_stride());
  return operand.layout.per_group ? out + '*' : out;
}

std::vector<std::string> sentences(const EpiloguePolicy& policy, RuleWeight weight) {
  std::vector<std::string> out;
  for (const EpilogueReason& r : policy.reasons) {
    if (r.weight() == weight) out.emplace_back(describe(r).c_str());
  }
  return out;
}

Json policy_json(const EpiloguePolicy& p) {
  if (!p.uses_tma()) return no_smem_json(p);
  Json out;
  out["dispatch_policy"] = p.pointer_array() ? text_of(ptr_array_dispatch_policy(p)) : text_of(dispatch_policy(p));
  out["StagesC"] = p.stages_c;
  out["StagesD"] = p.stages_d;
  out["FragmentSize"] = p.fragment_size;
  out["ReuseSmemC"] = p.reuse_smem_c;
  out["DelayTmaStore"] = p.delay_tma_store;
  const auto mode = [](int extent, const TileRuns& runs) {
    if (runs.extent == 0) return fmt::format("_{}", extent);
    return fmt::format("(_{},_{}):(_1,_{})", runs.extent, runs.count, runs.stride);
  };
  out["epilogue_tile"] =
      fmt::format("({},{})", mode(p.epi_tile.m, p.epi_tile.rows), mode(p.epi_tile.n, p.epi_tile.columns));
  write_shared(out, p);
  write_operations(out, p);
  out["effective_ReuseSmemC"] = p.reuse_smem_c;
  out["is_source_supported"] = p.c.exists();
  out["is_m_major_C"] = p.c.m_major();
  out["is_m_major_D"] = p.d.m_major();
  write_storage(out, p);
  write_pipelines(out, p);
  write_copies(out, p);
  return out;
}

}  // namespace gantry::tool
