// A policy for people: every decision with its value and its reason in a few words, or every reason why there is none.
//
// Example:
//     using namespace gantry;
//     const EpilogueExplanation e =
//         explain(CollectiveBuilder{.tile = {128, 256, 64}, .c = ElementType::bf16, .d = ElementType::bf16});
//     const std::string text = report(e);
//     // "Epilogue TmaWarpSpecializedCooperative of a 128x256 tile: runs ..."
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/graph_rules.hpp>
#include <gantry/tma/detail/explain_layout.hpp>
#include <gantry/tma/detail/explain_text.hpp>

namespace gantry {

struct EpilogueDecision {
  std::string section;
  std::string name;
  std::string value;
  std::string why;
};

struct EpilogueExplanation {
  CollectiveBuilder asked;
  EpiloguePolicy policy;
  std::vector<EpilogueDecision> decisions{};  // none where the policy is refused
  EpilogueReasons reasons{};                  // of the policy, and of what is fused with it
  fusion::GraphReasons graph_reasons{};       // of the graph by itself, which refuse it

  bool ok() const { return reasons.empty() && graph_reasons.empty(); }
  // Whether a rule of this weight is broken. Where it is `unsupported` the policy's values stand, and no collective
  // runs it; where it is `hopper` an SM has no room.
  bool has(RuleWeight weight) const {
    return reasons.has(weight) || (weight == RuleWeight::refused && !graph_reasons.empty());
  }
  // The sentences of those reasons.
  std::vector<std::string> sentences(RuleWeight weight) const {
    std::vector<std::string> out;
    for (const EpilogueReason& r : reasons) {
      if (r.weight() == weight) out.emplace_back(describe(r).c_str());
    }
    if (weight != RuleWeight::refused) return out;
    for (const fusion::GraphReason& r : graph_reasons) out.emplace_back(describe(r).c_str());
    return out;
  }
};

namespace detail {

inline std::string mode_text(int extent, const TileRuns& runs) {
  if (runs.extent == 0) return std::to_string(extent);
  Sentence out;
  append_runs(out, runs);
  return out.c_str();
}
inline std::string tile_text(const EpiTile& tile) {
  return mode_text(tile.m, tile.rows) + 'x' + mode_text(tile.n, tile.columns);
}
inline std::string tile_text(int m, int n) { return std::to_string(m) + 'x' + std::to_string(n); }

// Collects the decisions of one policy.
class DecisionWriter {
 public:
  DecisionWriter(const CollectiveBuilder& asked, const EpiloguePolicy& policy) : in_(asked), p_(policy) {}

  std::vector<EpilogueDecision> write() {
    section_ = "Decisions";
    schedule();
    if (p_.uses_tma()) {
      tiles();
      stages();
      operand("C", p_.c, p_.copy_op_g2s(), p_.c.smem_load());
      operand("D", p_.d, p_.copy_op_s2g(), p_.d.smem_store());
      pipelines();
      storage();
    } else {
      add("FragmentSize", number(p_.fragment_size), "every thread writes its own values");
      add("shared memory", "none", "values go from registers to global memory, predicated at the edges");
    }
    return std::move(out_);
  }

 private:
  template <class T>
  static std::string number(T value) {
    return std::to_string(value);
  }
  static std::string yes_or_no(bool value) { return value ? "yes" : "no"; }
  bool compatible() const { return p_.flavour == PolicyFlavour::cutlass_compatible; }

  void add(std::string name, std::string value, std::string why) {
    out_.push_back({section_, std::move(name), std::move(value), std::move(why)});
  }

  void schedule() {
    std::string why = "as asked";
    if (p_.asked == EpilogueSchedule::automatic) {
      why = p_.uses_tma()  ? "rows are aligned for TMA"
            : compatible() ? "Auto means no shared memory in CUTLASS"
                           : "rows are not aligned for TMA";
      if (p_.warpgroups == 2) why += ", and two warpgroups fill the tile";
    }
    add("schedule", to_text(p_.schedule), why);
    add("flavour", compatible() ? "CutlassCompatible" : "Gantry",
        compatible() ? "decides as CUTLASS 4 does" : "tuned, the default");
    add("warpgroups", number(p_.warpgroups), "share a CTA tile: " + number(p_.threads()) + " threads");
  }

  void tiles() {
    std::string why = "as asked";
    if (in_.epi_tile == EpiTile{}) {
      why = number(kMmaRows) + " rows for each warpgroup, and what the CTA tile has in common with " +
            number(preferred_columns({.cta_tile = {p_.cta_tile.m, p_.cta_tile.n},
                                      .d_bits = element_bits(p_.d.smem_element),
                                      .warpgroups = p_.warpgroups,
                                      .flavour = p_.flavour})) +
            " columns";
    }
    add("epilogue tile", tile_text(p_.epi_tile), why);
    add("subtiles", number(p_.subtiles()),
        number(p_.subtiles_m()) + " along M, " + number(p_.subtiles_n()) + " along N: M runs first");
    if (p_.epi_tile.has_runs()) {
      add("boxes", number(p_.d.parts()) + " of " + tile_text(p_.d.part.m, p_.d.part.n),
          "a subtile's runs of neighbours, one after the other in shared memory");
    }
    add("FragmentSize", number(p_.fragment_size),
        in_.fragment_size != 0 ? "as asked" : "all values of a thread in one epilogue tile");
    add("accumulators", cute_name(p_.copy_atom_c()),
        p_.epi_tile.box().n % 16 == 0 ? "columns are a multiple of 16" : "columns are a multiple of 8 only");
    if (p_.rounding != Rounding::nearest_even) {
      add("rounding", fusion::text_of(p_.rounding), "as asked: of D, auxiliary outputs and results of reductions");
    }
  }

  void stages() {
    add("StagesC", number(p_.stages_c),
        in_.stages_c != 0 ? "as asked"
        : p_.reuse_smem_c ? "up to 4 subtiles ahead, and more than StagesD since D reuses the buffers"
                          : "up to 4 subtiles ahead");
    add("StagesD", number(p_.stages_d), in_.stages_d != 0 ? "as asked" : "one store is read while the next is written");
    add("ReuseSmemC", yes_or_no(p_.reuse_smem_c), why_reuse());
    std::string why = !p_.c.exists() ? "there are no loads that it would hold up" : "it would hold up the loads of C";
    if (p_.pointer_array() && !p_.c.exists()) why = "tensor maps of pointer arrays are rewritten between stores";
    if (in_.delay_tma_store != Choice::automatic) why = "as asked";
    if (p_.deadlock_bypassed) why = "as asked: this deadlocks, and the check was bypassed";
    add("DelayTmaStore", yes_or_no(p_.delay_tma_store), why);
  }

  std::string why_reuse() const {
    if (in_.reuse_smem_c != Choice::automatic) return "as asked";
    if (!p_.c.exists()) return "there is no C";
    if (!p_.d.exists()) return "there is no D";
    if (p_.reuse_smem_c) return "elements of C and D are equally wide";
    if (p_.c.stage_bytes() != p_.d.stage_bytes()) return "elements of C and D differ in width";
    if (element_bits(p_.d.smem_element) <= 8)
      return "8-bit elements take little shared memory, and loads need not wait for stores";
    return "the stages that were asked for leave no free buffer";
  }

  void operand(const char* name, const EpilogueOperand& x, TmaOp tma, CopyOp copy) {
    section_ = name;
    const TmaPlan plan = x.plan(tma == p_.copy_op_g2s() ? TmaOp::load : TmaOp::store);
    if (!x.exists()) {
      add("element", "void",
          std::string(name) == "C"
              ? "nothing is loaded; D stands in where a type is needed"
              : std::string("nothing is stored; the auxiliary ") + to_text(x.smem_element) + " stands in");
      if (std::string(name) == "C") return;
    } else {
      add("element", to_text(x.element),
          number(element_bits(x.element)) + " bits, travels as " + to_text(plan.tma_element));
    }
    add("layout", to_text(x.layout).c_str(),
        "strides " + tma_detail::text_of(x.gmem_stride()) +
            (x.m_major() ? ", contiguous along M" : ", contiguous along N"));
    add("shared atom", tma_detail::text_of(x.smem_atom()), "the widest swizzle whose row divides the tile");
    add("shared layout", tma_detail::text_of(x.smem_layout()),
        tma_detail::counted(x.stages, "stage") + " of " + number(x.stage_bytes()) + " bytes, aligned to " +
            number(x.smem_alignment()));
    add("TMA", cute_name(tma),
        tma_detail::counted(x.instructions(), "instruction") + " a subtile, box " +
            tma_detail::text_of(plan.tma_gbasis));
    add("registers", cute_name(copy),
        element_bits(x.smem_element) == 16 ? "16-bit elements move as matrices" : "the widest accesses that fit");
  }

  void pipelines() {
    section_ = "Pipelines";
    add("load", "PipelineTransactionAsync<" + number(p_.stages_c) + '>',
        p_.c.exists() ? number(p_.transaction_bytes()) + " bytes of C in a stage, and what auxiliary loads add"
                      : "what auxiliary loads bring");
    add("store", "PipelineTmaStore<" + number(p_.store_stages()) + ", " + number(p_.store_unacquired_stages()) + '>',
        tma_detail::counted(p_.store_unacquired_stages(), "group") + " may be unread when a buffer is taken");
    add("increment", number(p_.load_pipe_increment()), "one for each subtile of a CTA tile");
  }

  void part(const char* name, int offset, int bytes, const char* why) {
    if (bytes > 0) add(name, number(bytes) + " at " + number(offset), why);
  }

  void storage() {
    section_ = "Shared memory, bytes";
    const EpilogueStorage& s = p_.storage;
    if (s.buffers == EpilogueBuffers::d_reuses_c) {
      part("C and D", s.c_offset, s.c_bytes, "one set of buffers for both");
    } else {
      part("C", s.c_offset, s.c_bytes, "all its stages");
      part("D", s.d_offset, s.d_bytes, p_.d.exists() ? "all its stages" : "workspace of reductions");
    }
    part("fusion", s.fusion_offset, s.fusion_bytes, compatible() ? "an empty structure has a byte" : "as asked");
    part("tensor maps", s.tensormap_offset, s.tensormap_bytes, "rewritten for each group");
    part("barriers", s.pipeline_offset, s.pipeline_bytes, "full and empty, for each stage of the load pipeline");
    add("all", number(s.bytes),
        "aligned to " + number(s.alignment) + "; a block has " + number(kSm90.shared_bytes_per_block));
  }

  const CollectiveBuilder& in_;
  const EpiloguePolicy& p_;
  std::string section_;
  std::vector<EpilogueDecision> out_;
};

}  // namespace detail

inline EpilogueExplanation explain(const CollectiveBuilder& asked) {
  EpilogueExplanation out{.asked = asked, .policy = asked.policy()};
  out.reasons = out.policy.reasons;
  if (!out.policy.refused()) out.decisions = detail::DecisionWriter(out.asked, out.policy).write();
  return out;
}

// With what is fused: not ok() where the collective of this policy and this graph is known not to compile.
inline EpilogueExplanation explain(const CollectiveBuilder& asked, const fusion::Graph& graph) {
  EpilogueExplanation out = explain(asked);
  const bool complex = info(asked.compute).kind == ElementKind::complex;
  out.graph_reasons = fusion::check(graph);
  if (out.graph_reasons.ok()) {
    out.graph_reasons = fusion::check_elements(graph, complex ? fusion::Values::complex : fusion::Values::real);
  }
  if (out.ok()) out.reasons = graph_reasons(out.policy, graph);
  if (out.has(RuleWeight::refused)) out.decisions.clear();
  if (!out.ok()) return out;
  CollectiveBuilder fused = asked;
  fused.fusion = storage_need(out.policy, graph);
  return explain(fused);
}

// Lines of at most `width` characters, where words allow it.
inline std::string report(const EpilogueExplanation& e, std::size_t width = 110) {
  const EpiloguePolicy& p = e.policy;
  std::string out = std::string("Epilogue ") + to_text(p.schedule) + " of a " +
                    detail::tile_text(p.cta_tile.m, p.cta_tile.n) + " tile: " +
                    (e.ok()                           ? "runs"
                     : e.has(RuleWeight::refused)     ? "cannot be built"
                     : e.has(RuleWeight::unsupported) ? "has no kernel"
                                                      : "does not fit") +
                    '\n';
  std::vector<std::string> reasons = e.sentences(RuleWeight::refused);
  if (reasons.empty()) {
    reasons = e.sentences(RuleWeight::unsupported);
    for (std::string& sentence : e.sentences(RuleWeight::hopper)) reasons.push_back(std::move(sentence));
  }
  if (!reasons.empty()) {
    out += reasons.size() == 1 ? "\nWhy\n" : "\nWhy: " + std::to_string(reasons.size()) + " reasons\n";
    for (const std::string& r : reasons) tma_detail::append_named(out, "-", tma_detail::sentence(r), 4, width);
  }
  std::string section;
  std::size_t names = 0;
  std::size_t values = 0;
  for (const EpilogueDecision& d : e.decisions) {
    names = d.name.size() > names ? d.name.size() : names;
    if (d.value.size() <= 32 && d.value.size() > values) values = d.value.size();
  }
  for (const EpilogueDecision& d : e.decisions) {
    if (d.section != section) out += '\n' + d.section + '\n';
    section = d.section;
    std::string value = d.value;
    value.resize(value.size() < values ? values : value.size(), ' ');
    if (value.size() > values) {  // too long to stand beside its reason
      tma_detail::append_named(out, d.name, d.value, names + 4, width);
      out.append(names + 4, ' ');
      tma_detail::append_wrapped(out, d.why, names + 4, width);
    } else {
      out += tma_detail::padded("  " + d.name, names + 4) + value + "  ";
      tma_detail::append_wrapped(out, d.why, names + values + 6, width);
    }
  }
  return out;
}

}  // namespace gantry
