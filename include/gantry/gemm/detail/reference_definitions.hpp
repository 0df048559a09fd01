// What reference.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cmath>
#include <limits>

#include <gantry/gemm/check.hpp>
#include <gantry/gemm/detail/grouped_reference.hpp>
#include <gantry/gemm/reference.hpp>

namespace gantry {

namespace detail {

// The rows of an operand in one batch, contiguous and in double, with what the error bounds need of each.
struct OperandRows {
  std::vector<double> values;
  std::vector<double> norms;  // of Euclid, of the elements that are finite
  std::vector<double> steps;  // the largest power of two that divides every element; 0 where all are 0

  OperandRows(const fusion::ReferenceTensor& x, std::int64_t rows, std::int64_t k, std::int64_t batch)
      : values(static_cast<std::size_t>(rows * k)),
        norms(static_cast<std::size_t>(rows)),
        steps(static_cast<std::size_t>(rows)) {
    for (std::int64_t row = 0; row < rows; ++row) {
      double squares = 0, step = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const double value = load(x, x.index(row, i, batch));
        values[static_cast<std::size_t>(row * k + i)] = value;
        if (std::isfinite(value)) squares += value * value;
        step = common_step(step, value);
      }
      norms[static_cast<std::size_t>(row)] = std::sqrt(squares);
      steps[static_cast<std::size_t>(row)] = step;
    }
  }

 private:
  // tf32 is read from floats, which are rounded on the way.
  static double load(const fusion::ReferenceTensor& x, std::int64_t index) {
    if (x.element != ElementType::tf32) return load_as_double(x.element, x.data, index);
    return static_cast<double>(convert<tf32>(static_cast<float>(load_as_double(ElementType::f32, x.data, index))));
  }

  static double common_step(double step, double value) {
    if (value == 0 || !std::isfinite(value)) return step;
    if (step != 0 && std::fmod(value, step) == 0) return step;
    int exponent = 0;
    const double mantissa = std::frexp(std::fabs(value), &exponent);
    auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
    int low = exponent - 53;
    for (; bits % 2 == 0; bits /= 2) ++low;
    const double own = std::ldexp(1.0, low);
    return step == 0 || own < step ? own : step;
  }
};

// Multiplies rows by the scales of their blocks. No step is common to them then: the scales have any bits.
inline void apply_scales(OperandRows& rows, ScaleMode mode, const GemmScale& scale, std::int64_t k,
                         std::int64_t batch) {
  if (mode == ScaleMode::none) return;
  for (std::size_t row = 0; row < rows.norms.size(); ++row) {
    const std::int64_t line = static_cast<std::int64_t>(row) / (mode == ScaleMode::block ? kScaleBlock : 1);
    double squares = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      double& value = rows.values[row * static_cast<std::size_t>(k) + static_cast<std::size_t>(i)];
      value *= static_cast<double>(
          scale.data[batch * scale.batch_stride + line * scale.stride + i / kScaleBlock * scale.k_stride]);
      if (std::isfinite(value)) squares += value * value;
    }
    rows.norms[row] = std::sqrt(squares);
    rows.steps[row] = 0;
  }
}

// Error bound of a dot product of length K, relative to the sum of the magnitudes of its terms.
inline double sum_error(ElementType element, std::int64_t k, bool promote) {
  const auto terms = static_cast<double>(k);
  constexpr double kOfFloat = 0x1p-24, kOfTensorCore = 0x1p-14;
  if (gemm_kind(element) == GemmKind::int8) return kOfFloat;  // once, when the accumulator becomes a float
  if (gemm_kind(element) != GemmKind::fp8) return (terms + 16) * kOfFloat;
  return promote ? 160 * kOfTensorCore + terms / 128 * kOfFloat : (terms + 32) * kOfTensorCore;
}

// Four columns at a time, so that additions need not wait for each other.
inline void dot_products(const double* a, const double* b, std::int64_t k, std::int64_t columns, double* out) {
  for (std::int64_t j = 0; j < columns; j += 4) {
    double sums[4] = {};
    const std::int64_t count = columns - j < 4 ? columns - j : 4;
    const double* rows[4];
    for (std::int64_t c = 0; c < 4; ++c) rows[c] = b + (j + (c < count ? c : 0)) * k;
    for (std::int64_t i = 0; i < k; ++i) {
      for (int c = 0; c < 4; ++c) sums[c] += a[i] * rows[c][i];
    }
    for (std::int64_t c = 0; c < count; ++c) out[j + c] = sums[c];
  }
}

}  // namespace detail

GANTRY_LINKAGE std::vector<fusion::Range> sum_ranges(const GemmReferenceProblem& p) {
  const std::int64_t m = p.shape.m, n = p.shape.n, batches = p.shape.batch;
  std::vector<fusion::Range> out;
  if (m == 0 || n == 0) return out;  // there may be no operands
  out.reserve(static_cast<std::size_t>(m * n * batches));
  std::vector<double> sums(static_cast<std::size_t>(n));
  const double error = detail::sum_error(p.a.element, p.k, p.promote);
  const double most = detail::gemm_kind(p.a.element) == detail::GemmKind::fp8 ? 0x1p13 : 0x1p24;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    detail::OperandRows a(p.a, m, p.k, batch), b(p.b, n, p.k, batch);
    detail::apply_scales(a, p.mode_a, p.scale_a, p.k, batch);
    detail::apply_scales(b, p.mode_b, p.scale_b, p.k, batch);
    for (std::int64_t i = 0; i < m; ++i) {
      const auto row = static_cast<std::size_t>(i);
      detail::dot_products(a.values.data() + i * p.k, b.values.data(), p.k, n, sums.data());
      for (std::size_t j = 0; j < sums.size(); ++j) {
        const double magnitude = a.norms[row] * b.norms[j];
        const bool exact = magnitude <= most * a.steps[row] * b.steps[j];
        const double slack = exact ? 0 : error * magnitude;
        if (std::isnan(sums[j])) {
          out.push_back(fusion::exactly(sums[j]));
        } else if (!(magnitude <= static_cast<double>(std::numeric_limits<float>::max()))) {
          out.push_back(fusion::detail::anything(sums[j]));  // a part of it may be infinite, and of either sign
        } else {
          out.push_back({sums[j], sums[j] - slack, sums[j] + slack});
        }
      }
    }
  }
  return out;
}

namespace detail {

// The accumulators of a gated graph that are the gate's, or up's: element (m, j, batch) at (batch * M + m) * N / 2 + j.
inline std::vector<fusion::Range> half_of(const std::vector<fusion::Range>& sums, const GemmReferenceProblem& p,
                                          bool up) {
  std::vector<fusion::Range> out;
  out.reserve(sums.size() / 2);
  for (std::int64_t row = 0; row < p.shape.m * p.shape.batch; ++row) {
    for (std::int64_t j = 0; j < p.shape.n / 2; ++j) {
      out.push_back(sums[static_cast<std::size_t>(row * p.shape.n + gated_row(p.gate, p.shape.n, j, up))]);
    }
  }
  return out;
}

template <class Void>
fusion::ReferenceTensor reference_tensor(const GemmMatrix<Void>& x, ElementType element, bool rows,
                                         const fusion::ProblemShape& shape) {
  const GemmMatrix<Void> y = with_strides(x, element, rows ? shape.n : shape.m, rows ? shape.m : shape.n, shape.batch);
  return {element, y.data, rows ? y.stride : 1, rows ? 1 : y.stride, y.batch_stride};
}

// Groups of rows share D and auxiliary tensors.
inline fusion::ProblemShape one_matrix_of_rows(fusion::ProblemShape shape) {
  if (shape.groups_of_rows) shape.batch = 1;
  return shape;
}

GANTRY_LINKAGE fusion::ReferenceTensor output_tensor(const fusion::Graph& graph,
                                                     const fusion::ResolvedArguments& values, int i) {
  const fusion::Argument& a = graph.arguments[i];
  const fusion::ArgumentValue& v = values.values[i];
  if (!fusion::is_matrix(a)) return {a.element, v.pointer, 0, 1, v.batch_stride};
  return {a.element, v.pointer, a.row_major ? v.stride : 1, a.row_major ? 1 : v.stride, v.batch_stride};
}
GANTRY_LINKAGE fusion::ProblemShape output_shape(const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                                                 int i, const fusion::ProblemShape& shape) {
  const fusion::Argument& a = graph.arguments[i];
  if (fusion::is_matrix(a)) {
    fusion::ProblemShape tensor = one_matrix_of_rows(shape);
    const fusion::MatrixExtents of = fusion::extents_of(a, shape.m, shape.n);
    tensor.m = of.rows;
    tensor.n = of.columns;
    return tensor;
  }
  const std::int64_t results = fusion::results_of(a, shape.m, shape.n);
  return {.m = 1, .n = results, .batch = values.values[i].batch_stride != 0 ? shape.batch : 1};
}

GANTRY_LINKAGE fusion::ReferenceResult gemm_reference(const fusion::Graph& graph, const GemmReferenceProblem& p,
                                                      const fusion::FusionArguments& arguments,
                                                      fusion::detail::UserRange users) {
  std::vector<fusion::Range> sums = sum_ranges(p), up;
  fusion::ReferenceProblem epilogue;
  epilogue.shape = p.shape;
  if (graph.gated()) {
    up = half_of(sums, p, true);
    sums = half_of(sums, p, false);
    epilogue.shape.n /= 2;
    epilogue.up_ranges = up.data();
  }
  epilogue.accumulator_ranges = sums.data();
  epilogue.source = p.source;
  epilogue.d_element = p.d_element;
  epilogue.first_row = p.first_row;
  epilogue.first_batch = p.first_batch;
  return fusion::detail::reference_with(graph, epilogue, arguments, users);
}

GANTRY_LINKAGE fusion::ReferenceResult reference(const GemmOptions& o, const GemmInputs& args,
                                                 fusion::detail::UserRange users) {
  const GemmExtents& e = args.extents;
  GemmReferenceProblem p;
  p.shape = {.m = e.m, .n = e.n, .batch = e.batch};
  p.k = e.k;
  if (o.groups == GemmGrouping::pointer_array) return fusion::ReferenceResult();
  const std::int64_t rows_of_a = o.gather_a ? args.gather.rows : e.m;
  p.a = reference_tensor(args.a, o.a, o.major_a == Major::K, {.m = rows_of_a, .n = e.k, .batch = e.batch});
  p.b = reference_tensor(args.b, o.b, o.major_b == Major::K, {.m = e.n, .n = e.k, .batch = e.batch});
  if (o.c != ElementType::void_) {
    const std::int64_t columns = args.fusion.graph().gated() ? e.n / 2 : e.n;
    p.source = reference_tensor(args.c, o.c, !is_m_major(o.layout_c), {.m = e.m, .n = columns, .batch = e.batch});
  }
  p.d_element = o.d;
  p.gate = o.gate;
  p.promote = o.promotes();
  p.mode_a = o.scale_a;
  p.mode_b = o.scale_b;
  p.scale_a = args.scale_a.with_strides(o.scale_a, rows_of_a, e.k);
  p.scale_b = args.scale_b.with_strides(o.scale_b, e.n, e.k);
  return GroupedReference(o, args, users).run(p);
}

GANTRY_LINKAGE std::string first_mismatch(const GemmOptions& o, const GemmInputs& args,
                                          const fusion::ReferenceResult& expected) {
  if (o.groups == GemmGrouping::pointer_array) {
    return "the reference computes no pointer arrays: its GEMMs share nothing; ask for each as a GEMM without groups";
  }
  const fusion::ProblemShape& shape = expected.shape;
  const fusion::Graph& graph = expected.graph;
  const fusion::ResolvedArguments values = args.fusion.resolved(shape);
  if (graph.d >= 0) {
    fusion::ProblemShape of_d = one_matrix_of_rows(shape);
    const bool scatters = o.scatter_d != RowScatter::none;
    if (scatters) of_d.m = args.scatter.rows;
    const fusion::ReferenceTensor actual = reference_tensor(args.d, o.d, !is_m_major(o.layout_d), of_d);
    const std::string d = fusion::first_mismatch(scatters ? scattered(o, args, expected) : expected.d, actual, of_d);
    if (!d.empty()) return "D: " + d;
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    if (!fusion::is_output(graph.arguments[i].kind) || values.values[i].pointer == nullptr) continue;
    const std::string wrong = fusion::first_mismatch(expected.outputs[i], output_tensor(graph, values, i),
                                                     output_shape(graph, values, i, shape));
    if (!wrong.empty()) return std::string(graph.arguments[i].name.text) + ": " + wrong;
  }
  return {};
}

}  // namespace detail

}  // namespace gantry
