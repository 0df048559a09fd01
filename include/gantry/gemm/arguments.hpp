// What the host hands to a product, and everything that can be wrong with it.
//
// D = f(A B, C, ...) for each of `batch` matrices: A is M x K, B is K x N. A matrix is a pointer, a stride (elements
// from one row to the next, or column where columns are contiguous; left out: packed) and a batch stride (left out:
// matrix after matrix; 0: all share one that is read). Operands of the graph have their names: args.fusion["bias"] =
// pointer.
//
// Defined: with M, N or batch 0 nothing is computed, and reductions become 0 (of max: -infinity); with K = 0 the sums
// are 0, and A and B are not looked at.
//
// Example at namespace scope:
//     struct Product {};
//     inline std::vector<std::string> reasons(const gantry::bf16* a, const gantry::bf16* b, gantry::bf16* d) {
//       gantry::GemmArguments<Product> args({.m = 256, .n = 512, .k = 100});
//       args.a = {a, 104};  // rows of 100 elements, 208 bytes apart
//       args.b = b;         // packed rows of 200 bytes: no multiple of 16, and the answer says so
//       args.d = d;
//       return gantry::can_implement(args);
//     }
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/gemm/detail/matrix_facts.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry {

namespace detail {

template <class Spec>
struct FusionArgumentsOf {
  using type = fusion::ArgumentsFor<typename GemmTypes<Spec>::Fusion>;
};
template <class Spec>
requires kRunTimeGraph<Spec>
struct FusionArgumentsOf<Spec> {
  using type = fusion::FusionArguments;
};

// Whether what is an argument of one product is one of the other, and means the same.
template <class Spec, class Other>
constexpr bool share_arguments() {
  constexpr GemmOptions x = GemmTypes<Spec>::kChosen, y = GemmTypes<Other>::kChosen;
  return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.major_a == y.major_a && x.major_b == y.major_b &&
         x.layout_c == y.layout_c && x.layout_d == y.layout_d &&
         (x.split == SplitMode::reduce_add) == (y.split == SplitMode::reduce_add);
}

// What lies in memory: tf32 is read from floats, which the copy engine rounds.
template <ElementType e>
struct MemoryElement {
  using type = element_t<e>;
};
template <>
struct MemoryElement<ElementType::tf32> {
  using type = float;
};

}  // namespace detail

template <class Spec>
struct GemmArguments {
  using Types = GemmTypes<Spec>;
  using A = typename detail::MemoryElement<Types::kChosen.a>::type;
  using B = typename detail::MemoryElement<Types::kChosen.b>::type;
  using C = element_t<Types::kChosen.c>;
  using D = element_t<Types::kChosen.d>;

  GemmArguments(const GemmExtents& size = {}) : extents(size), fusion() {}  // NOLINT(google-explicit-constructor)
  // Those of another product of the same elements, majors and graph.
  template <class Other>
  explicit GemmArguments(const GemmArguments<Other>& other)
      : extents(other.extents), a(other.a), b(other.b), c(other.c), d(other.d), dependent(other.dependent) {
    static_assert(detail::share_arguments<Spec, Other>(),
                  "gantry: the products have different elements, majors or layouts, or one of them adds to D");
    static_assert(detail::graph_of<Spec>() == detail::graph_of<Other>(), "gantry: the products have different graphs");
    static_cast<fusion::FusionArguments&>(fusion) = other.fusion;
  }
  // Of a specification whose graph comes at run time.
  GemmArguments(const GemmExtents& size, const fusion::Graph& graph) : extents(size), fusion(graph) {}

  GemmExtents extents;
  GemmMatrix<const A> a;
  GemmMatrix<const B> b;
  GemmMatrix<const C> c;
  GemmMatrix<D> d;
  typename detail::FusionArgumentsOf<Spec>::type fusion;
  // On a GPU: the kernel may start before the one before it in the stream has ended; it touches memory only after that.
  bool dependent = false;
};

namespace detail {

// The copy engine reads and writes lines that begin at multiples of 16 bytes. A stride that no line uses may be any.
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

GANTRY_COLD inline void check_matrix(const MatrixFacts& x, bool written, std::vector<std::string>& out) {
  if (element_bits(x.element) == 0) return;
  const char *name = x.name, *lines = x.rows ? "rows" : "columns", *element = info(x.element).name;
  if (x.data == nullptr) {
    out.push_back(sentence({name, " was not given"}));
    return;
  }
  const auto beyond = reinterpret_cast<std::uintptr_t>(x.data) % 16;
  if (beyond != 0) {
    out.push_back(
        sentence({name, " begins ", beyond, " bytes beyond a multiple of 16: the copy engine begins at multiples",
                  " of 16; the next address that works is ", 16 - beyond, " bytes further"}));
  }
  const std::int64_t most = x.longest_stride();
  if (x.stride > most || (x.batches > 1 && x.batch_stride > most)) {
    const bool of_lines = x.stride > most;
    out.push_back(
        sentence({name, " has ", of_lines ? lines : "matrices", " that lie ", of_lines ? x.stride : x.batch_stride,
                  " elements of ", element, " apart: a stride is less than 2^40 bytes; the nearest ",
                  of_lines ? "" : "batch ", "stride that works is ", most}));
    return;
  }
  if (x.stride < x.contiguous) {
    out.push_back(sentence({name, " has ", lines, " of ", x.contiguous, " elements that lie ", x.stride,
                            " apart: they overlap; the nearest stride that works is ", x.rounded(x.contiguous)}));
  } else {
    check_lines({name, x.element, x.rows, written, x.contiguous, x.stride}, out);
  }
  if (x.batches > 1 && (x.batch_stride < 0 || x.batch_stride % x.chunk() != 0)) {
    out.push_back(sentence({name, " has matrices that lie ", x.batch_stride, " elements of ", element,
                            " apart: each begins at a multiple of 16 bytes; the nearest batch stride that works is ",
                            x.batch_stride < 0 ? 0 : x.rounded(x.batch_stride)}));
  }
}

GANTRY_COLD inline void check_extent(const char* name, std::int64_t extent, std::vector<std::string>& out) {
  constexpr std::int64_t kMost = 0x7fffff00;  // coordinates of the copy engine, with room for a tile that overhangs
  if (extent < 0) {
    out.push_back(sentence(
        {name, " is ", extent, ": sizes are not negative; the nearest value that works is 0, which computes nothing"}));
  } else if (extent > kMost) {
    out.push_back(
        sentence({name, " is ", extent, ": coordinates have 32 bits; the nearest value that works is ", kMost}));
  }
}

// What the plan of a copy says of the tensor that it was bound to, where the checks above found nothing.
GANTRY_COLD inline void check_copy(const char* name, const TmaPlan& plan, std::vector<std::string>& out) {
  for (const TmaReason& r : plan.reasons) {
    if (verdict_of(r) != TmaVerdict::legal) out.push_back(std::string(name) + ": " + describe(r).c_str());
  }
  for (const TmaViolation& v : check_map(plan)) {
    if (verdict_of(v) != TmaVerdict::legal) out.push_back(std::string(name) + ": " + describe(v).c_str());
  }
}

// The problem as kernels take it. Requires extents that fit into int.
template <class Spec>
GemmProblem problem_of(const GemmArguments<Spec>& args) {
  constexpr GemmOptions o = GemmTypes<Spec>::kChosen;
  const GemmExtents& e = args.extents;
  const auto strides = [&e](const auto& x, ElementType element, bool along_k, std::int64_t side) {
    return with_strides(x, element, along_k ? e.k : side, along_k ? side : e.k, e.batch);
  };
  const auto a = strides(args.a, o.a, o.major_a == Major::K, e.m);
  const auto b = strides(args.b, o.b, o.major_b == Major::K, e.n);
  const auto d =
      with_strides(args.d, o.d, is_m_major(o.layout_d) ? e.m : e.n, is_m_major(o.layout_d) ? e.n : e.m, e.batch);
  GemmProblem out;
  out.a = {a.data, a.stride, a.batch_stride};
  out.b = {b.data, b.stride, b.batch_stride};
  out.d = {d.data, d.stride, d.batch_stride};
  out.m = static_cast<int>(e.m);
  out.n = static_cast<int>(e.n);
  out.k = static_cast<int>(e.k);
  out.l = static_cast<int>(e.batch);
  return out;
}

template <class Spec>
EpilogueProblem epilogue_problem_of(const GemmArguments<Spec>& args) {
  const GemmExtents& e = args.extents;
  return {static_cast<int>(e.m), static_cast<int>(e.n), static_cast<int>(e.k), static_cast<int>(e.batch)};
}

// The arguments as the collective takes them.
template <class Spec>
typename GemmTypes<Spec>::Epilogue::Arguments epilogue_arguments_of(const GemmArguments<Spec>& args) {
  constexpr GemmOptions o = GemmTypes<Spec>::kChosen;
  const GemmExtents& e = args.extents;
  const auto matrix = [&e](const auto& x, ElementType element, LayoutTag layout) {
    const bool columns = is_m_major(layout);
    const auto y = with_strides(x, element, columns ? e.m : e.n, columns ? e.n : e.m, e.batch);
    return EpilogueMatrix{const_cast<void*>(static_cast<const void*>(y.data)), y.stride, y.batch_stride};  // NOLINT
  };
  using Arguments = typename GemmTypes<Spec>::Epilogue::Arguments;
  Arguments out = [&] {
    if constexpr (kRunTimeGraph<Spec>) {
      return Arguments(args.fusion.graph());
    } else {
      return Arguments();
    }
  }();
  if constexpr (o.c != ElementType::void_) out.c = matrix(args.c, o.c, o.layout_c);
  out.d = matrix(args.d, o.d, o.layout_d);
  static_cast<fusion::FusionArguments&>(out.fusion) = args.fusion;
  return out;
}

template <class Spec>
GANTRY_COLD void check_operands(const GemmArguments<Spec>& args, std::vector<std::string>& out) {
  using Loop = typename GemmTypes<Spec>::Kernel::Loop;
  constexpr GemmOptions o = GemmTypes<Spec>::kChosen;
  const GemmExtents& e = args.extents;
  if (e.k == 0) return;
  const GemmProblem p = problem_of(args);
  const auto check = [&](const char* name, const GemmMatrix<const void>& x, ElementType element, bool rows,
                         std::int64_t contiguous, std::int64_t lines) {
    const std::size_t before = out.size();
    check_matrix({name, element, x.data, rows, contiguous, lines, x.stride, x.batch_stride, e.batch}, false, out);
    return out.size() == before;
  };
  const bool a_along_k = o.major_a == Major::K, b_along_k = o.major_b == Major::K;
  if (check("A", p.a, o.a, a_along_k, a_along_k ? e.k : e.m, a_along_k ? e.m : e.k)) {
    check_copy("A", Loop::bind_a(p), out);
  }
  if (check("B", p.b, o.b, !b_along_k, b_along_k ? e.k : e.n, b_along_k ? e.n : e.k)) {
    check_copy("B", Loop::bind_b(p), out);
  }
}

template <class Spec>
GANTRY_COLD void check_result(const GemmArguments<Spec>& args, const void* workspace, std::vector<std::string>& out) {
  using Types = GemmTypes<Spec>;
  if constexpr (!Types::kFused) {
    const GemmProblem p = problem_of(args);
    const GemmExtents& e = args.extents;
    for (const std::string& problem : args.fusion.problems({.m = e.m, .n = e.n, .l = e.batch})) out.push_back(problem);
    const std::size_t before = out.size();
    check_matrix({"D", Types::kChosen.d, p.d.data, true, e.n, e.m, p.d.stride, p.d.batch_stride, e.batch}, true, out);
    if (out.size() > before) return;
    const std::string overlap = overlap_of("D", {e.n, e.m, p.d.stride, e.batch, p.d.batch_stride});
    if (!overlap.empty()) out.push_back(overlap);
    if (overlap.empty()) check_copy("D", Types::Epilogue::bind_d(p), out);
  } else {
    using Part = typename Types::Epilogue::Part;
    for (const std::string& reason :
         can_implement<Part>(epilogue_problem_of(args), epilogue_arguments_of(args), workspace)) {
      out.push_back(reason);
    }
  }
}

// Vectors, scalars and tensors of the graph that are in memory.
GANTRY_COLD inline void add_operands(const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                                     const fusion::ProblemShape& shape, std::vector<MemoryUse>& out) {
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (v.pointer == nullptr) continue;
    const bool tensor = fusion::is_tensor(a.kind), rows = !tensor || a.row_major;
    const bool along_n = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool along_m = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    const std::int64_t vector = along_n ? shape.n : along_m ? shape.m : 1;
    const std::int64_t contiguous = tensor ? (rows ? shape.n : shape.m) : vector;
    const std::int64_t lines = tensor ? (rows ? shape.m : shape.n) : 1;
    out.push_back({{a.name.text, a.element, v.pointer, rows, contiguous, lines, v.stride, v.batch_stride, shape.l},
                   fusion::is_output(a.kind),
                   tensor});
  }
}

// What is written and lies in something else. Requires arguments that are otherwise right.
template <class Spec>
GANTRY_COLD void check_memory(const GemmArguments<Spec>& args, std::vector<std::string>& out) {
  constexpr GemmOptions o = GemmTypes<Spec>::kChosen;
  const GemmExtents& e = args.extents;
  const GemmProblem p = problem_of(args);
  const fusion::ResolvedArguments values = args.fusion.resolved({e.m, e.n, e.batch});
  std::vector<MemoryUse> uses;
  const auto add = [&](const char* name, const GemmMatrix<const void>& x, ElementType element, bool rows) {
    const bool is_a = name[0] == 'A', is_b = name[0] == 'B', is_d = name[0] == 'D';
    const std::int64_t m = is_b ? e.n : e.m, n = is_a || is_b ? e.k : e.n;
    uses.push_back({{name, element, x.data, rows, rows ? n : m, rows ? m : n, x.stride, x.batch_stride, e.batch},
                    is_d,
                    !is_a && !is_b});
  };
  if (e.k > 0) {
    add("A", p.a, o.a, o.major_a == Major::K);
    add("B", p.b, o.b, o.major_b == Major::K);
  }
  if constexpr (o.c != ElementType::void_) {
    const bool rows = !is_m_major(o.layout_c);
    const auto c = with_strides(args.c, o.c, rows ? e.n : e.m, rows ? e.m : e.n, e.batch);
    if (surely_uses_source(args.fusion.graph(), values)) {
      add("C", {c.data, c.stride, c.batch_stride}, o.c, rows);
    }
  }
  add("D", {p.d.data, p.d.stride, p.d.batch_stride}, o.d, !is_m_major(o.layout_d));
  add_operands(args.fusion.graph(), values, {e.m, e.n, e.batch}, uses);
  check_sharing(uses, out);
}

}  // namespace detail

// Every reason why the product cannot run with these arguments; none: it can. Workspace is a matter of the plan.
template <class Spec>
std::vector<std::string> can_implement(const GemmArguments<Spec>& args) {
  constexpr GemmOptions o = GemmTypes<Spec>::kChosen;
  const GemmExtents& e = args.extents;
  std::vector<std::string> out;
  detail::check_extent("M", e.m, out);
  detail::check_extent("N", e.n, out);
  detail::check_extent("K", e.k, out);
  detail::check_extent("the batch", e.batch, out);
  if (!out.empty() || e.nothing_to_do()) return out;
  const double steps = tile_steps(e, o.tile.m, o.tile.n, o.tile.k);
  if (steps > kMostTileSteps) {
    const auto rows = static_cast<std::int64_t>(static_cast<double>(e.m) * kMostTileSteps / steps);
    char number[48];
    std::snprintf(number, sizeof number, "%.0f", steps);
    out.push_back(std::string("the product has ") + number + " steps of tiles: they are counted in 30 bits; " +
                  (rows > 0 ? "with M = " + std::to_string(rows) + ", or as much smaller a batch or N, this works"
                            : "even with M = 1 there are too many"));
  }
  detail::check_operands(args, out);
  alignas(16) const char any_workspace[16] = {};  // what the epilogue needs of it is a matter of the plan
  detail::check_result(args, any_workspace, out);
  if (out.empty()) detail::check_memory(args, out);
  return out;
}

}  // namespace gantry
