// An epilogue of a builder and a graph on the simulated SM, against the reference.
#pragma once

#include "../epilogue/collective/harness.hpp"

namespace gantry::test {

// More than a tile along both extents: whole lines of 16 bytes, and whole images (config.hpp) whatever the layout.
template <class Config>
fusion::ProblemShape shape_for(std::uint64_t seed) {
  constexpr TileMNK tile = Config::policy.cta_tile;
  constexpr bool images = Config::policy.c.im2col() || Config::policy.d.im2col();
  constexpr bool exact = Config::policy.uses_tma();
  fusion::ProblemShape out{.m = (tile.m / 80 + 1) * 80, .n = (tile.n / 16 + 1 + static_cast<int>(seed % 2)) * 16};
  if (!exact) out.m -= 3;
  if (!images && seed % 4 == 0) out.batch = 2;
  return out;
}

// Small whole numbers, of which sums and products are exact.
inline Buffer whole_numbers(ElementType element, std::int64_t count, std::mt19937_64& random) {
  Buffer out;
  out.element = element;
  out.bytes.resize(static_cast<std::size_t>(bytes_for(element, count) + 16));
  const auto any = [&] { return static_cast<double>(static_cast<int>(random() % 5) - 2); };
  for (std::int64_t i = 0; i < count; ++i) {
    const double real = any();
    store_from_complex(element, out.data(), i, {real, any()});
  }
  return out;
}

// Complex values have a reference of their own.
template <class Config>
void expect_complex(std::uint64_t seed) {
  using Kernel = EpilogueKernel<Config>;
  constexpr EpiloguePolicy policy = Config::policy;
  const fusion::Graph& graph = Config::graph;
  fusion::ProblemShape shape = shape_for<Config>(seed);
  shape.batch = 1;
  std::mt19937_64 random(seed);
  const std::int64_t count = shape.m * shape.n;
  const auto matrix = [&](ElementType element, bool row_major) {
    Buffer out = whole_numbers(element, count, random);
    out.row_major = row_major;
    out.stride = row_major ? shape.n : shape.m;
    return out;
  };
  Buffer acc = matrix(policy.element_acc, true), c, d;
  EpilogueArguments<Config> arguments;
  if (policy.c.exists()) c = matrix(policy.c.element, !policy.c.m_major());
  if (policy.d.exists()) d = matrix(policy.d.element, !policy.d.m_major());
  hand_over_c<Config>(arguments.c, c, c.data(), shape);
  hand_over_d<Config>(arguments.d, d, d.data(), shape);
  std::vector<Buffer> buffers;
  buffers.reserve(static_cast<std::size_t>(graph.argument_count));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    buffers.push_back(matrix(a.element, a.row_major));
    arguments.fusion[a.name.text] = static_cast<void*>(buffers.back().data());
  }
  const EpilogueProblem problem{static_cast<int>(shape.m), static_cast<int>(shape.n), 64};
  for (const ArgumentReason& reason : can_implement<Config>(problem, arguments)) FAIL() << describe(reason).c_str();
  const typename Kernel::Params params{to_underlying_arguments<Config>(problem, arguments, pack_map),
                                       static_cast<const typename Kernel::Accumulator*>(acc.data())};
  const Report report =
      Simulator({.seed = seed})
          .run<Kernel>({.grid = {2}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(typename Kernel::Storage)},
                       params);
  ASSERT_TRUE(report.clean()) << report.text();
  const fusion::ReferenceProblem reference{
      .shape = shape, .accumulators = acc.tensor(), .source = c.tensor(), .d_element = policy.d.element};
  const auto expected = fusion::complex_reference(graph, reference, arguments.fusion);
  if (policy.d.exists()) {
    EXPECT_EQ(first_mismatch(expected.d, d.tensor(), shape), "");
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    if (graph.arguments[i].kind != fusion::ArgumentKind::aux_out) continue;
    EXPECT_EQ(first_mismatch(expected.outputs[i], buffers[static_cast<std::size_t>(i)].tensor(), shape), "");
  }
}

template <class Config>
void expect_right_epilogue(std::uint64_t seed) {
  if constexpr (Config::policy.element_compute == ElementType::cf32) {
    expect_complex<Config>(seed);
  } else {
    expect_agreement<Config>({.shape = shape_for<Config>(seed),
                              .seed = seed,
                              .by_batch = seed % 4 == 1,
                              .leave_out = seed % 7 == 3,
                              .scalar_by_value = seed % 3 != 1});
  }
}

}  // namespace gantry::test
