// Whether a GEMM of a design can run with given arguments: every reason why it cannot. No template; sizes, strides and
// addresses are run-time values.
//
// Defined: with M, N or batch 0 nothing is computed, and reductions become 0 (of max: -infinity); with K = 0 the
// accumulators are 0, and A and B are not looked at.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({}, graph);
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {.m = -1, .n = 8, .k = 8}, .fusion = none};
//     const ArgumentReasons reasons = detail::can_implement(design, inputs, 0);
//     const bool negative = reasons.has(ArgumentRule::size_negative);  // "M is -1: sizes are not negative; ..."
#pragma once

#include <vector>

#include <gantry/epilogue/detail/graph_host.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/detail/matrix_facts.hpp>
#include <gantry/gemm/inputs.hpp>
#include <gantry/gemm/pack.hpp>

namespace gantry::detail {

// TMA reads and writes rows (or columns) that begin at multiples of 16 bytes. A stride that none of them uses may be
// any.
template <class Void>
GemmMatrix<Void> with_strides(const GemmMatrix<Void>& matrix, ElementType element, std::int64_t contiguous,
                              std::int64_t lines, std::int64_t batches) {
  if (element_bits(element) == 0) return matrix;  // of no element: nothing is there
  const std::int64_t chunk = 128 / element_bits(element);
  const std::int64_t whole_line = (contiguous + chunk - 1) / chunk * chunk;
  GemmMatrix<Void> out = matrix.with_strides(contiguous, lines);
  if (lines <= 1) out.stride = whole_line;
  if (batches <= 1) out.batch_stride = whole_line;
  return out;
}

// How many matrices an operand has: one for each batch, or one that all groups share.
inline std::int64_t matrices(const GemmDesign& design, const GemmExtents& e, char operand) {
  return shares_matrix(design, operand) ? 1 : e.batch;
}

// Those of the index, or M.
inline std::int64_t rows_of_a(const GemmDesign& design, const GemmInputs& args) {
  return design.options.gather_a ? args.gather.rows : args.extents.m;
}

inline std::int64_t rows_of_d(const GemmDesign& design, const GemmInputs& args) {
  return design.options.scatter_d != RowScatter::none ? args.scatter.rows : args.extents.m;
}

// The extents of C, D and auxiliary tensors.
inline GemmExtents extents_of_d(const GemmDesign& design, GemmExtents e) {
  e.n = design.columns_of_d(e.n);
  return e;
}

// The problem as kernels take it. Requires extents that fit into int.
GANTRY_LINKAGE GemmProblem problem_of(const GemmDesign& design, const GemmInputs& args);

inline fusion::ProblemShape shape_of(const GemmDesign& design, const GemmExtents& e) {
  return {e.m,
          design.columns_of_d(e.n),
          e.batch,
          design.options.groups == GemmGrouping::along_m,
          design.options.groups == GemmGrouping::pointer_array,
          design.options.groups == GemmGrouping::along_n};
}

// C or D as the epilogue takes it, one for each batch; `e` are its extents.
template <class Void>
EpilogueMatrix epilogue_matrix(const GemmMatrix<Void>& x, ElementType element, LayoutTag layout, const GemmExtents& e,
                               std::int64_t batches) {
  const bool columns = is_m_major(layout);
  const auto y = with_strides(x, element, columns ? e.m : e.n, columns ? e.n : e.m, batches);
  return {const_cast<void*>(static_cast<const void*>(y.data)), y.stride, y.batch_stride};  // NOLINT: C stays an input
}

// A and B as lines, and whether they are read as they are: by TMA, or rows of A that are gathered by threads. Requires
// strides in place of kPacked. Of a pointer array only the device knows them.
GANTRY_LINKAGE PackedOperand packed_a(const GemmDesign& design, const GemmProblem& p);
GANTRY_LINKAGE PackedOperand packed_b(const GemmDesign& design, const GemmProblem& p);

// Scales with their strides, as the design has them; of gathered rows they are those of A's rows. Requires extents that
// are not negative.
inline GemmScale scale_of_a(const GemmDesign& design, const GemmInputs& args) {
  return args.scale_a.with_strides(design.options.scale_a, rows_of_a(design, args), args.extents.k);
}
inline GemmScale scale_of_b(const GemmDesign& design, const GemmInputs& args) {
  return args.scale_b.with_strides(design.options.scale_b, args.extents.n, args.extents.k);
}

// The epilogue of a design, for the functions of epilogue/detail/graph_host.hpp.
GANTRY_LINKAGE GraphEpilogue graph_epilogue(const GemmDesign& design, int functions);

// A or B in memory. A is M x K and B is N x K: K-major operands have rows of K elements.
GANTRY_COLD GANTRY_LINKAGE MatrixFacts operand_facts(const GemmDesign& design, const GemmInputs& args,
                                                     const GemmProblem& p, char operand);

// A reason for every two that lie in each other and must not.
GANTRY_COLD GANTRY_LINKAGE void check_sharing(const std::vector<MemoryUse>& uses, ArgumentReasons& out);

// What a GEMM reads and writes, of the operands that are used. Requires arguments that are otherwise right.
GANTRY_COLD GANTRY_LINKAGE std::vector<MemoryUse> memory_uses(const GemmDesign& design, const GemmInputs& args);

}  // namespace gantry::detail

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/check_definitions.hpp>
#endif
