// Random requests for GEMMs and epilogues, from a seed. Most fields are possible values that may not go together; some
// are impossible. A graph is what its text says.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
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
};
struct EpilogueRequest {
  CollectiveBuilder builder{};
  Fusion fusion{};
};

class RandomRequests {
 public:
  explicit RandomRequests(std::uint64_t seed) : random_(seed) {}

  // The schedule of the epilogue can be asked for by C++ alone; `staged` says whether it may be.
  GemmRequest gemm(bool staged = true) {
    GemmRequest out;
    out.fusion = fusion(true);
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
    for (int i = 0; i < graph.argument_count; ++i) {
      if (chance(4)) graph.arguments[i].element = any_element();
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

  void stage(GemmOptions& o) {
    GemmEpilogueOptions& e = o.epilogue;
    if (chance(70)) e.epi_n = chance(80) ? one_of({8, 16, 32, 64, 128}) : 4 * (1 + below(40));
    if (chance(50)) e.stages_c = 1 + below(4);
    if (chance(50)) e.stages_d = 1 + below(4);
    if (chance(2)) e.stages_c = one_of({-1, 9});
    if (chance(30)) e.reuse = one_of({Choice::no, Choice::yes});
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
    if (chance(5)) b.compute = one_of({ElementType::f16, ElementType::cf32, ElementType::s32, ElementType::void_});
    if (b.compute == ElementType::s32) b.acc = b.d = ElementType::s32;
    if (b.compute == ElementType::cf32 && chance(80)) b.d = b.acc = ElementType::cf32;
  }

  std::mt19937_64 random_;
};

}  // namespace gantry::test
