// Real and complex elements in every place of a fusion whose values are complex.
#include "elements_sweep.hpp"

namespace gantry::test {
namespace {

struct Complex : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                             .tile = {64, 32, 64},
                                                             .epi_tile = {64, 32},
                                                             .d = ElementType::cf32,
                                                             .acc = ElementType::cf32,
                                                             .compute = ElementType::cf32,
                                                             .aux = ElementType::cf32,
                                                             .stages_c = 2,
                                                             .stages_d = 1}
                                               .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::graph(
      "d = scalar(i:cf32) * acc + row(r:cf64) + row(p:s4) * col(k:cf32) + col(q:e3m2) + load(x:cf32) - load(w:bf16 "
      "col);"
      "y:cf32 col = acc + scalar(j:cf64)");
};

constexpr int kM = 80, kN = 48;

// Whole numbers, so that every product and sum is exact.
Buffer numbers(ElementType element, std::int64_t count, std::mt19937& random) {
  Buffer out;
  out.element = element;
  out.bytes.resize(static_cast<std::size_t>(bytes_for(element, count)));
  const auto any = [&] { return static_cast<double>(static_cast<int>(random() % 7) - 3); };
  for (std::int64_t i = 0; i < count; ++i) {
    const double real = any();
    store_from_complex(element, out.data(), i, {real, any()});
  }
  return out;
}

TEST(FusionElements, AreRightInEveryPlaceOfAFusionOfComplexValues) {
  using Kernel = EpilogueKernel<Complex>;
  const fusion::Graph& graph = Complex::graph;
  std::mt19937 random(3);
  Buffer acc = numbers(ElementType::cf32, kM * kN, random), d = numbers(ElementType::cf32, kM * kN, random);
  EpilogueArguments<Complex> arguments;
  arguments.d = {.pointer = d.data(), .stride = kN};
  std::vector<Buffer> buffers;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const std::int64_t count = fusion::is_tensor(a.kind)                ? kM * kN
                               : a.kind == fusion::ArgumentKind::row    ? kN
                               : a.kind == fusion::ArgumentKind::column ? kM
                                                                        : 1;
    buffers.push_back(numbers(a.element, count, random));
    arguments.fusion[a.name.text] = static_cast<void*>(buffers.back().data());
  }
  const EpilogueProblem problem{kM, kN, 64};
  for (const ArgumentReason& reason : can_implement<Complex>(problem, arguments)) FAIL() << describe(reason).c_str();
  const Kernel::Params params{to_underlying_arguments<Complex>(problem, arguments, pack_map),
                              static_cast<const cf32*>(acc.data())};
  const Report report = Simulator().run<Kernel>(
      {.grid = {2}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(Kernel::Storage)}, params);
  ASSERT_TRUE(report.clean()) << report.text();
  const fusion::ReferenceProblem reference{.shape = {.m = kM, .n = kN},
                                           .accumulators = {ElementType::cf32, acc.data(), kN, 1},
                                           .d_element = ElementType::cf32};
  const auto expected = fusion::complex_reference(graph, reference, arguments.fusion);
  EXPECT_EQ(first_mismatch(expected.d, {ElementType::cf32, d.data(), kN, 1}, reference.shape), "");
  for (int i = 0; i < graph.argument_count; ++i) {
    if (graph.arguments[i].kind != fusion::ArgumentKind::aux_out) continue;
    EXPECT_EQ(first_mismatch(expected.outputs[i],
                             {ElementType::cf32, buffers[static_cast<std::size_t>(i)].data(), 1, kM}, reference.shape),
              "");
  }
}

}  // namespace
}  // namespace gantry::test
