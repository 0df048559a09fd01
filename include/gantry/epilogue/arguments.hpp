// What the host hands to an epilogue, and the kernel parameters made of it: tensor maps over the actual pointers and
// strides of C, D and auxiliary tensors, and the operands of the graph.
//
// `can_implement` checks them all and returns every reason why the kernel cannot run, as sentences.
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/collective.hpp>

namespace gantry {

struct EpilogueProblem {
  int m = 0, n = 0, l = 1;
};

// A batch of matrices in global memory, row- or column-major as the policy says.
struct EpilogueMatrix {
  void* pointer = nullptr;
  std::int64_t stride = 0;        // elements from one row (column) to the next
  std::int64_t batch_stride = 0;  // elements from one matrix to the next
};

template <class Config>
struct EpilogueArguments {
  EpilogueMatrix c{};
  EpilogueMatrix d{};
  // By number of the graph's arguments; of an auxiliary tensor, `stride` and `batch_stride` are those of its elements.
  fusion::Operand fusion[Config::graph.argument_count == 0 ? 1 : Config::graph.argument_count] = {};
};

namespace detail {

template <TmaOp op>
struct TmaOpTag {
  static constexpr TmaOp value = op;
};

inline TmaPlan bind_matrix(const TmaPlan& plan, ElementType element, bool row_major, const EpilogueMatrix& matrix,
                           const EpilogueProblem& p) {
  GlobalTensor tensor{.address = reinterpret_cast<std::uint64_t>(matrix.pointer), .element = element, .layout = {}};
  const Int stride(matrix.stride);
  const Int batch(p.l > 1 ? matrix.batch_stride : matrix.stride * (row_major ? p.m : p.n));
  tensor.layout = make_layout(make_shape(p.m, p.n, p.l),
                              row_major ? make_stride(stride, _1, batch) : make_stride(_1, stride, batch));
  return bind(plan, tensor);
}

}  // namespace detail

// `encode` makes a tensor map of its parameters: tma/encode.hpp on a GPU, `pack` for the simulated machine.
template <class Config, class Encode>
typename CollectiveEpilogue<Config>::Params to_underlying_arguments(const EpilogueProblem& problem,
                                                                    const EpilogueArguments<Config>& arguments,
                                                                    const Encode& encode) {
  using Collective = CollectiveEpilogue<Config>;
  typename Collective::Params out{};
  out.m = problem.m;
  out.n = problem.n;
  out.l = problem.l;
  const auto map = [&](auto tag, auto op, const EpilogueMatrix& matrix) {
    using Tile = decltype(tag);
    return encode(detail::bind_matrix(Tile::template Plan<decltype(op)::value>::value,
                                      element_type_v<typename Tile::Element>, Tile::row_major, matrix, problem)
                      .descriptor);
  };
  if constexpr (Collective::kHasC)
    out.c = map(typename Collective::TileC{}, detail::TmaOpTag<TmaOp::load>{}, arguments.c);
  if constexpr (Collective::kHasD)
    out.d = map(typename Collective::TileD{}, detail::TmaOpTag<TmaOp::store>{}, arguments.d);
  for_each_index<Config::graph.argument_count>([&](auto i) {
    constexpr int argument = decltype(i)::value;
    constexpr fusion::Argument a = Config::graph.arguments[argument];
    out.fusion.operands[argument] = arguments.fusion[argument];
    if constexpr (fusion::is_staged(a)) {
      using Tile = fusion::detail::Auxiliary<typename Collective::FusionConfig, argument>;
      const fusion::Operand& o = arguments.fusion[argument];
      const EpilogueMatrix matrix{o.pointer, o.stride, o.batch_stride};
      if constexpr (a.kind == fusion::ArgumentKind::aux_in) {
        out.fusion.maps[Collective::Fusion::kSlots.map[argument]] =
            map(Tile{}, detail::TmaOpTag<TmaOp::load>{}, matrix);
      } else {
        out.fusion.maps[Collective::Fusion::kSlots.map[argument]] =
            map(Tile{}, detail::TmaOpTag<TmaOp::store>{}, matrix);
      }
    }
  });
  return out;
}

}  // namespace gantry
