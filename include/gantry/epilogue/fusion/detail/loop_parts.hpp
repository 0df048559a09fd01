// Tiles, reductions and elements that are known only at run time, as the types that the code for each is compiled from.
// What loop_callbacks.hpp is made of.
#pragma once

#include <type_traits>

#include <gantry/epilogue/fusion/callbacks.hpp>

namespace gantry::fusion::detail {

template <class Config, ElementType kElement, bool kRows, bool kLoads>
struct LoopShape {
  static constexpr Subtiles tile = Config::tile;
  static constexpr ElementType element = kElement;
  static constexpr bool row_major = kRows;
  static constexpr int stages = kLoads ? Config::rings.loads : Config::rings.stores;
};

// f(StagedTile<...>{}) of an auxiliary tensor, or false where its element type is not among those compiled.
template <class Config, std::uint32_t kElements, class F>
bool with_staged_tile(const Argument& a, const F& f) {
  const auto by_ring = [&](auto element, auto rows) {
    constexpr ElementType e = decltype(element)::value;
    constexpr bool r = decltype(rows)::value;
    if (a.kind == ArgumentKind::aux_in) {
      f(StagedTile<LoopShape<Config, e, r, true>>{});
    } else {
      f(StagedTile<LoopShape<Config, e, r, false>>{});
    }
    return true;
  };
  const auto by_major = [&](auto element) {
    if constexpr ((kElements >> static_cast<int>(decltype(element)::value) & 1) == 0) {
      return false;
    } else {
      return a.row_major ? by_ring(element, std::true_type{}) : by_ring(element, std::false_type{});
    }
  };
  return visit_element_type(a.element, [&](auto tag) {
    return by_major(std::integral_constant<ElementType, element_type_v<typename decltype(tag)::type>>{});
  });
}

// f(TileReduction<...>{}) of a reduction known at run time.
template <class Config, class F>
void with_reduction(Reduction op, const F& f) {
  switch (op) {
    case Reduction::add:
      return f(TileReduction<Config, Reduction::add>{});
    case Reduction::max:
      return f(TileReduction<Config, Reduction::max>{});
    case Reduction::amax:
      return f(TileReduction<Config, Reduction::amax>{});
    case Reduction::min:
      return f(TileReduction<Config, Reduction::min>{});
    case Reduction::mul:
      return f(TileReduction<Config, Reduction::mul>{});
    case Reduction::lse:
      return f(TileReduction<Config, Reduction::lse>{});
    case Reduction::sumexp:
      return f(TileReduction<Config, Reduction::sumexp>{});
  }
}

template <class Value>
Value load_value(ElementType element, const void* pointer, std::int64_t i) {
  return visit_element_type(element, [&](auto tag) -> Value {
    using Element = typename decltype(tag)::type;
    if constexpr (__is_same(Element, void) || Complex<Element>) {
      return Value{};  // of a graph that check_elements refuses
    } else {
      return load_value<Value, Element>(pointer, i);
    }
  });
}

}  // namespace gantry::fusion::detail
