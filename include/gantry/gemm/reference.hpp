// The reference of a GEMM: every element of every output with the interval in which a kernel's result must lie. Host
// only, in double.
//
// A kernel may accumulate in any order. With elements of 16 bits and more each addition may lose 2^-24 of the largest
// partial sum, which the Cauchy-Schwarz inequality bounds; FP8 loses 2^-14 in the tensor core, promoted or not, and
// integers lose nothing. Where all terms are multiples of one power of two and the accumulator fits into 24 bits of it,
// accumulation is exact, so small integers compare equal. NaN and infinities follow IEEE 754; accumulators whose
// partial sums may overflow an f32 are not bounded. The graph's own errors follow (epilogue/fusion/range.hpp).
//
// Groups along M and K are GEMMs of their own; rows that no group has may hold anything. Gathered rows are those that
// the index names, and rows of D are looked at where they were scattered to; a D that rows are added to begins as
// zeros. A pointer array is refused: its GEMMs share nothing, and each is one without groups.
//
// Example at namespace scope:
//     struct Plain {};
//     // After a run: empty, or "D: element (3, 5, 0) is 7, and should be 8, in [8, 8]".
//     inline std::string verify(const gantry::GemmArguments<Plain>& args) { return gantry::first_mismatch(args); }
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/fusion/reference.hpp>
#include <gantry/gemm/arguments.hpp>

namespace gantry {

// A(m, k, batch) and B(n, k, batch) in host memory.
struct GemmReferenceProblem {
  fusion::ProblemShape shape{};  // of A B^T
  std::int64_t k = 0;
  fusion::ReferenceTensor a{}, b{}, source{};
  ElementType d_element = ElementType::f32;
  bool promote = false;
  // Factors of blocks of A and B, with their strides.
  ScaleMode mode_a = ScaleMode::none, mode_b = ScaleMode::none;
  GemmScale scale_a{}, scale_b{};
  GemmGate gate = GemmGate::halves;  // of a gated graph
  // Where the problem is a part of D: the place of its first element there, from which dropout counts.
  std::int64_t first_row = 0, first_batch = 0;
};

// Every accumulator, (batch * M + m) * N + n, with the interval in which a kernel's lies.
GANTRY_LINKAGE std::vector<fusion::Range> sum_ranges(const GemmReferenceProblem& p);

namespace detail {

// Adds the results of another group to those of a reduction that all groups share; `out` may be empty before the first.
GANTRY_LINKAGE void combine(const std::vector<fusion::Range>& more, fusion::Reduction reduction,
                            std::vector<fusion::Range>& out);

// The functions below with what is not in a graph: the ranges of user functions, and a GEMM without its types.
GANTRY_LINKAGE fusion::ReferenceResult gemm_reference(const fusion::Graph& graph, const GemmReferenceProblem& p,
                                                      const fusion::FusionArguments& arguments,
                                                      fusion::detail::UserRange users);
GANTRY_LINKAGE fusion::ReferenceResult reference(const GemmOptions& o, const GemmInputs& args,
                                                 fusion::detail::UserRange users);
GANTRY_LINKAGE std::string first_mismatch(const GemmOptions& o, const GemmInputs& args,
                                          const fusion::ReferenceResult& expected);

// What was written for argument i of the graph, as the matrix that the reference's results are.
GANTRY_LINKAGE fusion::ReferenceTensor output_tensor(const fusion::Graph& graph,
                                                     const fusion::ResolvedArguments& values, int i);
GANTRY_LINKAGE fusion::ProblemShape output_shape(const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                                                 int i, const fusion::ProblemShape& shape);

}  // namespace detail

// Requires a graph that `check` accepts, and arguments without problems, all in host memory.
template <class Users = fusion::UserFunctions<>>
fusion::ReferenceResult gemm_reference(const fusion::Graph& graph, const GemmReferenceProblem& p,
                                       const fusion::FusionArguments& arguments) {
  return detail::gemm_reference(graph, p, arguments, fusion::detail::user_range<Users, 0>);
}

// The same from the arguments of a GEMM, all in memory that the host can read.
template <class Spec>
fusion::ReferenceResult reference(const GemmArguments<Spec>& args) {
  return detail::reference(detail::HostDesign<Spec>::value.options, inputs_of(args),
                           fusion::detail::user_range<typename GemmDesignOf<Spec>::Functions, 0>);
}

// After a run: the first element of D or of another output that is not what it should be, in a sentence; empty where
// there is none.
template <class Spec>
std::string first_mismatch(const GemmArguments<Spec>& args) {
  static_assert(!detail::kOwnCallbacks<Spec> && !detail::kCopiesRegisters<Spec>,
                "gantry: the reference computes graphs, and knows nothing of Callbacks and CopyOpR2R");
  return detail::first_mismatch(detail::HostDesign<Spec>::value.options, inputs_of(args), reference(args));
}

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/reference_definitions.hpp>
#endif
