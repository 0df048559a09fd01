// What a thread keeps of each argument of a graph while it works on a tile, each in registers of its own type.
#pragma once

#include <gantry/epilogue/direct_tile.hpp>
#include <gantry/epilogue/fusion/masks.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/epilogue/fusion/slots.hpp>

namespace gantry::fusion::detail {

// The ring of an auxiliary tensor.
template <class Config, int argument>
struct AuxiliaryShape {
  static constexpr Subtiles tile = Config::tile;
  static constexpr ElementType element = Config::graph.arguments[argument].element;
  static constexpr bool row_major = Config::graph.arguments[argument].row_major;
  static constexpr int stages = is_direct(Config::graph.arguments[argument])                     ? 1
                                : Config::graph.arguments[argument].kind == ArgumentKind::aux_in ? Config::rings.loads
                                                                                                 : Config::rings.stores;
};
template <class Config, int argument>
using Auxiliary = StagedTile<AuxiliaryShape<Config, argument>>;
template <class Config, int argument>
using DirectAuxiliary = DirectTile<AuxiliaryShape<Config, argument>>;

// What a thread keeps of one argument while it works on a tile. Nothing, unless said otherwise below.
enum class Kept : std::uint8_t { nothing, scalar, seed, column, tensor, bits, running_column, running_scalar };

GANTRY_HD constexpr Kept kept(const Argument& a) {
  switch (a.kind) {
    case ArgumentKind::scalar:
      return Kept::scalar;
    case ArgumentKind::column:
      return Kept::column;
    case ArgumentKind::aux_in:
    case ArgumentKind::aux_out:
      return is_by_block(a) ? Kept::nothing : is_mask(a) ? Kept::bits : Kept::tensor;
    case ArgumentKind::reduction:
      return a.extent == Extent::column ? Kept::running_column : Kept::running_scalar;
    case ArgumentKind::row:
      break;
  }
  return Kept::nothing;
}

template <class Config, int argument>
GANTRY_HD constexpr Kept kept() {
  return Config::graph.is_seed(argument) ? Kept::seed : kept(Config::graph.arguments[argument]);
}

template <class Config, int argument, Kept kind = kept<Config, argument>()>
struct KeptValue {};
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::scalar> {
  typename Config::Value value;
};
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::seed> {
  typename Config::Value value;
  std::uint32_t key;  // of the batch (dropout.hpp)
};
// Rows of a thread: two for each row of wgmmas.
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::column> {
  typename Config::Value value[Config::tile.m / Config::tile.mma_m() * 2];
};
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::tensor> {
  decltype(Auxiliary<Config, argument>::make_registers()) value;
};
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::bits> {
  Bits<Config> value;
};
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::running_column> {
  float value[Config::tile.m / Config::tile.mma_m() * 2 * floats_of(reduction_of(Config::graph, argument))];
};
// A row's part of a subtile, by pairs of neighbouring columns, or one number for the tile.
template <class Config, int argument>
struct KeptValue<Config, argument, Kept::running_scalar> {
  float value[(Config::graph.arguments[argument].extent == Extent::row ? Config::tile.epi_n / 4 : 1) *
              floats_of(reduction_of(Config::graph, argument))];
};

// KeptValue of every argument; get<i>(kept) is that of argument i.
template <class Config, int argument>
struct KeptOf {
  KeptValue<Config, argument> of;
};
template <class Config, class Indices>
struct KeptValues;
template <class Config, int... is>
struct KeptValues<Config, Sequence<is...>> : KeptOf<Config, is>... {};

template <int argument, class Config>
GANTRY_INLINE auto& get(KeptOf<Config, argument>& kept) {
  return kept.of.value;
}
template <int argument, class Config>
GANTRY_INLINE std::uint32_t& key_of(KeptOf<Config, argument>& kept) {
  return kept.of.key;
}

}  // namespace gantry::fusion::detail
