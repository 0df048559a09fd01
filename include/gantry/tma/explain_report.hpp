// Explanations as reports for people: plain text, aligned, the steps in order.
//
// Example:
//     using namespace gantry;
//     const TmaPlan plan = make_tma_copy(
//         TmaOp::store, {.element = ElementType::f32, .layout = make_layout(make_shape(512, 512), make_stride(512, _1))},
//         make_layout(make_shape(_64, _32), LayoutRight{}));
//     const std::string text = report(explain(plan));
//     // "TMA store of f32: runs ..."
#pragma once

#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma/detail/explain_layout.hpp>
#include <gantry/tma/explain.hpp>
#include <gantry/tma/explain_im2col.hpp>

namespace gantry {

struct ReportOptions {
  std::size_t width = 110;             // characters in a line
  std::size_t most_instructions = 32;  // shown
};

namespace tma_detail {

class ReportWriter {
 public:
  explicit ReportWriter(const ReportOptions& options) : options_(options) {}

  std::string text;

  void heading(std::string_view title) { text.append(text.empty() ? "" : "\n").append(title) += '\n'; }
  void line(std::string_view sentence) { append_wrapped(text, sentence, 0, options_.width); }
  void named(std::string_view name, std::string_view value, std::size_t column = 20) {
    append_named(text, name, value, column, options_.width);
  }

  void objections(const std::vector<TmaObjection>& all) {
    if (all.empty()) return;
    heading(all.size() == 1 ? "Why it does not run"
                            : "Why it does not run: " + number(static_cast<std::int64_t>(all.size())) + " reasons");
    std::size_t column = 0;
    for (const TmaObjection& o : all) column = std::max(column, o.rule.size() + 4);
    for (const TmaObjection& o : all) {
      named(o.rule, o.on_hopper_only ? o.sentence + " (the plan itself stands: Hopper does not run it)" : o.sentence,
            column);
    }
  }

  void steps(const std::vector<TmaStepText>& all) {
    if (all.empty()) return;
    heading("Steps");
    for (const TmaStepText& s : all) {
      named(s.name, s.value);
      text.append(20, ' ');
      append_wrapped(text, s.what, 20, options_.width);
    }
  }

  void fields(const std::vector<TmaFieldText>& all) {
    if (all.empty()) return;
    heading("Tensor map");
    std::size_t values = 0;
    for (const TmaFieldText& f : all) values = std::max(values, f.value.size());
    for (const TmaFieldText& f : all) named(f.name, padded(f.value, values) + "  " + f.meaning, 22);
  }

  void reads(const SharedReads& r) {
    if (r.row.worst == 0 && r.column.worst == 0) return;
    heading("Bank conflicts of shared memory, in wavefronts of the worst phase (1: none)");
    const auto one = [this](const char* name, const BankPasses& p) {
      if (p.worst > 0) named(name, number(p.worst), 44);
    };
    one("along rows, 16 bytes per lane", r.row);
    one("down columns, 16 bytes per lane (ldmatrix)", r.column);
    one("down columns, one element per lane", r.element);
  }

  void advice(const std::vector<TmaAdvice>& all) {
    if (all.empty()) return;
    heading("Advice");
    for (const TmaAdvice& a : all) {
      named(to_text(a.level), sentence(a.what), 12);
      named("", sentence(a.why), 12);
      named("", "-> " + sentence(a.change), 12);
    }
  }

  void instructions(const TextTable& table, std::int64_t shown, std::int64_t count) {
    table.append_to(text);
    if (shown < count) line("  ... and " + number(count - shown) + " more");
  }

  std::size_t most_instructions() const { return options_.most_instructions; }

 private:
  ReportOptions options_;
};

// "multicast load", "reduction by add".
inline std::string plain_name(TmaOp op) {
  if (op == TmaOp::load_multicast) return "multicast load";
  if (op == TmaOp::load_im2col_multicast) return "im2col multicast load";
  const std::string name = to_text(op);
  if (is_im2col(op)) return "im2col " + name.substr(0, name.find('_'));
  return is_reduce(op) ? "reduction by " + name.substr(name.find('_') + 1) : name;
}

inline std::string mask_text(std::uint16_t mask) {
  std::string out;
  for (int bit = 15; bit >= 0; --bit) {
    const bool set = (mask >> bit & 1) != 0;
    if (set || !out.empty()) out += set ? '1' : '0';
  }
  return out.empty() ? "-" : "0b" + out;
}

// `part`: what each of the CTAs issues its own of.
inline std::string sharing_text(TmaOp op, std::int64_t ctas, const char* part) {
  if (ctas < 2) return is_multicast(op) ? "one CTA, named by a mask of its own" : "one CTA, no multicast";
  return number(ctas) + " CTAs share the tile: each issues its part of every " + part + ", and all receive it";
}

inline std::string summary(const TmaExplanation& e) {
  const TmaPlan& plan = e.plan;
  const std::int64_t each = e.instruction_count / static_cast<std::int64_t>(plan.num_multicast);
  std::string out = number(e.tile_bytes) + " bytes by " + counted(each, "instruction") + " of " +
                    number(plan.bytes_per_instruction());
  if (plan.num_multicast > 1) out += " in each of " + number(plan.num_multicast) + " CTAs";
  if (is_prefetch(plan.op)) return out + ", into L2";
  return is_load(plan.op) ? out + "; the barrier of a CTA expects " + number(e.tile_bytes) : out;
}

inline TextTable instruction_table(const TmaExplanation& e, std::size_t most) {
  TextTable table(
      {{"CTA", true}, {"#", true}, {"coordinates"}, {"shared", true}, {"bytes", true}, {"outside", true}, {"mask"}});
  const int rank = clamped_rank(e.plan.descriptor);
  for (std::size_t i = 0; i < e.instructions.size() && i < most; ++i) {
    const TmaInstructionText& at = e.instructions[i];
    const bool shared = !is_prefetch(e.plan.op);
    table.add({number(at.cta), number(at.index), list_of(at.coordinates, rank),
               shared ? '+' + number(at.shared_offset) : "-", number(at.bytes),
               e.plan.bound ? number(at.bytes - at.bytes_inside) : "?", mask_text(at.cta_mask)});
  }
  return table;
}

inline TextTable instruction_table(const Im2colExplanation& e, std::size_t most) {
  const bool stores = is_store(e.plan.op);
  TextTable table({{"CTA", true},
                   {"#", true},
                   {"tap"},
                   {"coordinates"},
                   {"offsets"},
                   {"shared", true},
                   {"bytes", true},
                   {stores ? "pixels left out" : "pixels filled", true},
                   {"mask"}});
  const int axes = spatial_rank(e.plan.map);
  for (std::size_t i = 0; i < e.instructions.size() && i < most; ++i) {
    const Im2colInstructionText& at = e.instructions[i];
    std::int32_t offsets[kTmaMaxSpatialRank] = {at.offsets[0], at.offsets[1], at.offsets[2]};
    table.add({number(at.cta), number(static_cast<std::int64_t>(i) / e.plan.ctas), list_of(at.tap, axes),
               list_of(at.coordinates, axes + 2), stores ? "-" : list_of(offsets, axes),
               is_prefetch(e.plan.op) ? "-" : '+' + number(at.shared_offset), number(at.bytes),
               number(std::int64_t{e.plan.map.pixels_per_column} - at.pixels_inside), mask_text(at.cta_mask)});
  }
  return table;
}

}  // namespace tma_detail

inline std::string report(const TmaExplanation& e, const ReportOptions& options = {}) {
  using tma_detail::number;
  using tma_detail::text_of;
  tma_detail::ReportWriter out(options);
  const TmaPlan& plan = e.plan;
  out.line("TMA " + tma_detail::plain_name(plan.op) + " of " + to_text(plan.element) +
           (plan.tma_element == plan.element ? "" : std::string(", moved as ") + to_text(plan.tma_element)) +
           (!e.ok()      ? ": does not run"
            : plan.bound ? ": runs"
                         : ": runs with tensors that keep the rules of tensor maps, which bind judges"));
  out.named("global", text_of(plan.gmem));
  out.named("shared", text_of(plan.smem));
  out.named("tile", text_of(plan.cta_tiler));
  out.named("cluster", tma_detail::sharing_text(plan.op, static_cast<std::int64_t>(plan.num_multicast), "box"));
  if (e.ok() && !e.instructions.empty()) {
    out.named("moves", tma_detail::summary(e));
    if (!is_prefetch(plan.op))
      out.named("shared memory", number(e.shared_bytes) + " bytes, aligned to " + number(e.alignment));
  }
  out.objections(e.objections);
  out.steps(e.steps);
  out.fields(e.fields);
  if (!e.instructions.empty()) {
    const auto shown = static_cast<std::int64_t>(std::min(e.instructions.size(), out.most_instructions()));
    out.heading("Instructions of tile " + std::string(to_text(e.tile, {.marks = false}).c_str()) + ", " + e.ptx);
    out.instructions(tma_detail::instruction_table(e, out.most_instructions()), shown, e.instruction_count);
  } else if (e.has_box()) {
    out.heading("Instructions");
    out.line("  known when a tensor is bound: coordinates scale with its strides");
  }
  if (!is_prefetch(plan.op)) out.reads(e.reads);
  out.advice(e.advice);
  return std::move(out.text);
}

inline std::string report(const Im2colExplanation& e, const ReportOptions& options = {}) {
  using tma_detail::list_of;
  using tma_detail::number;
  tma_detail::ReportWriter out(options);
  const TmaDescriptorParams& map = e.plan.map;
  out.line("TMA " + tma_detail::plain_name(e.plan.op) + " of " + to_text(map.data_type) +
           (e.ok() ? ": runs" : ": does not run"));
  out.named(is_store(e.plan.op) ? "output" : "activation",
            list_of(map.dims, clamped_rank(map)) + ", channels first, images last");
  out.named("filter", list_of(e.plan.filter, spatial_rank(map)) + " along W, H, D");
  out.named("tile", number(e.plan.tile_pixels()) + " pixels x " + number(map.channels_per_pixel) + " channels");
  out.named("cluster", tma_detail::sharing_text(e.plan.op, e.plan.ctas, "column"));
  if (e.ok()) {
    out.named("moves", tma_detail::counted(e.instruction_count / e.plan.ctas, "instruction") + " of " +
                           number(transaction_bytes(map)) + " bytes" +
                           (e.plan.ctas > 1 ? " in each of " + number(e.plan.ctas) + " CTAs" : std::string()) +
                           " for each tile of pixels");
    if (!is_prefetch(e.plan.op))
      out.named("shared memory", number(e.shared_bytes) + " bytes, aligned to " + number(e.alignment));
  }
  out.objections(e.objections);
  out.steps(e.steps);
  out.fields(e.fields);
  if (e.ok()) {
    const auto shown = static_cast<std::int64_t>(std::min(e.instructions.size(), out.most_instructions()));
    out.heading("Instructions of pixel tile " + number(e.pixel_tile) + ", " + e.ptx);
    out.instructions(tma_detail::instruction_table(e, out.most_instructions()), shown, e.instruction_count);
    if (!is_prefetch(e.plan.op)) out.reads(e.reads);
  }
  out.advice(e.advice);
  return std::move(out.text);
}

}  // namespace gantry
