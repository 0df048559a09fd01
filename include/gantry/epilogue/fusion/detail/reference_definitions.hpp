// What reference.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <algorithm>
#include <cstring>

#include <gantry/epilogue/fusion/reference.hpp>

namespace gantry::fusion {

namespace detail {

// The values that go into one result of a reduction, in any order.
class ReducedRange {
 public:
  explicit ReducedRange(Reduction reduction) : reduction_(reduction) {}

  void add(const Range& x) {
    nan_ = nan_ || x.is_nan();
    const Range y = reduction_ == Reduction::amax ? apply(Function::abs, x) : x;
    const bool first = count_++ == 0;
    whole_ = whole_ && y.is_point() && y.value == std::rint(y.value);
    if (reduction_ == Reduction::add) {
      total_ = {total_.value + y.value, total_.lower + y.lower, total_.upper + y.upper};
      magnitude_ += largest(y);
      return;
    }
    if (std::isnan(y.value) || y.unbounded()) unknown_ = true;
    if (reduction_ == Reduction::mul) return multiply(y, first);
    if (reduction_ == Reduction::sumexp) return add_exponential(y);
    if (reduction_ == Reduction::lse) {
      largest_ = first ? largest(y) : std::max(largest_, std::isfinite(y.value) ? largest(y) : 0);
      total_ = first ? y
                     : Range{log_add_exp(total_.value, y.value), log_add_exp(total_.lower, y.lower),
                             log_add_exp(total_.upper, y.upper)};
      return;
    }
    total_ = first ? y : apply(reduction_ == Reduction::min ? Function::min : Function::max, total_, y);
  }

  // Nothing reduced gives the identity. A NaN is the result of all of them.
  Range range() const {
    if (count_ == 0) return exactly(identity(reduction_));
    if (nan_) return exactly(std::numeric_limits<double>::quiet_NaN());
    // Partial results may be infinite where the whole is not, and of both signs.
    const bool overflows = !(magnitude_ <= static_cast<double>(std::numeric_limits<float>::max()));
    if (unknown_ || overflows || std::isnan(total_.value)) return anything(total_.value);
    if (reduction_ == Reduction::lse && std::isinf(total_.value)) return exactly(total_.value);
    if (reduction_ == Reduction::sumexp && std::isinf(top_.value)) return exactly(top_.value > 0 ? top_.value : 0);
    const double slack = rounding();
    return {total_.value, total_.lower - slack, total_.upper + slack};
  }

 private:
  static double log_add_exp(double a, double b) {
    const double larger = std::max(a, b), smaller = std::min(a, b);
    return std::isinf(larger) ? larger : larger + std::log1p(std::exp(smaller - larger));
  }

  // A sum relative to a base, which moves as it grows.
  static void add_exponential(double exponent, double base_with_it, double& base, double& sum) {
    const double next = std::max(base, base_with_it);
    sum = sum * (base == next ? 1 : std::exp(base - next)) + std::exp(exponent - next);
    base = next;
  }
  // The largest exponent is at least the largest lower end, and at most the largest upper one.
  void add_exponential(const Range& y) {
    if (std::isinf(y.value)) {
      top_.value = std::max(top_.value, y.value);
      return;
    }
    add_exponential(y.value, y.value, top_.value, total_.value);
    add_exponential(y.lower, y.upper, top_.upper, total_.lower);
    add_exponential(y.upper, y.lower, top_.lower, total_.upper);
  }

  void multiply(const Range& y, bool first) {
    total_ = first ? y : apply(Function::multiply, total_, y);
    magnitude_ = std::max(1.0, largest(y)) * (first ? 1 : magnitude_);
  }

  // A sum of n floats in any order is off by at most n - 1 roundings of the sum of magnitudes, a product by as many of
  // its own, or of the smallest number times what it is multiplied by. Of small integers both are exact.
  double rounding() const {
    const auto count = static_cast<double>(count_);
    switch (reduction_) {
      case Reduction::add:
        return whole_ && magnitude_ <= 0x1p24 ? 0 : count * kHalfUlp * magnitude_ * (1 + 0x1p-10);
      case Reduction::mul:
        if (whole_ && magnitude_ <= 0x1p24) return 0;
        return count * (kHalfUlp * largest(total_) * (1 + 0x1p-10) + 0x1p-149 * magnitude_);
      case Reduction::lse:
        if (count_ == 1) return 0;
        // A thread has at most 256 values of a tile; tiles have 8 columns or more. Each step rounds, and is off by
        // 2^-22 in the exponential and in the logarithm.
        return (256 + count / 8) * (2 * kHalfUlp * (largest_ + std::log(count)) + 0x1p-20);
      case Reduction::sumexp:
        // As many steps, each of which multiplies by an exponential. A rounded exponent t below the largest is off by
        // 2^-23 t, which matters as e^-t does.
        return (count_ == 1 ? 0 : 256 + count / 8) * 0x1p-20 * total_.upper + count * 0x1p-126;
      default:
        return 0;
    }
  }

  Reduction reduction_;
  Range total_{};
  double magnitude_ = 0;  // of a sum: of the values; of a product: of those above 1
  double largest_ = 0;    // absolute value
  // Of a sum of exponentials, the largest exponent.
  Range top_{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
             -std::numeric_limits<double>::infinity()};
  std::int64_t count_ = 0;
  bool whole_ = true;
  bool nan_ = false;
  bool unknown_ = false;
};

// What the walk below needs to know of the two sorts of values.
inline void read_into(Range& out, ElementType element, const void* data, std::int64_t index) {
  out = from_memory(element, data, index);
}
inline void read_into(ComplexRange& out, ElementType element, const void* data, std::int64_t index) {
  out = complex_from_memory(element, data, index);
}
inline void real_into(Range& out, double x) { out = exactly(x); }
inline void real_into(ComplexRange& out, double x) { out = {exactly(x), exactly(0)}; }

inline bool is_zero(const Range& x) { return x.is_point() && x.value == 0; }
inline bool is_zero(const ComplexRange& x) { return is_zero(x.real) && is_zero(x.imag); }

inline Range rounded_to(ElementType element, const Range& x) {
  if (element == ElementType::u1) {
    const Range whole{std::rint(x.value), std::rint(x.lower), std::rint(x.upper)};
    return apply(Function::clamp, whole, exactly(0), exactly(1));
  }
  Range out = as_element(element, x);
  if (!out.unbounded()) out.value = as_element(element, exactly(x.value)).lower;
  return out;
}
inline ComplexRange rounded_to(ElementType element, const ComplexRange& x) {
  return {rounded_to(element, x.real), rounded_to(element, x.imag)};
}

// Complex values are summed part by part; they have no maximum.
class ReducedComplexRange {
 public:
  explicit ReducedComplexRange(Reduction reduction)
      : adds_(reduction == Reduction::add), real_(reduction), imag_(reduction) {}

  void add(const ComplexRange& x) {
    real_.add(adds_ ? x.real : anything(x.real.value));
    imag_.add(adds_ ? x.imag : anything(x.imag.value));
  }
  ComplexRange range() const { return {real_.range(), imag_.range()}; }

 private:
  bool adds_;
  ReducedRange real_;
  ReducedRange imag_;
};

template <class V>
struct SumOf {
  using type = ReducedRange;
};
template <>
struct SumOf<ComplexRange> {
  using type = ReducedComplexRange;
};

template <class V>
class Reference {
 public:
  Reference(const Graph& graph, const ReferenceProblem& problem, const FusionArguments& arguments, UserRange users)
      : graph_(graph),
        problem_(problem),
        arguments_(arguments.resolved(problem.shape)),
        users_(users),
        source_factors_(source_factors(graph)) {}

  ReferenceResultOf<V> run() {
    const ProblemShape& shape = problem_.shape;
    Outputs outputs;
    ReferenceResultOf<V>& out = outputs.result;
    out.graph = graph_;
    out.shape = shape;
    if (graph_.d >= 0) out.d.resize(static_cast<std::size_t>(shape.m * shape.n * shape.batch));
    for (int i = 0; i < graph_.argument_count; ++i) {
      const Argument& a = graph_.arguments[i];
      if (a.kind != ArgumentKind::aux_out) continue;
      out.outputs[i].resize(static_cast<std::size_t>(shape.m * columns_of(a, shape.n) * shape.batch));
    }
    for (int i = 0; i < graph_.node_count; ++i) {
      const Node& node = graph_.nodes[i];
      if (node.kind == NodeKind::reduce)
        outputs.sums[node.argument].assign(results(node.argument), Sum(node.reduction));
    }
    Rows values;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      for (std::int64_t m = 0; m < shape.m; ++m) {
        compute_row(m, batch, values);
        for (int i = 0; i < graph_.node_count; ++i) keep_outputs(i, {m, 0, batch}, values, outputs);
        for (std::int64_t n = 0; graph_.d >= 0 && n < shape.n; ++n) {
          out.d[out.index(m, n, batch)] =
              as_element(problem_.d_element, values.of[graph_.d][static_cast<std::size_t>(n)], graph_.rounding);
        }
      }
    }
    for (int i = 0; i < graph_.argument_count; ++i) {
      for (const Sum& sum : outputs.sums[i]) {
        out.outputs[i].push_back(as_element(graph_.arguments[i].element, sum.range(), graph_.rounding));
      }
    }
    return std::move(outputs.result);
  }

 private:
  using Sum = typename SumOf<V>::type;

  struct Outputs {
    ReferenceResultOf<V> result;
    std::vector<Sum> sums[kMaxArguments];  // of reductions, by argument
  };

  struct Place {
    std::int64_t m, n, batch;
  };
  // Of one row of D: the values of each node.
  struct Rows {
    std::vector<V> of[kMaxNodes];
  };

  // How many results each batch has, and all of them together.
  std::int64_t extent(int i) const { return results_of(graph_.arguments[i], problem_.shape.m, problem_.shape.n); }
  bool by_batch(int i) const { return arguments_.values[i].batch_stride != 0; }
  std::size_t results(int i) const {
    return static_cast<std::size_t>(extent(i) * (by_batch(i) ? problem_.shape.batch : 1));
  }

  V read(const ReferenceTensor& tensor, std::int64_t m, std::int64_t n, std::int64_t batch) const {
    V out{};
    if (tensor.data != nullptr) read_into(out, tensor.element, tensor.data, tensor.index(m, n, batch));
    return out;
  }
  V read(int i, std::int64_t m, std::int64_t n, std::int64_t batch) const {
    const Argument& argument = graph_.arguments[i];
    const ArgumentValue& value = arguments_.values[i];
    V out{};
    if (value.pointer == nullptr) {
      real_into(out, static_cast<double>(value.value));
      return out;
    }
    std::int64_t index = batch * value.batch_stride;
    if (argument.kind == ArgumentKind::row) index += n;
    if (argument.kind == ArgumentKind::column) index += m;
    if (argument.kind == ArgumentKind::aux_in) {
      index += argument.row_major ? m * value.stride + n : n * value.stride + m;
    }
    read_into(out, argument.element, value.pointer, index);
    return out;
  }

  // C counts as 0 where a factor of every use of it is (source.hpp), whatever its memory holds.
  bool reads_source(std::int64_t batch) const {
    for (int i = 0; i < graph_.argument_count; ++i) {
      if ((source_factors_ >> i & 1) == 0) continue;
      const bool scalar = graph_.arguments[i].kind == ArgumentKind::scalar;
      if ((scalar || arguments_.values[i].pointer == nullptr) && is_zero(read(i, 0, 0, batch))) return false;
    }
    return true;
  }

  V accumulator(bool up, std::int64_t m, std::int64_t n, std::int64_t batch) const {
    if constexpr (__is_same(V, Range)) {
      const ProblemShape& shape = problem_.shape;
      const Range* ranges = up ? problem_.up_ranges : problem_.accumulator_ranges;
      if (ranges != nullptr) return ranges[(batch * shape.m + m) * shape.n + n];
    }
    return read(up ? problem_.up : problem_.accumulators, m, n, batch);
  }

  // Whether dropout keeps an element.
  bool kept(const Node& node, std::int64_t m, std::int64_t n, std::int64_t batch) const {
    const ArgumentValue& value = arguments_.values[node.argument];
    auto seed = static_cast<std::uint32_t>(value.value);
    if (value.pointer != nullptr) {
      const std::int64_t bytes = info(graph_.arguments[node.argument].element).bits / 8;
      std::memcpy(&seed, static_cast<const char*>(value.pointer) + batch * value.batch_stride * bytes, sizeof(seed));
    }
    const std::uint32_t key = dropout_key(seed, static_cast<int>(problem_.first_batch + batch));
    return keeps({drop_threshold(node.constant), key}, static_cast<int>(problem_.first_row + m), static_cast<int>(n));
  }

  V compute(const Node& node, const V* x) const {
    if (node.function == Function::round) return rounded_to(node.element, x[0]);
    if constexpr (__is_same(V, Range)) {
      if (node.function == Function::user) return users_(node.user, x);
    }
    return apply(node.function, x[0], x[1], x[2]);
  }

  // The value of node i from those before it.
  V node_value(int i, const Rows& values, const Place& at) const {
    const Node& node = graph_.nodes[i];
    V out{};
    V x[3];
    for (int k = 0; k < 3; ++k) {
      if (node.inputs[k] >= 0) x[k] = values.of[node.inputs[k]][static_cast<std::size_t>(at.n)];
    }
    switch (node.kind) {
      case NodeKind::accumulator:
      case NodeKind::gate:
      case NodeKind::up:
        return accumulator(node.kind == NodeKind::up, at.m, at.n, at.batch);
      case NodeKind::source:
        return reads_source(at.batch) ? read(problem_.source, at.m, at.n, at.batch) : V{};
      case NodeKind::constant:
        real_into(out, static_cast<double>(node.constant));
        return out;
      case NodeKind::keep:
        real_into(out, kept(node, at.m, at.n, at.batch) ? 1 : 0);
        return out;
      case NodeKind::compute:
        return compute(node, x);
      case NodeKind::aux_store:
      case NodeKind::reduce:
        return x[0];
      default:
        return read(node.argument, at.m, at.n, at.batch);
    }
  }

  // What is rotated, from the other column of its pair.
  void rotate(const Node& node, const std::vector<V>& in, std::vector<V>& out) const {
    for (std::size_t n = 0; n < out.size(); ++n) {
      const auto partner = static_cast<std::size_t>(partner_column(node.head, static_cast<std::int64_t>(n)));
      out[n] = partner > n ? apply(Function::neg, in[partner]) : in[partner];
    }
  }

  // What is combined over the columns of each span.
  void combine(const Node& node, const std::vector<V>& in, std::vector<V>& out) const {
    if constexpr (__is_same(V, Range)) {
      for (std::size_t first = 0; first < in.size(); first += static_cast<std::size_t>(node.head)) {
        const std::size_t end = std::min(in.size(), first + static_cast<std::size_t>(node.head));
        if (node.function == Function::top_k) {
          for (std::size_t n = first; n < end; ++n) out[n] = among_largest(in, {first, end, n}, node.most);
          continue;
        }
        Sum sum(node.function == Function::across_add    ? Reduction::add
                : node.function == Function::across_amax ? Reduction::amax
                                                         : Reduction::max);
        for (std::size_t n = first; n < end; ++n) sum.add(in[n]);
        const Range whole = sum.range();
        for (std::size_t n = first; n < end; ++n) out[n] = whole;
      }
    } else {
      out = in;  // complex values are not combined: check_elements and the rules of epilogues see to it
    }
  }

  // Whether fewer than `most` values of the row are larger: 1, 0, or either where intervals overlap.
  struct OfRow {
    std::size_t first, end, n;
  };
  static Range among_largest(const std::vector<Range>& x, const OfRow& at, int most) {
    int larger = 0, surely = 0, perhaps = 0;
    bool nan = false;
    for (std::size_t n = at.first; n < at.end; ++n) {
      nan = nan || x[n].is_nan();
      larger += x[n].value > x[at.n].value ? 1 : 0;
      surely += x[n].lower > x[at.n].upper ? 1 : 0;
      perhaps += n != at.n && x[n].upper > x[at.n].lower ? 1 : 0;
    }
    if (nan) return exactly(1);
    return {larger < most ? 1.0 : 0.0, perhaps < most ? 1.0 : 0.0, surely < most ? 1.0 : 0.0};
  }

  void compute_row(std::int64_t m, std::int64_t batch, Rows& values) const {
    const auto columns = static_cast<std::size_t>(problem_.shape.n);
    for (int i = 0; i < graph_.node_count; ++i) {
      const Node& node = graph_.nodes[i];
      std::vector<V>& out = values.of[i];
      out.resize(columns);
      if (is_across(node)) {
        combine(node, values.of[node.inputs[0]], out);
      } else if (span_of(node) > 0) {
        rotate(node, values.of[node.inputs[0]], out);
      } else {
        for (std::size_t n = 0; n < columns; ++n) {
          out[n] = node_value(i, values, {m, static_cast<std::int64_t>(n), batch});
        }
      }
      for (std::size_t n = 0; n < columns && is_rounded(graph_, i); ++n)
        out[n] = rounded_to(graph_.compute_element, out[n]);
    }
  }

  // Which of the results of a batch element (m, n) belongs to; results of blocks are a matrix, row by row.
  std::int64_t result_at(const Argument& a, std::int64_t m, std::int64_t n) const {
    if (is_partial(a)) {
      const std::int64_t columns = extents_of(a, problem_.shape.m, problem_.shape.n).columns;
      return a.extent == Extent::row ? m / a.block * columns + n : m * columns + n / a.block;
    }
    return a.extent == Extent::row ? n : a.extent == Extent::column ? m : 0;
  }

  // Of a row, what node i stores or reduces.
  void keep_outputs(int i, const Place& row, const Rows& values, Outputs& out) const {
    const Node& node = graph_.nodes[i];
    if (node.kind != NodeKind::aux_store && node.kind != NodeKind::reduce) return;
    const Argument& a = graph_.arguments[node.argument];
    const std::int64_t step = is_by_block(a) ? a.block : 1, columns = columns_of(a, problem_.shape.n);
    for (std::int64_t n = 0; n < problem_.shape.n; n += step) {
      const V& value = values.of[i][static_cast<std::size_t>(n)];
      if (node.kind == NodeKind::aux_store) {
        const std::int64_t place = (row.batch * problem_.shape.m + row.m) * columns + n / step;
        out.result.outputs[node.argument][static_cast<std::size_t>(place)] =
            as_element(a.element, value, graph_.rounding);
      } else {
        const std::int64_t at = result_at(a, row.m, n);
        const std::int64_t first = by_batch(node.argument) ? row.batch * extent(node.argument) : 0;
        out.sums[node.argument][static_cast<std::size_t>(first + at)].add(value);
      }
    }
  }

  const Graph& graph_;
  const ReferenceProblem& problem_;
  ResolvedArguments arguments_;
  UserRange users_;
  std::uint32_t source_factors_;
};

GANTRY_LINKAGE ReferenceResult reference_with(const Graph& graph, const ReferenceProblem& problem,
                                              const FusionArguments& arguments, UserRange users) {
  return Reference<Range>(graph, problem, arguments, users).run();
}

inline std::string text_of(const Range& range) {
  return std::to_string(range.value) + ", in [" + std::to_string(range.lower) + ", " + std::to_string(range.upper) +
         "]";
}
inline std::string text_of(const ComplexRange& range) {
  return text_of(range.real) + " and, imaginary, " + text_of(range.imag);
}
inline bool holds(const Range& range, cf64 x) { return range.holds(x.real); }
inline bool holds(const ComplexRange& range, cf64 x) { return range.holds(x); }

template <class V>
std::string first_outside(const std::vector<V>& expected, const ReferenceTensor& actual, const ProblemShape& shape) {
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t m = 0; m < shape.m; ++m) {
      for (std::int64_t n = 0; n < shape.n; ++n) {
        const V& range = expected[static_cast<std::size_t>((batch * shape.m + m) * shape.n + n)];
        const cf64 x = load_as_complex(actual.element, actual.data, actual.index(m, n, batch));
        if (holds(range, x)) continue;
        std::string out =
            "element (" + std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(batch) + ") is ";
        out += std::to_string(x.real) + (x.imag != 0 ? " + " + std::to_string(x.imag) + "i" : "");
        return out + ", and should be " + text_of(range);
      }
    }
  }
  return {};
}

}  // namespace detail

GANTRY_LINKAGE ComplexReferenceResult complex_reference(const Graph& graph, const ReferenceProblem& problem,
                                                        const FusionArguments& arguments) {
  return detail::Reference<ComplexRange>(graph, problem, arguments, nullptr).run();
}

GANTRY_LINKAGE std::string first_mismatch(const std::vector<Range>& expected, const ReferenceTensor& actual,
                                          const ProblemShape& shape) {
  return detail::first_outside(expected, actual, shape);
}
GANTRY_LINKAGE std::string first_mismatch(const std::vector<ComplexRange>& expected, const ReferenceTensor& actual,
                                          const ProblemShape& shape) {
  return detail::first_outside(expected, actual, shape);
}

}  // namespace gantry::fusion
