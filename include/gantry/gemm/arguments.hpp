// The arguments of a GEMM on the host, and every reason why they are refused.
//
// D = f(A B^T, C, ...) for each of `batch` matrices: A is M x K, B is N x K. A matrix is a pointer, a stride (elements
// from one row to the next, or column where columns are contiguous; left out: packed) and a batch stride (left out:
// matrix after matrix; 0: all batches share one matrix, which is only read). Operands of the graph have their names:
// args.fusion["bias"] = pointer.
//
// Defined: with M, N or batch 0 nothing is computed, and reductions become 0 (of max: -infinity); with K = 0 the
// accumulators are 0, and A and B are not read.
//
// Example at namespace scope:
//     struct Plain {};
//     inline gantry::ArgumentReasons reasons(const gantry::bf16* a, const gantry::bf16* b, gantry::bf16* d) {
//       gantry::GemmArguments<Plain> args({.m = 256, .n = 512, .k = 100});
//       args.a = {a, 104};  // rows of 100 elements, 208 bytes apart
//       args.b = b;         // rows of 200 bytes, which TMA cannot address: packed into the workspace first
//       args.d = {d, 508};  // rows of 512 elements overlap: stride_too_short, with 512 as the nearest
//       return gantry::can_implement(args);
//     }
#pragma once

#include <gantry/gemm/inputs.hpp>
#include <gantry/gemm/spec_design.hpp>

namespace gantry {

// types.hpp, for the callbacks of a graph that comes at run time alone.
template <class Spec>
struct GemmTypes;

namespace detail {

template <class Spec>
struct FusionArgumentsOf {
  using type = fusion::ArgumentsFor<GemmDesignOf<Spec>>;
};
template <class Spec>
requires kRunTimeGraph<Spec>
struct FusionArgumentsOf<Spec> {
  using type = fusion::FusionArguments;
};

// Of callbacks of one's own.
struct NoCallbackArguments {};
template <class Spec>
struct CallbackArgumentsOf {
  using type = NoCallbackArguments;
};
template <class Spec>
requires kOwnCallbacks<Spec>
struct CallbackArgumentsOf<Spec> : OwnCheck<Spec> {
  using type = typename OwnCallbacks<Spec>::Arguments;
};

// True if both GEMMs take the same arguments.
template <class Spec, class Other>
constexpr bool share_arguments() {
  constexpr GemmOptions x = GemmDesignOf<Spec>::design.options, y = GemmDesignOf<Other>::design.options;
  return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.major_a == y.major_a && x.major_b == y.major_b &&
         x.layout_c == y.layout_c && x.layout_d == y.layout_d && x.scale_a == y.scale_a && x.scale_b == y.scale_b &&
         x.groups == y.groups && x.gate == y.gate && x.gather_a == y.gather_a && x.scatter_d == y.scatter_d &&
         (x.split == SplitMode::reduce_add) == (y.split == SplitMode::reduce_add);
}

// The type in memory: tf32 is read from floats, which TMA rounds.
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
  using A = typename detail::MemoryElement<GemmDesignOf<Spec>::design.options.a>::type;
  using B = typename detail::MemoryElement<GemmDesignOf<Spec>::design.options.b>::type;
  using C = element_t<GemmDesignOf<Spec>::design.options.c>;
  using D = element_t<GemmDesignOf<Spec>::design.options.d>;

  GemmArguments(const GemmExtents& size = {}) : extents(size), fusion() {}  // NOLINT(google-explicit-constructor)
  // From the arguments of another GEMM with the same elements, majors and graph.
  template <class Other>
  explicit GemmArguments(const GemmArguments<Other>& other)
      : extents(other.extents),
        a(other.a),
        b(other.b),
        c(other.c),
        d(other.d),
        dependent(other.dependent),
        scale_a(other.scale_a),
        scale_b(other.scale_b),
        groups(other.groups),
        gather(other.gather),
        scatter(other.scatter) {
    static_assert(detail::share_arguments<Spec, Other>(),
                  "gantry: the GEMMs have different elements, majors or layouts, or one of them adds to D");
    static_assert(detail::graph_of<Spec>() == detail::graph_of<Other>(), "gantry: the GEMMs have different graphs");
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
  typename detail::CallbackArgumentsOf<Spec>::type callbacks{};  // where the specification has Callbacks
  // On a GPU: the kernel may start before the one before it in the stream has ended; it touches memory only after that.
  bool dependent = false;
  // Factors of blocks of A and B, where the options have them.
  GemmScale scale_a{}, scale_b{};
  GemmGroups groups{};    // of a grouped GEMM; extents.batch counts them
  GemmGather gather{};    // where the options gather rows of A
  GemmScatter scatter{};  // where they scatter rows of D
};

namespace detail {

// The design for host code that refers to it. A class of its own: nvcc would compile the initialisers of all members of
// GemmDesignOf for the device (docs/design/decisions/004).
template <class Spec>
struct HostDesign {
  static constexpr GemmDesign value = GemmDesignOf<Spec>::design;
};

}  // namespace detail

// The same without types, for the functions of check.hpp and planner.hpp. Keeps a reference to `args`.
template <class Spec>
GemmInputs inputs_of(const GemmArguments<Spec>& args) {
  const auto read = [](const auto& x) { return GemmMatrix<const void>(x.data, x.stride, x.batch_stride); };
  return {args.extents, read(args.a),   read(args.b), read(args.c), {args.d.data, args.d.stride, args.d.batch_stride},
          args.fusion,  args.dependent, args.scale_a, args.scale_b, args.groups,
          args.gather,  args.scatter};
}

// Every reason why the GEMM cannot run with these arguments; none: it can. Workspace is a matter of the plan.
template <class Spec>
ArgumentReasons can_implement(const GemmArguments<Spec>& args) {
  ArgumentReasons out =
      detail::can_implement(detail::HostDesign<Spec>::value, inputs_of(args), GemmDesignOf<Spec>::Functions::kCount);
  if constexpr (detail::kRunTimeGraph<Spec>) {
    using Callbacks = typename GemmTypes<Spec>::Epilogue::Collective::Fusion;
    if (out.ok() && !args.extents.nothing_to_do()) {
      constexpr bool is_swapped = detail::HostDesign<Spec>::value.options.swapped;
      out.add(Callbacks::problems(is_swapped ? fusion::swapped(args.fusion.graph()) : args.fusion.graph()));
    }
  }
  if constexpr (detail::kOwnCallbacks<Spec>) {
    using Own = detail::OwnCallbacks<Spec>;
    const EpilogueProblem problem = detail::epilogue_problem_of(detail::HostDesign<Spec>::value, args.extents);
    if constexpr (requires { Own::can_implement(problem, args.callbacks); }) {
      for (const auto& reason : Own::can_implement(problem, args.callbacks)) {
        out.add(with_words(ArgumentRule::callbacks, reason.c_str()));
      }
    }
  }
  return out;
}

}  // namespace gantry
