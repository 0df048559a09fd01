// The reference of grouped GEMMs and of rows that an index names: group by group, each a GEMM of its own, put together
// to what the whole should give. Included by reference_definitions.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/gemm/group_check.hpp>
#include <gantry/gemm/reference.hpp>

namespace gantry::detail {

// What another group brings to a result of a reduction.
inline fusion::Range combined(const fusion::Range& x, const fusion::Range& y, fusion::Reduction reduction) {
  using fusion::Function;
  using fusion::Reduction;
  if (reduction == Reduction::max || reduction == Reduction::amax) return apply(Function::max, x, y);
  if (reduction == Reduction::min) return apply(Function::min, x, y);
  if (reduction == Reduction::mul) return apply(Function::multiply, x, y);
  if (reduction == Reduction::add) return apply(Function::add, x, y);
  // How large the exponents were that sums of exponentials are relative to is not known any more.
  if (reduction == Reduction::sumexp) return fusion::detail::anything(x.value);
  const auto sum = [](double a, double b) {
    const double larger = std::max(a, b);
    return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
  };
  const double lost = 0x1p-20 + 0x1p-22 * std::max(std::fabs(x.value), std::fabs(y.value));
  return {sum(x.value, y.value), sum(x.lower, y.lower) - lost, sum(x.upper, y.upper) + lost};
}

GANTRY_LINKAGE void combine(const std::vector<fusion::Range>& more, fusion::Reduction reduction,
                            std::vector<fusion::Range>& out) {
  if (out.empty()) out.assign(more.size(), fusion::exactly(static_cast<double>(fusion::identity(reduction))));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = combined(out[i], more[i], reduction);
}

// The rows, or rows of K, that each group has: one of all rows where there are no groups.
inline std::vector<GroupSpan> spans_of(const GemmOptions& o, const GemmInputs& args) {
  const GemmExtents& e = args.extents;
  if (o.groups == GemmGrouping::none) return {{0, e.m}};
  if (args.groups.counts != nullptr) return spans_of_counts(args.groups.counts, e.batch, e.m / e.batch);
  return spans_of_offsets(args.groups.offsets, e.batch, {o.groups, o.groups == GemmGrouping::along_m ? e.m : e.k});
}

class GroupedReference {
 public:
  GroupedReference(const GemmOptions& o, const GemmInputs& args, fusion::detail::UserRange users)
      : o_(o), args_(args), graph_(args.fusion.graph()), users_(users) {
    const bool rows = o.groups == GemmGrouping::along_m;
    const std::int64_t columns = graph_.gated() ? args.extents.n / 2 : args.extents.n;
    whole_.graph = graph_;
    whole_.shape = {.m = args.extents.m, .n = columns, .batch = args.extents.batch, .groups_of_rows = rows};
    values_ = args.fusion.resolved(whole_.shape);
  }

  // `all`: the GEMM as one of a batch, with the strides of its matrices.
  fusion::ReferenceResult run(const GemmReferenceProblem& all) {
    if (o_.groups == GemmGrouping::none)
      return gemm_reference(graph_, gathered(all, {0, all.shape.m}), args_.fusion, users_);
    prepare();
    const std::vector<GroupSpan> groups = spans_of(o_, args_);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto group = static_cast<std::int64_t>(g);
      const bool rows = o_.groups == GemmGrouping::along_m;
      if (rows && groups[g].count == 0) continue;
      const fusion::ReferenceResult one =
          gemm_reference(graph_, rows ? of_rows(all, groups[g], group) : of_k(all, groups[g], group),
                         arguments_of(groups[g], group), users_);
      put(one, rows ? groups[g].begin : 0, group);
      copies_.clear();
      scales_.clear();
    }
    return std::move(whole_);
  }

 private:
  bool by_rows() const { return o_.groups == GemmGrouping::along_m; }
  std::int64_t matrices() const { return by_rows() ? 1 : whole_.shape.batch; }
  bool is_shared(int i) const { return values_.values[i].batch_stride == 0; }
  static bool is_column(const fusion::Argument& a) {
    return a.kind == fusion::ArgumentKind::column ||
           (a.kind == fusion::ArgumentKind::reduction && a.extent == fusion::Extent::column);
  }

  // Rows that no group has may hold anything.
  void prepare() {
    const fusion::Range open = fusion::detail::anything(0);
    const fusion::ProblemShape& s = whole_.shape;
    const auto count = [&](std::int64_t columns) { return static_cast<std::size_t>(matrices() * s.m * columns); };
    if (graph_.d >= 0) whole_.d.assign(count(s.n), open);
    for (int i = 0; i < graph_.argument_count; ++i) {
      const fusion::Argument& a = graph_.arguments[i];
      if (a.kind == fusion::ArgumentKind::aux_out) whole_.outputs[i].assign(count(fusion::columns_of(a, s.n)), open);
      if (a.kind != fusion::ArgumentKind::reduction) continue;
      const fusion::Range none =
          fusion::exactly(static_cast<double>(fusion::identity(fusion::reduction_of(graph_, i))));
      const std::int64_t results = fusion::results_of(a, s.m, s.n);
      const bool one_for_all = by_rows() && is_column(a);
      const std::int64_t batches = one_for_all || is_shared(i) ? 1 : s.batch;
      whole_.outputs[i].assign(static_cast<std::size_t>(results * batches), one_for_all ? open : none);
    }
  }

  GemmReferenceProblem of_rows(GemmReferenceProblem p, const GroupSpan& rows, std::int64_t group) {
    move(p.a, rows.begin * p.a.stride_m);
    move(p.b, group * p.b.batch_stride);
    move(p.source, rows.begin * p.source.stride_m);
    if (p.scale_a.data != nullptr && !o_.gather_a) p.scale_a.data += rows.begin * p.scale_a.stride;
    if (p.scale_b.data != nullptr) p.scale_b.data += group * p.scale_b.batch_stride;
    p.shape.m = rows.count;
    p.shape.batch = 1;
    p.first_row = rows.begin;
    return gathered(p, rows);
  }

  static GemmReferenceProblem of_k(GemmReferenceProblem p, const GroupSpan& rows, std::int64_t group) {
    move(p.a, rows.begin * p.a.stride_n);
    move(p.b, rows.begin * p.b.stride_n);
    move(p.source, group * p.source.batch_stride);
    p.k = rows.count;
    p.shape.batch = 1;
    p.first_batch = group;
    return p;
  }

  static void move(fusion::ReferenceTensor& x, std::int64_t elements) {
    if (x.data != nullptr) x.data = static_cast<const std::uint8_t*>(x.data) + elements * element_bits(x.element) / 8;
  }

  // With the rows that the index names in the place of A, and their scales, one after another; rows that are not there
  // are zeros.
  GemmReferenceProblem gathered(GemmReferenceProblem p, const GroupSpan& rows) {
    if (!o_.gather_a) return p;
    const std::int64_t bytes = element_bits(p.a.element) / 8, batches = p.shape.batch;
    // Where groups moved A to their rows, the index counts from its first.
    const auto* const from = static_cast<const std::uint8_t*>(args_.a.data);
    std::vector<std::uint8_t>& copy =
        copies_.emplace_back(static_cast<std::size_t>(batches * rows.count * p.k * bytes));
    const std::int64_t blocks = scale_blocks(p.k);
    std::vector<float>& scales = scales_.emplace_back();
    if (p.mode_a != ScaleMode::none) scales.assign(static_cast<std::size_t>(batches * rows.count * blocks), 1.0F);
    for (std::int64_t i = 0; i < batches * rows.count; ++i) {
      const std::int64_t batch = i / rows.count;
      const std::int32_t row = args_.gather.index[batch * whole_.shape.m + rows.begin + i % rows.count];
      if (row < 0 || row >= args_.gather.rows) continue;
      std::memcpy(copy.data() + i * p.k * bytes, from + (batch * p.a.batch_stride + row * p.a.stride_m) * bytes,
                  static_cast<std::size_t>(p.k * bytes));
      const GemmScale& x = p.scale_a;
      for (std::int64_t k = 0; k < blocks && !scales.empty(); ++k) {
        scales[static_cast<std::size_t>(i * blocks + k)] =
            x.data[batch * x.batch_stride + row * x.stride + k * x.k_stride];
      }
    }
    if (!scales.empty()) p.scale_a = {scales.data(), blocks, 1, rows.count * blocks};
    p.a = {p.a.element, copy.data(), p.k, 1, rows.count * p.k};
    return p;
  }

  // Those of one group, as a GEMM of its own takes them.
  fusion::FusionArguments arguments_of(const GroupSpan& rows, std::int64_t group) {
    fusion::FusionArguments out(graph_);
    for (int i = 0; i < graph_.argument_count; ++i) {
      const fusion::Argument& a = graph_.arguments[i];
      const fusion::ArgumentValue& v = values_.values[i];
      auto slot = out[a.name.text];
      if (v.pointer == nullptr) {
        if (v.given) slot = v.value;
        continue;
      }
      const bool tensor = fusion::is_matrix(a), along_m = by_rows() && (tensor || is_column(a));
      const std::int64_t row = tensor ? (a.row_major ? v.stride : 1) : 1;
      const std::int64_t begin = along_m ? rows.begin * row : group * v.batch_stride;
      void* const first = from(a, v.pointer, begin, rows.count);
      const std::int64_t batch = is_shared(i) || tensor ? 0 : 1;
      if (tensor) {
        slot.tensor(first, v.stride, batch);
      } else {
        slot.batched(first, batch);
      }
    }
    return out;
  }

  // Elements of less than a byte may begin inside of one: a vector of them is copied.
  void* from(const fusion::Argument& a, void* data, std::int64_t begin, std::int64_t count) {
    const std::int64_t bits = begin * element_bits(a.element);
    if (bits % 8 == 0) return static_cast<std::uint8_t*>(data) + bits / 8;
    std::vector<std::uint8_t>& copy = copies_.emplace_back(static_cast<std::size_t>(bytes_for(a.element, count)) + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      store_from_double(a.element, copy.data(), i, load_as_double(a.element, data, begin + i));
    }
    return copy.data();
  }

  void put(const fusion::ReferenceResult& one, std::int64_t first_row, std::int64_t group) {
    const auto rows_at = [&](const std::vector<fusion::Range>& part, std::int64_t columns,
                             std::vector<fusion::Range>& to) {
      const std::int64_t row = by_rows() ? first_row : group * whole_.shape.m;
      std::copy(part.begin(), part.end(), to.begin() + row * columns);
    };
    if (graph_.d >= 0) rows_at(one.d, whole_.shape.n, whole_.d);
    for (int i = 0; i < graph_.argument_count; ++i) {
      const fusion::Argument& a = graph_.arguments[i];
      std::vector<fusion::Range>& to = whole_.outputs[i];
      if (a.kind == fusion::ArgumentKind::aux_out) rows_at(one.outputs[i], fusion::columns_of(a, whole_.shape.n), to);
      if (a.kind != fusion::ArgumentKind::reduction) continue;
      if (by_rows() && is_column(a)) {
        rows_at(one.outputs[i], 1, to);
      } else if (is_shared(i)) {
        combine(one.outputs[i], fusion::reduction_of(graph_, i), to);
      } else {
        std::copy(one.outputs[i].begin(), one.outputs[i].end(),
                  to.begin() + group * static_cast<std::int64_t>(one.outputs[i].size()));
      }
    }
  }

  const GemmOptions& o_;
  const GemmInputs& args_;
  const fusion::Graph& graph_;
  fusion::detail::UserRange users_;
  fusion::ReferenceResult whole_{};
  fusion::ResolvedArguments values_{};
  std::deque<std::vector<std::uint8_t>> copies_;
  std::deque<std::vector<float>> scales_;
};

// What D should hold where rows go to those that an index names, row by row of D. A row of D that no row goes to may
// hold anything. Where rows are added, D begins as zeros, and each addition rounds to D's elements.
inline std::vector<fusion::Range> scattered(const GemmOptions& o, const GemmInputs& args,
                                            const fusion::ReferenceResult& expected) {
  const std::int64_t columns = expected.shape.n, rows = args.scatter.rows;
  const std::int64_t batches = expected.shape.groups_of_rows ? 1 : expected.shape.batch;
  std::vector<fusion::Range> out(static_cast<std::size_t>(batches * rows * columns), fusion::detail::anything(0));
  std::vector<std::int32_t> parts(static_cast<std::size_t>(batches * rows));
  const double step = o.d == ElementType::f32 ? 0x1p-24 : o.d == ElementType::f16 ? 0x1p-11 : 0x1p-8;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (const GroupSpan& lines : spans_of(o, args)) {
      for (std::int64_t m = lines.begin; m < lines.begin + lines.count; ++m) {
        const std::int64_t to = args.scatter.index[batch * expected.shape.m + m];
        if (to < 0 || to >= rows) continue;
        const bool is_first = parts[static_cast<std::size_t>(batch * rows + to)]++ == 0;
        for (std::int64_t n = 0; n < columns; ++n) {
          const fusion::Range& x = expected.d[expected.index(m, n, batch)];
          fusion::Range& sum = out[static_cast<std::size_t>((batch * rows + to) * columns + n)];
          if (is_first || o.scatter_d == RowScatter::store) {
            sum = x;
          } else if (!sum.unbounded()) {
            // Any order: no partial sum is larger than what all of them have together.
            const double lost =
                step * (std::fabs(sum.lower) + std::fabs(sum.upper) + std::fabs(x.lower) + std::fabs(x.upper));
            sum = {sum.value + x.value, sum.lower + x.lower - lost, sum.upper + x.upper + lost};
          }
        }
      }
    }
  }
  return out;
}

}  // namespace gantry::detail
