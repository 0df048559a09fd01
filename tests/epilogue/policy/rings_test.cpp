// The rings of subtiles that the collective keeps in shared memory are those that the policy counts, and threads that
// write and read them by their registers find every element where the policy's layout says.
#include <gtest/gtest.h>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/staged_tile.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

template <ElementType kElement, bool kRowMajor_, int kWarpGroups>
struct Config {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = kWarpGroups == 2 ? EpilogueSchedule::tma_warp_specialized_cooperative
                                                     : EpilogueSchedule::tma_warp_specialized,
                        .tile = {128, 128, 64},
                        .d = kElement,
                        .layout_d = kRowMajor_ ? kRowMajor : kColumnMajor}
          .policy();
  struct Shape {
    static constexpr Subtiles tile{.m = policy.cta_tile.m,
                                   .n = policy.cta_tile.n,
                                   .epi_m = policy.epi_tile.m,
                                   .epi_n = policy.epi_tile.n,
                                   .warpgroups = policy.warpgroups};
    static constexpr ElementType element = policy.d.smem_element;
    static constexpr bool row_major = !policy.d.m_major();
    static constexpr int stages = policy.store_stages();
  };
};

template <class Element, int count>
struct Buffers {
  alignas(1024) Element elements[count];
};

// Every thread writes (row, column) of its values as a number into the last stage; all look at all elements; every
// thread reads its own back.
template <class C>
void expect_elements_in_their_places() {
  using Ring = StagedTile<typename C::Shape>;
  using Element = typename Ring::Element;
  constexpr Subtiles kTile = C::Shape::tile;
  constexpr int kLast = Ring::stages - 1;
  constexpr int kElements = Ring::kBytes / int{sizeof(Element)};
  const ComposedLayout layout = as_position_independent_swizzle_layout(C::policy.d.smem_layout());
  const auto number = [](int row, int column) {
    return static_cast<Element>(static_cast<float>((row * 31 + column) % 16));
  };
  int wrong = 0;
  const Report report = test::simulate(
      {.block = {static_cast<std::uint32_t>(kTile.threads())}, .shared_bytes = Ring::kBytes}, [&](SharedMemory shared) {
        const int thread = static_cast<int>(arch::thread_index().x);
        Element* const buffers = shared.as<Buffers<Element, kElements>>().elements;
        auto registers = Ring::make_registers();
        for_each_element(registers, [&](auto i) {
          registers(i) = number(kTile.row(thread, i.value), kTile.column(thread, i.value));
        });
        Ring::write(registers, buffers, kLast, thread);
        arch::syncthreads();
        const auto flat = make_tensor(make_smem_ptr(buffers), Tile<kElements>{});
        for (int e = thread; e < kTile.epi_m * kTile.epi_n; e += kTile.threads()) {
          const int row = e % kTile.epi_m;
          const int column = e / kTile.epi_m;
          const Element found = flat(static_cast<int>(layout(row, column, kLast)));
          wrong += static_cast<float>(found) != static_cast<float>(number(row, column));
        }
        auto again = Ring::make_registers();
        Ring::read(buffers, kLast, thread, again);
        for_each_element(again,
                         [&](auto i) { wrong += static_cast<float>(again(i)) != static_cast<float>(registers(i)); });
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(wrong, 0);
}

template <class C>
class EpilogueRings : public testing::Test {};
using Configs = testing::Types<Config<ElementType::bf16, true, 2>, Config<ElementType::bf16, false, 2>,
                               Config<ElementType::f32, true, 1>, Config<ElementType::f32, false, 2>,
                               Config<ElementType::f16, false, 1>>;
TYPED_TEST_SUITE(EpilogueRings, Configs);

TYPED_TEST(EpilogueRings, HoldEveryElementWhereThePolicySays) { expect_elements_in_their_places<TypeParam>(); }

}  // namespace
}  // namespace gantry
