// What is fused, said in other ways than by a graph: an operation by name, and callbacks of one's own at every point of
// the contract; and the step between registers before D is written.
#include <algorithm>

#include <gmock/gmock.h>

#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/operations.hpp>

#include "../../rules/rule_names.hpp"
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;
using testing::ElementsAre;

constexpr EpiloguePolicy policy_of(E c, E d, bool delay = false, LayoutTag layout_d = kRowMajor) {
  return CollectiveBuilder{.schedule = S::tma_warp_specialized,
                           .tile = {64, 64, 64},
                           .epi_tile = {64, 32},
                           .c = c,
                           .d = d,
                           .layout_d = layout_d,
                           .delay_tma_store = delay ? Choice::yes : Choice::no}
      .policy();
}

// ---- Operations by name

struct ByName {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16, E::bf16);
  static constexpr fusion::NamedOperation operation{
      .name = "LinCombPerRowBiasEltActAux",
      .options = {.activation = fusion::Function::silu, .bias = E::bf16, .aux = E::f16, .aux_row_major = false}};
};

TEST(EpilogueCallbacks, AnOperationIsTakenByItsName) {
  constexpr fusion::Graph graph = fusion::CallbacksBuilder<ByName>::graph;
  static_assert(graph == fusion::lin_comb_per_row_bias_elt_act_aux(ByName::operation.options));
  Problem problem(graph, options_for<ByName>({.shape = {.m = 80, .n = 72}}));
  expect_agreement<ByName>(problem, problem.expected());
}

template <E d, E aux>
struct Scaled {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16, d);
  static constexpr fusion::NamedOperation operation{.name = "ScaledLinCombPerColBiasEltActAmaxAux",
                                                    .options = {.aux = aux}};
};
TEST(EpilogueCallbacks, OutputsThatAreNotFp8AreNotScaled) {
  const auto arguments = [](const fusion::Graph& graph) {
    std::string out;
    for (int i = 0; i < graph.argument_count; ++i) out += std::string(graph.arguments[i].name.text) + " ";
    return out;
  };
  const std::string inputs = "scale_a scale_b alpha scale_c beta bias ";
  EXPECT_EQ(arguments(fusion::CallbacksBuilder<Scaled<E::bf16, E::bf16>>::graph), inputs + "aux ");
  EXPECT_EQ(arguments(fusion::CallbacksBuilder<Scaled<E::e4m3, E::bf16>>::graph), "scale_d " + inputs + "aux amax_d ");
  EXPECT_EQ(arguments(fusion::CallbacksBuilder<Scaled<E::bf16, E::e5m2>>::graph), inputs + "scale_aux aux amax_aux ");
}

TEST(EpilogueCallbacks, AnAuxiliaryTensorTravelsAsItsOwnElementAndMajorSay) {
  static constexpr TileMN tile{64, 32};
  constexpr auto chosen = [](const char* text) { return fusion::choose_auxiliary(fusion::graph(text), tile); };
  constexpr auto out = chosen("d = acc; y:f16 col = acc");
  EXPECT_TRUE(out.staged && out.copy_op == CopyOp::SM90_U16x8_STSM_T);
  EXPECT_EQ(out.smem_atom, smem_atom(Major::MN, SwizzleMode::b128, 16));
  constexpr auto in = chosen("d = acc + load(x:bf16)");
  EXPECT_TRUE(in.staged && in.copy_op == CopyOp::SM75_U32x4_LDSM_N);
  EXPECT_EQ(in.smem_atom, smem_atom(Major::K, SwizzleMode::b64, 16));
  constexpr auto wide = chosen("d = acc; y = acc");
  EXPECT_TRUE(wide.staged && wide.copy_op == CopyOp::auto_vectorizing);
  constexpr auto bits = chosen("d = acc; y:u1 = acc");
  EXPECT_TRUE(bits.argument == 0 && !bits.staged && bits.copy_op == CopyOp::none);
  EXPECT_EQ(chosen("d = acc + row(r)").argument, -1);
}

// ---- Ready callbacks

std::vector<std::string> trace;

void note(const char* what, int em, int en) {
  trace.push_back(std::string(what) + " " + std::to_string(em) + "," + std::to_string(en));
}

// Writes down where it is called, by one math thread and by the thread that loads.
template <class Config>
struct Traced : fusion::EmptyCallbacks {
  static constexpr bool kUsesSource = true;
  struct Load : fusion::EmptyCallbacks::Load {
    using EmptyCallbacks::Load::Load;
    void begin() { trace.emplace_back("load begin"); }
    void step(int, std::uint64_t*, int em, int en) { note("load step", em, en); }
    void end() { trace.emplace_back("load end"); }
  };
  struct Store : fusion::EmptyCallbacks::Store {
    using EmptyCallbacks::Store::Store;
    bool writes() const { return context.thread == 0; }
    void begin() {
      if (writes()) trace.emplace_back("begin");
    }
    void begin_loop(int em, int en) {
      if (writes()) note("begin_loop", em, en);
    }
    void previsit(int, int em, int en) {
      if (writes()) note("previsit", em, en);
    }
    template <int F>
    void visit(const float (&acc)[F], const float (&c)[F], float (&d)[F], int first, int em, int en) {
      if (writes() && first == 0) note("visit", em, en);
      for (int k = 0; k < F; ++k) d[k] = acc[k] + c[k];
    }
    template <class Sync>
    void reduce(int em, int en, bool is_last, const Sync&) {
      if (writes()) note(is_last ? "reduce last" : "reduce", em, en);
    }
    void postreduce(int, int em, int en) {
      if (writes()) note("postreduce", em, en);
    }
    void tma_store(int, int em, int en) {
      if (writes()) note("tma_store", em, en);
    }
    void end_loop(int em, int en) {
      if (writes()) note("end_loop", em, en);
    }
    template <class Sync>
    void end(const Sync&) {
      if (writes()) trace.emplace_back("end");
    }
  };
};

template <bool delay>
struct TracedConfig {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16, E::f32, delay);
  template <class FusionConfig>
  using Callbacks = Traced<FusionConfig>;
};

template <bool delay>
std::vector<std::string> points(bool loads) {
  const fusion::Graph graph = fusion::graph("d = acc + c");  // what the callbacks compute, for the reference
  Problem problem(graph, options_for<TracedConfig<delay>>({.shape = {.m = 64, .n = 64}}));
  trace.clear();
  KernelRun<TracedConfig<delay>> run(problem, 1);
  EXPECT_TRUE(run.reasons().ok());
  const Report report = run({});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(problem.wrong(problem.expected()), "");
  std::vector<std::string> out;
  for (const std::string& t : trace) {
    if ((t.substr(0, 4) == "load") == loads) out.push_back(t);
  }
  return out;
}

TEST(EpilogueCallbacks, AreCalledAtEveryPointInTheOrderOfTheContract) {
  EXPECT_THAT(points<false>(true), ElementsAre("load begin", "load step 0,0", "load step 0,1", "load end"));
  EXPECT_THAT(points<false>(false),
              ElementsAre("begin", "begin_loop 0,0", "previsit 0,0", "visit 0,0", "reduce 0,0", "postreduce 0,0",
                          "tma_store 0,0", "end_loop 0,0", "begin_loop 0,1", "previsit 0,1", "visit 0,1",
                          "reduce last 0,1", "postreduce 0,1", "tma_store 0,1", "end_loop 0,1", "end"));
}
TEST(EpilogueCallbacks, StoreOneSubtileLateWhereStoresAreDelayed) {
  EXPECT_THAT(points<true>(false),
              ElementsAre("begin", "begin_loop 0,0", "previsit 0,0", "visit 0,0", "reduce 0,0", "postreduce 0,0",
                          "end_loop 0,0", "begin_loop 0,1", "previsit 0,1", "visit 0,1", "tma_store 0,0",
                          "reduce last 0,1", "postreduce 0,1", "end_loop 0,1", "tma_store 0,1", "end"));
}

// d = table[(m + n) % 64] * acc, and how many elements were positive: shared memory of its own behind a sync,
// arguments, workspace and reasons of its own.
template <class Config>
struct Table : fusion::EmptyCallbacks {
  static constexpr int kSharedBytes = 64 * 4, kSharedAlignment = 16;
  struct Arguments {
    const float* table = nullptr;
  };
  struct Params {
    const float* table;
    std::uint32_t* positive;
  };
  static std::vector<std::string> can_implement(const EpilogueProblem&, const Arguments& a) {
    if (a.table == nullptr) return {"the table was not given"};
    return {};
  }
  static std::size_t get_workspace_size(const EpilogueProblem&, const Arguments&) { return 16; }
  template <class Encode>
  static Params to_underlying_arguments(const EpilogueProblem&, const Arguments& a, const Encode&, void* workspace) {
    return {a.table, static_cast<std::uint32_t*>(workspace)};
  }

  struct Store : fusion::EmptyCallbacks::Store {
    Store(const Params& p, unsigned char* s, const fusion::TileContext& c)
        : EmptyCallbacks::Store(p, s, c), params(p), table(reinterpret_cast<float*>(s)) {}
    static constexpr bool begin_sync_needed() { return true; }
    void begin() {
      if (context.thread < 64) {
        arch::st(arch::space_shared, table + context.thread,
                 arch::ld(arch::space_global, params.table + context.thread));
      }
    }
    template <int F>
    void visit(const float (&acc)[F], const float (&)[F], float (&d)[F], int first, int em, int en) {
      constexpr Subtiles tile = Config::tile;
      for (int k = 0; k < F; ++k) {
        const int m = context.at.m * tile.m + em * tile.epi_m + tile.row(context.thread, first + k);
        const int n = context.at.n * tile.n + en * tile.epi_n + tile.column(context.thread, first + k);
        d[k] = arch::ld(arch::space_shared, table + (m + n) % 64) * acc[k];
        if (m < context.m && n < context.n) positive += d[k] > 0 ? 1 : 0;
      }
    }
    template <class Sync>
    void end(const Sync&) {
      arch::red(arch::op_add, arch::space_global, params.positive, positive);
    }
    const Params& params;
    float* table;
    std::uint32_t positive = 0;
  };
};

template <S schedule>
struct TableConfig {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = schedule, .tile = {64, 64, 64}, .d = E::f32}.policy();
  template <class FusionConfig>
  using Callbacks = Table<FusionConfig>;
};

template <class Config>
void expect_table_applied() {
  constexpr int kM = 100, kN = 72;
  std::vector<float> acc(kM * kN), d(kM * kN), table(64);
  for (int i = 0; i < kM * kN; ++i) acc[static_cast<std::size_t>(i)] = static_cast<float>(i % 37) - 18;
  for (int i = 0; i < 64; ++i) table[static_cast<std::size_t>(i)] = i % 3 == 0 ? -0.5f : 2.0f;
  EpilogueArguments<Config> arguments;
  const EpilogueProblem problem{kM, kN, 64};
  arguments.d = {.pointer = d.data(), .stride = kN};
  std::uint64_t workspace[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  const ArgumentReasons missing = can_implement<Config>(problem, arguments);
  ASSERT_THAT(names_of(missing), ElementsAre("callbacks", "workspace_missing"));
  EXPECT_EQ(missing[0].words, "the table was not given");
  EXPECT_EQ(missing[1].nearest, 16);
  EXPECT_THAT(names_of(can_implement<Config>(problem, arguments, reinterpret_cast<char*>(workspace) + 4)),
              ElementsAre("callbacks", "workspace_misaligned"));
  arguments.fusion.table = table.data();
  ASSERT_EQ(get_workspace_size<Config>(problem, arguments), 16u);
  for (const ArgumentReason& reason : can_implement<Config>(problem, arguments, workspace)) {
    FAIL() << describe(reason).c_str();
  }
  using Kernel = EpilogueKernel<Config>;
  for (const SimulatorOptions& options : schedules()) {
    ASSERT_TRUE(initialize_workspace<Config>(Simulator(), problem, arguments, workspace));
    const typename Kernel::Params params{to_underlying_arguments<Config>(problem, arguments, pack_map, workspace),
                                         acc.data()};
    const Report report = Simulator(options).run<Kernel>(
        {.grid = {2}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(typename Kernel::Storage)}, params);
    ASSERT_TRUE(report.clean()) << report.text();
    std::uint64_t positive = 0;
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < kN; ++n) {
        const auto i = static_cast<std::size_t>(m * kN + n);
        const float expected = table[static_cast<std::size_t>((m + n) % 64)] * acc[i];
        ASSERT_EQ(d[i], expected) << m << ", " << n;
        positive += expected > 0 ? 1 : 0;
      }
    }
    EXPECT_EQ(workspace[0], positive);
  }
}
TEST(EpilogueCallbacks, OfOnesOwnHaveArgumentsWorkspaceAndSharedMemory) {
  expect_table_applied<TableConfig<S::tma_warp_specialized>>();
  expect_table_applied<TableConfig<S::no_smem_warp_specialized>>();
}

// d = acc + c less the largest of its column in the subtile: what warps have in common goes through D's buffer, and
// what reduce leaves in the values to D.
template <class Config>
struct BelowTheTop : fusion::EmptyCallbacks {
  static constexpr bool kUsesSource = true;
  struct Store : fusion::EmptyCallbacks::Store {
    using EmptyCallbacks::Store::Store;
    template <int F>
    void visit(const float (&acc)[F], const float (&c)[F], float (&d)[F], int, int, int) {
      for (int k = 0; k < F; ++k) d[k] = acc[k] + c[k];
    }
    template <int N, class Sync>
    void reduce(float (&values)[N], unsigned char* buffer, int, int, bool, const Sync& sync) {
      constexpr Subtiles tile = Config::tile;
      auto* tops = reinterpret_cast<float*>(buffer);  // of each warp's rows
      float top[N];
      for (int i = 0; i < N; ++i) {  // a thread has two rows of a column: its values i and i ^ 2
        const float of_thread = std::max(values[i], values[i ^ 2]);
        const float of_warp = fusion::combine_lanes<fusion::Reduction::max, 16 + 8 + 4>(of_thread);
        if (context.thread % 32 < 4) {
          arch::st(arch::space_shared, tops + context.thread / 32 * tile.epi_n + tile.column(context.thread, i),
                   of_warp);
        }
      }
      sync();
      for (int i = 0; i < N; ++i) {
        top[i] = arch::ld(arch::space_shared, tops + tile.column(context.thread, i));
        for (int warp = 1; warp < tile.threads() / 32; ++warp) {
          const float* of_warp = tops + warp * tile.epi_n + tile.column(context.thread, i);
          top[i] = std::max(top[i], arch::ld(arch::space_shared, of_warp));
        }
      }
      sync();  // D is written where the others have read
      for (int i = 0; i < N; ++i) values[i] -= top[i];
    }
  };
};
template <bool reuse, bool delay>
struct BelowTheTopConfig {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 32},
                                                             .c = E::f32,
                                                             .d = E::f32,
                                                             .stages_c = 3,
                                                             .stages_d = 2,
                                                             .reuse_smem_c = reuse ? Choice::yes : Choice::no,
                                                             .delay_tma_store = delay ? Choice::yes : Choice::no}
                                               .policy();
  template <class FusionConfig>
  using Callbacks = BelowTheTop<FusionConfig>;
};

template <class Config>
void expect_below_the_top() {
  constexpr int kM = 128, kN = 72;
  std::vector<float> acc(kM * kN), c(kM * kN), d(kM * kN), sum(kM * kN);
  for (std::size_t i = 0; i < acc.size(); ++i) {
    acc[i] = static_cast<float>(i * 7919 % 1009);
    c[i] = static_cast<float>(i * 31 % 257);
    sum[i] = acc[i] + c[i];
  }
  EpilogueArguments<Config> arguments;
  const EpilogueProblem problem{kM, kN, 64};
  arguments.c = {.pointer = c.data(), .stride = kN};
  arguments.d = {.pointer = d.data(), .stride = kN};
  ASSERT_TRUE(can_implement<Config>(problem, arguments).ok());
  using Kernel = EpilogueKernel<Config>;
  for (const SimulatorOptions& options : schedules()) {
    const typename Kernel::Params params{to_underlying_arguments<Config>(problem, arguments, pack_map), acc.data()};
    const Report report = Simulator(options).run<Kernel>(
        {.grid = {1}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(typename Kernel::Storage)}, params);
    ASSERT_TRUE(report.clean()) << report.text();
    for (int i = 0; i < kM * kN; ++i) {
      float top = 0;
      for (int row = i / kN / 64 * 64; row < i / kN / 64 * 64 + 64; ++row) {
        top = std::max(top, sum[static_cast<std::size_t>(row * kN + i % kN)]);
      }
      ASSERT_EQ(d[static_cast<std::size_t>(i)], sum[static_cast<std::size_t>(i)] - top) << i / kN << ", " << i % kN;
    }
  }
}
TEST(EpilogueCallbacks, ReduceTheValuesOfASubtileInTheBufferOfD) {
  expect_below_the_top<BelowTheTopConfig<false, true>>();
  expect_below_the_top<BelowTheTopConfig<true, false>>();
}

// ---- Between registers

// Neighbouring columns change places: columns 0 and 1 in a thread, then pairs of columns between lanes.
struct SwapColumns {
  template <class Value, int N>
  static void copy(Value (&values)[N], int /*thread*/) {
    for (int i = 0; i < N; i += 2) {
      const Value left = arch::shfl_xor_sync(arch::kFullWarp, values[i], 1);
      values[i] = arch::shfl_xor_sync(arch::kFullWarp, values[i + 1], 1);
      values[i + 1] = left;
    }
  }
};
template <E d, LayoutTag layout_d>
struct Rearranged : Plain {
  static constexpr EpiloguePolicy policy = policy_of(E::bf16, d, false, layout_d);
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c; y = acc; s = reduce_row_add(acc)");
  using CopyOpR2R = SwapColumns;
};

// D is that of the graph with column n where n ^ 3 was; everything else is as ever.
template <class Config>
void expect_rearranged() {
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 80, .n = 64}, .seed = 1}));
  const auto plain = problem.expected();
  auto swapped = plain;
  for (std::size_t i = 0; i < plain.d.size(); ++i) swapped.d[i] = plain.d[i ^ 3];
  expect_agreement<Config>(problem, swapped);
}
TEST(EpilogueRegisters, AreRearrangedBeforeDIsWritten) {
  expect_rearranged<Rearranged<E::bf16, kRowMajor>>();
  expect_rearranged<Rearranged<E::f32, kColumnMajor>>();
  expect_rearranged<Rearranged<E::e4m3, kRowMajor>>();
}

}  // namespace
}  // namespace gantry::test
