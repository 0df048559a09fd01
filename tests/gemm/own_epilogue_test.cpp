// What the collective takes, in a GEMM on the simulated SM: callbacks of one's own, operations by name, a step between
// registers, delayed stores.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/operations.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// ---- Callbacks of one's own

// d[m, n] = acc[m, n] * factors[m % 8] + n: factors come from memory to shared memory, the column from the tile. Parts
// of tiles that warpgroups store are counted in workspace; `count` says where that is.
template <class Config>
struct Striped : fusion::EmptyCallbacks {
  static constexpr int kSharedBytes = 8 * 4, kSharedAlignment = 16;

  struct Arguments {
    const float* factors = nullptr;
    std::uint32_t** count = nullptr;
  };
  struct Params {
    const float* factors;
    std::uint32_t* count;
  };
  static std::size_t get_workspace_size(const EpilogueProblem&, const Arguments&) { return 4; }
  static std::vector<std::string> can_implement(const EpilogueProblem& problem, const Arguments& arguments) {
    std::vector<std::string> out;
    if (arguments.factors == nullptr) out.emplace_back("the factors are missing");
    if (problem.n > 1000) out.emplace_back("columns are counted up to 1000");
    return out;
  }
  template <class Encode>
  static Params to_underlying_arguments(const EpilogueProblem&, const Arguments& arguments, const Encode&, void* work) {
    *arguments.count = static_cast<std::uint32_t*>(work);
    return {arguments.factors, *arguments.count};
  }

  struct Store : fusion::EmptyCallbacks::Store {
    const Params& params;
    float* shared;

    GANTRY_INLINE Store(const Params& p, unsigned char* memory, const fusion::TileContext& c)
        : fusion::EmptyCallbacks::Store(p, memory, c), params(p), shared(reinterpret_cast<float*>(memory)) {}
    GANTRY_HD static constexpr bool begin_sync_needed() { return true; }
    GANTRY_INLINE void begin() {
      if (context.thread < 8) {
        arch::st(arch::space_shared, shared + context.thread,
                 arch::ld(arch::space_global, params.factors + context.thread));
      }
    }
    template <int F>
    GANTRY_INLINE void visit(const float (&acc)[F], const float (&)[F], float (&d)[F], int first, int em, int en) {
      constexpr Subtiles tile = Config::tile;
      for (int k = 0; k < F; ++k) {
        const int m = context.at.m * tile.m + em * tile.epi_m + tile.row(context.thread, first + k);
        const int n = context.at.n * tile.n + en * tile.epi_n + tile.column(context.thread, first + k);
        d[k] = acc[k] * arch::ld(arch::space_shared, shared + m % 8) + static_cast<float>(n);
      }
    }
    template <class Sync>
    GANTRY_INLINE void end(const Sync&) {
      if (context.thread == 0) arch::red(arch::op_add, arch::space_global, params.count, 1u);
    }
  };
};
template <GemmSchedule kSchedule>
struct StripedGemm {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .tile = {128, 64}, .cluster = {1, 1}, .stages = 2, .schedule = kSchedule};
  template <class FusionConfig>
  using Callbacks = Striped<FusionConfig>;
};

// Rows of small whole numbers.
std::vector<bf16> numbers(std::int64_t count, int seed) {
  std::vector<bf16> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = bf16(static_cast<float>((static_cast<int>(i) * 7 + seed) % 5 - 2));
  return out;
}

template <class Spec>
void expect_striped() {
  constexpr int kM = 300, kN = 136, kK = 40;
  const std::vector<bf16> a = numbers(kM * kK, 1), b = numbers(kN * kK, 2);
  const std::vector<float> factors{1, -2, 3, 0.5f, 0, 7, -1, 4};
  std::vector<float> d(kM * kN, -77);
  GemmArguments<Spec> args({.m = kM, .n = kN, .k = kK});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.callbacks.factors = factors.data();
  std::uint32_t* count = nullptr;
  args.callbacks.count = &count;
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_EQ(plan->workspace_bytes(), Gemm<Spec>::workspace_bytes(args, device_of(Simulator(), 2)).value_or(0));
  ASSERT_GE(plan->workspace_bytes(), 4u);
  // Which begins as zeros in every run. 128 rows are one warpgroup's, or two warpgroups have 64 each.
  const int rows = 128 / Gemm<Spec>::kDesign.roles.tile_warpgroups;
  const int parts = (kM + rows - 1) / rows * ((kN + 63) / 64);
  for (std::uint64_t run = 0; run < 2; ++run) {
    const LaunchResult result = plan->run(Simulator({.seed = 3 + run}));
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(*count, static_cast<std::uint32_t>(parts));
  }
  EXPECT_NE(plan->explain().find("callbacks of the specification's own"), std::string::npos) << plan->explain();
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) {
        sum += static_cast<float>(a[static_cast<std::size_t>(m * kK + k)]) *
               static_cast<float>(b[static_cast<std::size_t>(n * kK + k)]);
      }
      const float right = sum * factors[static_cast<std::size_t>(m % 8)] + static_cast<float>(n);
      ASSERT_EQ(d[static_cast<std::size_t>(m * kN + n)], right) << m << ", " << n;
    }
  }
}
TEST(OwnCallbacks, RunInACooperativeGemm) { expect_striped<StripedGemm<GemmSchedule::cooperative>>(); }
TEST(OwnCallbacks, RunInAPingpongGemm) { expect_striped<StripedGemm<GemmSchedule::pingpong>>(); }

TEST(OwnCallbacks, RefuseInTheirOwnWords) {
  GemmArguments<StripedGemm<GemmSchedule::cooperative>> args({.m = 8, .n = 1008, .k = 8});
  const ArgumentReasons reasons = can_implement(args);
  int found = 0;
  for (const ArgumentReason& reason : reasons) {
    if (reason.rule != ArgumentRule::callbacks) continue;
    const std::string said = describe(reason).c_str();
    found += said.find(found == 0 ? "the factors are missing" : "columns are counted up to 1000") != std::string::npos;
  }
  EXPECT_EQ(found, 2);
}

// With C, and nothing else to say.
template <class Config>
struct Blend : fusion::EmptyCallbacks {
  static constexpr bool kUsesSource = true;
  struct Store : fusion::EmptyCallbacks::Store {
    using fusion::EmptyCallbacks::Store::Store;
    template <int F>
    GANTRY_INLINE void visit(const float (&acc)[F], const float (&c)[F], float (&d)[F], int, int, int) {
      for (int k = 0; k < F; ++k) d[k] = acc[k] > c[k] ? acc[k] : c[k];
    }
  };
};
struct BlendGemm {
  static constexpr GemmOptions options{
      .c = ElementType::f32, .d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  template <class FusionConfig>
  using Callbacks = Blend<FusionConfig>;
};
TEST(OwnCallbacks, SeeC) {
  constexpr int kM = 70, kN = 72, kK = 16;
  const std::vector<bf16> a = numbers(kM * kK, 1), b = numbers(kN * kK, 2);
  std::vector<float> c(kM * kN), d(kM * kN), plain(kM * kN);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 13) - 6;
  GemmArguments<BlendGemm> args({.m = kM, .n = kN, .k = kK});
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();
  args.d = d.data();
  const auto plan = Gemm<BlendGemm>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_TRUE(plan->run(Simulator({.seed = 5})));
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) {
        sum += static_cast<float>(a[static_cast<std::size_t>(m * kK + k)]) *
               static_cast<float>(b[static_cast<std::size_t>(n * kK + k)]);
      }
      const auto at = static_cast<std::size_t>(m * kN + n);
      ASSERT_EQ(d[at], sum > c[at] ? sum : c[at]) << m << ", " << n;
    }
  }
}

// ---- Operations by name

struct Named {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::NamedOperation operation{
      .name = "LinCombPerRowBiasEltActAux",
      .options = {.activation = fusion::Function::silu, .bias = ElementType::bf16, .aux = ElementType::f16}};
};
TEST(NamedOperations, RunInAGemm) {
  static_assert(
      GemmDesignOf<Named>::graph ==
      fusion::graph("let z = alpha * acc + beta * c + col(bias:bf16 = 0); d = silu(z); aux:f16 optional = z"));
  expect_random_right<Named>(1);
}
struct NamedTop {
  static constexpr GemmOptions options{.c = ElementType::bf16};
  static constexpr fusion::NamedOperation operation{.name = "LinCombTopKSoftmaxCol", .options = {.top_k = 4}};
};
TEST(NamedOperations, OfRowsGetTilesOfWholeRows) {
  static_assert(Gemm<NamedTop>::kDesign.options.tile.n == 256 && Gemm<NamedTop>::kDesign.options.epilogue.epi_n == 256);
}

// ---- Between registers

// Columns n and n ^ 3 change places.
struct SwapColumns {
  template <class Value, int N>
  GANTRY_INLINE static void copy(Value (&values)[N], int /*thread*/) {
    for (int i = 0; i < N; i += 2) {
      const Value left = arch::shfl_xor_sync(arch::kFullWarp, values[i], 1);
      values[i] = arch::shfl_xor_sync(arch::kFullWarp, values[i + 1], 1);
      values[i + 1] = left;
    }
  }
};
struct Rearranged {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {1, 1}, .stages = 2};
  using CopyOpR2R = SwapColumns;
};
struct InPlace {
  static constexpr GemmOptions options = Rearranged::options;
};
TEST(CopyOpR2R, RearrangesThePlainDOfAGemm) {
  static_assert(Gemm<InPlace>::kDesign.store == GemmStore::overlapped);
  static_assert(Gemm<Rearranged>::kDesign.store == GemmStore::collective);
  constexpr int kM = 150, kN = 64, kK = 24;
  const std::vector<bf16> a = numbers(kM * kK, 1), b = numbers(kN * kK, 2);
  std::vector<bf16> d(kM * kN), plain(kM * kN);
  const auto run = [&](auto args, bf16* to) {
    args.a = a.data();
    args.b = b.data();
    args.d = to;
    return args;
  };
  const auto rearranged = Gemm<Rearranged>::plan(run(GemmArguments<Rearranged>({.m = kM, .n = kN, .k = kK}), d.data()),
                                                 device_of(Simulator(), 2));
  const auto in_place = Gemm<InPlace>::plan(run(GemmArguments<InPlace>({.m = kM, .n = kN, .k = kK}), plain.data()),
                                            device_of(Simulator(), 2));
  ASSERT_TRUE(rearranged && in_place);
  ASSERT_TRUE(rearranged->run(Simulator({.seed = 5})));
  ASSERT_TRUE(in_place->run(Simulator({.seed = 6})));
  for (std::size_t i = 0; i < d.size(); ++i) ASSERT_EQ(d[i].bits, plain[i ^ 3].bits) << i;
}

// ---- Delayed stores

template <GemmSchedule kSchedule, Choice kReuse>
struct Delayed {
  static constexpr GemmOptions options{
      .c = ElementType::bf16,
      .tile = {128, 64},
      .cluster = {1, 1},
      .stages = 2,
      .schedule = kSchedule,
      .epilogue = {.epi_n = 32, .stages_c = 3, .stages_d = 2, .reuse = kReuse, .delay_tma_store = Choice::yes}};
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc + c); pre:bf16 = acc + c");
};
TEST(DelayedStores, AreRightInAGemm) {
  static_assert(Gemm<Delayed<GemmSchedule::pingpong, Choice::no>>::kDesign.part.delay_tma_store);
  expect_random_right<Delayed<GemmSchedule::pingpong, Choice::no>>(1);
  expect_random_right<Delayed<GemmSchedule::cooperative, Choice::yes>>(2);
}
TEST(DelayedStores, OfAPlainDAreTheCollectives) {
  static_assert(make_gemm_design({.epilogue = {.delay_tma_store = Choice::yes}}, fusion::graph("d = acc")).store ==
                GemmStore::collective);
  static_assert(!make_gemm_design({}, fusion::graph("d = relu(acc)")).part.delay_tma_store);
}

}  // namespace
}  // namespace gantry_test
