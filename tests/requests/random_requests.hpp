// Random requests for GEMMs and epilogues, from a seed. Most fields are possible values that may not go together; some
// are impossible. A graph is what its text says.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/scaled.hpp>
#include <gantry/epilogue/fusion/spans.hpp>
#include <gantry/gemm/options.hpp>

#include "../epilogue/fusion/random_graph.hpp"

namespace gantry::test {

struct Fusion {
  std::string text;
  fusion::Graph graph{};
};
struct GemmRequest {
  GemmOptions options{};
  Fusion fusion{};
  // As the command line is asked: "row" and "tensor" are scales that the epilogue multiplies by. `fusion` has them, and
  // `written` has not.
  std::string scale_a{}, scale_b{};
  std::string written{};
};
struct EpilogueRequest {
  CollectiveBuilder builder{};
  Fusion fusion{};
};

class RandomRequests {
 public:
  explicit RandomRequests(std::uint64_t seed) : random_(seed) {}

  // The staging of the epilogue and alignments can be asked for by C++ alone; `staged` says whether they may be.
  GemmRequest gemm(bool staged = true) {
    GemmRequest out;
    out.fusion = fusion(chance(75));
    if (chance(20)) out.fusion = special_fusion();
    out.written = out.fusion.text;
    GemmOptions& o = out.options;
    choose_operands(o, out.fusion.graph);
    if (chance(70)) o.tile = {one_of({64, 64, 128, 128, 128, 192, 256}), 8 * (1 + below(32)), 0};
    if (chance(40) && o.tile.n > 0) o.tile.n = one_of({64, 128, 192, 256});
    if (chance(2)) o.tile = {one_of({32, 96, 160, 512}), 64, 0};
    if (chance(2)) o.tile = {128, one_of({4, 20, 264}), 0};
    if (chance(20) && o.tile.n > 0) o.tile.k = chance(90) ? 1024 / bits_or(o.a, 16) : one_of({16, 96});
    if (chance(70)) o.cluster = {one_of({1, 1, 2}), one_of({1, 1, 2})};
    if (chance(2)) o.cluster = {one_of({1, 3, 4}), one_of({1, 3, 8})};
    if (chance(30)) o.stages = one_of({2, 2, 3, 3, 4, 5, 6, 8});
    if (chance(2)) o.stages = one_of({1, 12, 33});
    o.schedule = one_of({GemmSchedule::automatic, GemmSchedule::cooperative, GemmSchedule::pingpong});
    if (chance(30)) o.warpgroups = one_of({1, 2, 2, 3, 3});
    o.promote = bits_or(o.a, 16) == 8 ? chance(30) : chance(2);
    o.split = one_of({SplitMode::automatic, SplitMode::automatic, SplitMode::automatic, SplitMode::none,
                      SplitMode::automatic, SplitMode::reduce_add});
    if (staged && chance(40)) stage(o);
    if (staged && chance(15)) align(o);
    if (out.fusion.graph.d < 0 && chance(30)) o.d = ElementType::void_;
    if (out.fusion.graph.gated()) choose_gate(o);
    // Rows of 8 bytes, all that such a tile would hold, TMA cannot write.
    if (fusion::longest_span(out.fusion.graph) == fusion::kWholeRow && o.tile.n == 8) o.tile.n = 16;
    if (chance(42)) choose_features(out);
    return out;
  }

  EpilogueRequest epilogue() {
    EpilogueRequest out;
    CollectiveBuilder& b = out.builder;
    out.fusion = fusion(false);
    b.flavour = one_of({PolicyFlavour::gantry, PolicyFlavour::gantry, PolicyFlavour::cutlass_compatible});
    b.schedule =
        one_of({EpilogueSchedule::automatic, EpilogueSchedule::tma_warp_specialized,
                EpilogueSchedule::tma_warp_specialized_cooperative, EpilogueSchedule::no_smem_warp_specialized});
    if (chance(5)) b.schedule = static_cast<EpilogueSchedule>(below(kEpilogueScheduleCount));
    b.tile = {64 * (1 + below(4)), 8 * (1 + below(32)), 64};
    if (chance(50)) b.tile = {one_of({64, 128, 128, 256}), one_of({32, 64, 128, 192}), 64};
    if (chance(3)) b.tile = {one_of({-64, 1, 96, 128, 1088}), one_of({-8, 4, 20, 128}), 64};
    if (chance(30)) b.epi_tile = {64 * (1 + below(2)), 8 * (1 + below(16))};
    choose_tensors(b, out.fusion.graph);
    if (chance(10)) b.align_c = one_of({1, 2, 8, 16, 32});
    if (chance(10)) b.align_d = one_of({1, 2, 8, 16, 32});
    if (chance(10)) b.warpgroups = one_of({-1, 1, 1, 2, 2, 3, 4, 5});
    if (chance(30)) b.stages_c = 1 + below(4);
    if (chance(30)) b.stages_d = 1 + below(3);
    if (chance(15)) b.fragment_size = 1 << below(6);
    if (chance(2)) b.stages_c = one_of({-1, 33});
    b.reuse_smem_c = one_of({Choice::automatic, Choice::automatic, Choice::no, Choice::yes});
    b.delay_tma_store = one_of({Choice::automatic, Choice::automatic, Choice::no, Choice::yes});
    return out;
  }

  // With arguments of any element now and then, which is often refused.
  Fusion fusion(bool gives_d) {
    const int kind = below(10);
    if (kind < 2) return from_text("d = acc");
    if (kind < 3)
      return from_text(one_of({"d = acc + c", "d = alpha * acc + beta * c", "d = relu(acc + row(bias))",
                               "aux:bf16 = acc; d = gelu(aux)", "d = acc; s = reduce_col_add(acc)"}));
    fusion::Graph graph = fusion::testing::random_graph(random_(), {.most_functions = 6, .void_d = !gives_d});
    if (chance(2)) graph = fusion::testing::random_graph(random_(), {.most_functions = 24});
    if (chance(10)) graph = fusion::testing::random_graph(random_(), with_spans(gives_d));
    for (int i = 0; i < graph.argument_count; ++i) {
      if (graph.is_seed(i) || !chance(4)) continue;
      const ElementType element = any_element();
      const bool bit_of_a_block = element == ElementType::u1 && fusion::is_by_block(graph.arguments[i]);
      if (!bit_of_a_block) graph.arguments[i].element = element;  // no graph has such a store
    }
    return from_text(fusion::print(graph).c_str());
  }

 private:
  static Fusion from_text(const std::string& text) { return {text, fusion::parse_graph(text).graph}; }

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }
  // But void.
  ElementType any_element() {
    ElementType e = ElementType::void_;
    while (e == ElementType::void_) e = kElementTypes[below(static_cast<int>(std::size(kElementTypes)))].type;
    return e;
  }
  ElementType usual_element() {
    using E = ElementType;
    return chance(6)
               ? any_element()
               : one_of({E::bf16, E::bf16, E::f16, E::f32, E::f32, E::e4m3, E::e5m2, E::s8, E::u8, E::s32, E::s16});
  }
  LayoutTag layout() {
    const LayoutTag tag = chance(70) ? kRowMajor : kColumnMajor;
    return chance(2) ? one_of({kTensorNWC, kTensorNHWC, per_group(kRowMajor), per_group(kTensorNHWC)}) : tag;
  }
  static int bits_or(ElementType element, int otherwise) {
    const int bits = element_bits(element);
    return bits > 0 ? bits : otherwise;
  }

  void choose_operands(GemmOptions& o, const fusion::Graph& graph) {
    using E = ElementType;
    o.a = chance(2) ? any_element() : one_of({E::bf16, E::bf16, E::f16, E::tf32, E::e4m3, E::e5m2, E::s8, E::u8});
    o.b = o.a;
    if (bits_or(o.a, 16) == 8 && chance(50)) o.b = mma_kind(o.a) == MmaKind::fp8 ? E::e5m2 : E::u8;
    if (chance(2)) o.b = any_element();
    o.d = usual_element();
    if (graph.uses_source() ? chance(70) : chance(5)) o.c = chance(50) ? o.d : usual_element();
    if (bits_or(o.a, 16) == 16 ? chance(30) : chance(2)) o.major_a = Major::MN;
    if (bits_or(o.b, 16) == 16 ? chance(30) : chance(2)) o.major_b = Major::MN;
    o.layout_c = layout();
    o.layout_d = layout();
  }

  fusion::testing::RandomGraphOptions with_spans(bool gives_d) {
    return {.most_functions = 6,
            .void_d = !gives_d,
            .longest_head = one_of({0, 2, 64}),
            .dropout = chance(50),
            .block = one_of({0, 16, 32, 128})};
  }

  // What random graphs have not: gates, rows that lie in one tile, scales of quantised outputs, values of 16 bits.
  Fusion special_fusion() {
    switch (below(4)) {
      case 0:
        return from_text(
            one_of({"d = silu(gate(acc)) * up(acc)", "d = gelu_tanh(gate(acc) + row(bias)) * up(acc)",
                    "aux:bf16 = gate(acc); d = silu(aux) * up(acc)", "d = relu(gate(acc)) * up(acc) + c"}));
      case 1:
        return from_text(
            one_of({"d = softmax(acc)", "d = softmax(0.125 * acc + row(bias))", "d = top_k_softmax(acc, 2)",
                    "scales = block_scale(acc:e4m3); d = acc * rcp(scales)"}));
      case 2:
        return from_text(one_of({"let x = acc + row(bias); scales = block_scale(x:e4m3, 128); d = x * rcp(scales)",
                                 "scales = block_scale(acc:e4m3, 64); d = acc * rcp(scales)",
                                 "d = rotary_halves(acc, row(cosines), row(sines), 64)"}));
      default:
        break;
    }
    const char* const compute = one_of({"compute f16; ", "compute bf16; "});
    const Fusion of = fusion(true);
    return from_text(compute + of.text);
  }

  void align(GemmOptions& o) {
    const auto elements = [&] { return chance(3) ? -1 : one_of({0, 1, 1, 2, 4, 8}); };
    o.align_c = elements();
    o.align_d = elements();
    o.align_aux = elements();
  }

  // One of the options that few requests have, or two. Mostly the others are made such that it can be.
  void choose_features(GemmRequest& r) {
    const int features = chance(80) ? 1 : 2;
    for (int i = 0; i < features; ++i) {
      switch (below(10)) {
        case 0:
          choose_groups(r.options);
          break;
        case 1:
          r.options.gather_a = true;
          if (chance(80)) make_gatherable(r.options);
          break;
        case 2:
          choose_scatter(r.options);
          break;
        case 3:
          choose_swap(r.options);
          break;
        case 4:
          r.options.constant = one_of({ConstantOperand::a, ConstantOperand::b});
          break;
        case 5:
        case 8:
          choose_scales(r);
          break;
        case 6:
          choose_cluster_along_k(r.options);
          break;
        case 7:
          choose_addition(r);
          break;
        default:
          r.options.groups = GemmGrouping::pointer_array;
      }
    }
  }

  void choose_gate(GemmOptions& o) {
    if (chance(50)) o.gate = GemmGate::interleaved;
    if (chance(80)) o.major_b = Major::K;
    if (chance(80) && o.tile.n > 0) o.tile.n = one_of({64, 128, 192});
  }

  // D += A B^T and nothing else, by TMA. Sometimes a gate is asked for that the epilogue has not.
  void choose_addition(GemmRequest& r) {
    GemmOptions& o = r.options;
    if (chance(20)) {
      o.gate = GemmGate::interleaved;
      return;
    }
    o.split = SplitMode::reduce_add;
    r.fusion = from_text("d = acc");
    r.written = r.fusion.text;
    r.scale_a = r.scale_b = "";
    if (chance(20)) return;
    o.c = ElementType::void_;
    o.d = mma_kind(o.a) == MmaKind::int8 ? ElementType::s32 : one_of({ElementType::f32, ElementType::bf16});
    o.layout_d = kRowMajor;
    o.align_d = 0;
    o.schedule = one_of({GemmSchedule::automatic, GemmSchedule::cooperative});
    if (o.warpgroups == 3) o.warpgroups = 0;
    o.epilogue = {};
  }

  void choose_groups(GemmOptions& o) {
    o.groups = one_of({GemmGrouping::along_m, GemmGrouping::along_k});
    if (chance(20)) return;
    if (o.groups == GemmGrouping::along_m) {
      o.major_a = Major::K;
      o.layout_c = o.layout_d = kRowMajor;
    } else {
      o.a = o.b = chance(50) ? ElementType::f16 : ElementType::bf16;
      o.major_a = o.major_b = Major::MN;
      o.promote = false;
      if (o.tile.k != 0) o.tile.k = 64;
    }
    if (o.warpgroups == 3) o.warpgroups = 0;
    if (o.split == SplitMode::reduce_add) o.split = SplitMode::none;
  }

  void make_gatherable(GemmOptions& o) {
    o.major_a = Major::K;
    if (o.cluster.n == 2) o.cluster.n = 1;
    if (o.warpgroups == 3) o.warpgroups = 0;
  }

  void choose_scatter(GemmOptions& o) {
    o.scatter_d = one_of({RowScatter::store, RowScatter::add, RowScatter::ordered});
    if (chance(20)) return;
    o.layout_d = kRowMajor;
    if (o.scatter_d != RowScatter::store) o.d = ElementType::f32;
    if (o.split == SplitMode::reduce_add) o.split = SplitMode::automatic;
    if (o.epilogue.reuse == Choice::yes) o.epilogue.reuse = Choice::no;
  }

  // Everything was drawn for a kernel of D = A B^T. Groups along M are asked for as such from either side.
  void choose_swap(GemmOptions& o) {
    if (o.groups == GemmGrouping::along_m && o.tile.n != 0) o.tile = {one_of({8, 16, 32, 64}), one_of({64, 128}), 0};
    if (chance(20) || o.groups == GemmGrouping::along_m) {
      o.swapped = true;
    } else {
      o = swapped(o);
    }
  }

  // Blocks by the main loop, rows and the whole tensor by the epilogue.
  void choose_scales(GemmRequest& r) {
    GemmOptions& o = r.options;
    if (o.scaled() || !r.scale_a.empty() || !r.scale_b.empty()) return;
    if (chance(40)) return scale_by_epilogue(r);
    o.scale_a = one_of({ScaleMode::none, ScaleMode::row_block, ScaleMode::block});
    o.scale_b = one_of({ScaleMode::none, ScaleMode::row_block, ScaleMode::block, ScaleMode::block});
    if (chance(10)) return;
    o.a = chance(70) ? ElementType::e4m3 : ElementType::e5m2;
    o.b = chance(70) ? o.a : ElementType::e4m3;
    o.major_a = o.major_b = Major::K;
    if (o.tile.n != 0) o.tile = {one_of({64, 128}), one_of({32, 64, 96, 128}), 0};
    if (o.warpgroups == 3) o.warpgroups = 0;
  }

  void scale_by_epilogue(GemmRequest& r) {
    const auto scale = [&](std::string& how, fusion::ArgumentKind vector, const char* name) {
      how = one_of({"row", "tensor", "none"});
      if (how == "none") return;
      const fusion::ArgumentKind kind = how == "row" ? vector : fusion::ArgumentKind::scalar;
      r.fusion.graph = fusion::with_scaled_accumulators(r.fusion.graph, kind, name);
      r.fusion.text = fusion::print(r.fusion.graph).c_str();
    };
    const bool room =
        r.fusion.graph.node_count < fusion::kMaxNodes - 8 && r.fusion.graph.argument_count < fusion::kMaxArguments - 2;
    if (!room || !reads_accumulators(r.fusion.graph)) return;
    scale(r.scale_a, fusion::ArgumentKind::column, "scale_a");
    scale(r.scale_b, fusion::ArgumentKind::row, "scale_b");
  }

  static bool reads_accumulators(const fusion::Graph& graph) {
    for (int i = 0; i < graph.node_count; ++i) {
      const fusion::NodeKind kind = graph.nodes[i].kind;
      const bool half = kind == fusion::NodeKind::gate || kind == fusion::NodeKind::up;
      if (half || kind == fusion::NodeKind::accumulator) return true;
    }
    return false;
  }

  void choose_cluster_along_k(GemmOptions& o) {
    o.cluster = {1, 1, chance(95) ? one_of({2, 2, 4, 8}) : one_of({3, 16})};
    if (chance(20)) return;
    o.schedule = one_of({GemmSchedule::automatic, GemmSchedule::cooperative});
    o.tile = {64, one_of({16, 32, 64, 128}), 0};
    o.warpgroups = 0;
    o.stages = 0;
    if (o.split == SplitMode::reduce_add) o.split = SplitMode::automatic;
    o.epilogue = {};
  }

  void stage(GemmOptions& o) {
    GemmEpilogueOptions& e = o.epilogue;
    if (chance(70)) e.epi_n = chance(80) ? one_of({8, 16, 32, 64, 128}) : 4 * (1 + below(40));
    if (chance(50)) e.stages_c = 1 + below(4);
    if (chance(50)) e.stages_d = 1 + below(4);
    if (chance(2)) e.stages_c = one_of({-1, 9});
    if (chance(30)) e.reuse = one_of({Choice::no, Choice::yes});
    if (chance(30)) e.delay_tma_store = one_of({Choice::no, Choice::yes});
    if (chance(30)) e.epi_m = chance(90) ? one_of({64, 128}) : one_of({32, 192});
  }

  void choose_tensors(CollectiveBuilder& b, const fusion::Graph& graph) {
    b.d = graph.d >= 0 ? usual_element() : ElementType::void_;
    if (chance(3)) b.d = one_of({ElementType::void_, ElementType::f16});
    if (b.d == ElementType::void_ && chance(80)) b.aux = usual_element();
    if (graph.uses_source() ? chance(95) : chance(10)) b.c = chance(50) ? b.d : usual_element();
    b.layout_c = layout();
    b.layout_d = layout();
    if (chance(10)) b.acc = one_of({ElementType::s32, ElementType::f16, ElementType::f64, ElementType::s8});
    if (chance(8)) {
      b.compute = one_of({ElementType::f16, ElementType::bf16, ElementType::bf16, ElementType::cf32, ElementType::s32,
                          ElementType::void_});
    }
    if (b.compute == ElementType::s32) b.acc = b.d = ElementType::s32;
    if (b.compute == ElementType::cf32 && chance(80)) b.d = b.acc = ElementType::cf32;
  }

  std::mt19937_64 random_;
};

}  // namespace gantry::test
