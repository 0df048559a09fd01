// Random configurations: what is built keeps the invariants of a policy, and what is refused says why.
#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/builder.hpp>

#include "../../tma_plan/seeds.hpp"

namespace gantry {
namespace {

constexpr int kCases = 1500;

class RandomConfigurations {
 public:
  explicit RandomConfigurations(std::uint64_t seed) : random_(seed) {}

  CollectiveBuilder next() {
    CollectiveBuilder b;
    b.flavour = one_of({PolicyFlavour::gantry, PolicyFlavour::cutlass_compatible});
    b.schedule = static_cast<EpilogueSchedule>(below(kEpilogueScheduleCount));
    b.tile = {64 * (1 + below(4)), 8 * (1 + below(32)), 64};
    if (below(8) == 0) b.tile.m += 8 * below(8);
    if (below(8) == 0) b.tile.n += below(8);
    if (below(3) == 0) b.epi_tile = {one_of({64, 128, 192, 256}), 8 * (1 + below(16))};
    b.c = element();
    b.d = below(2) == 0 ? b.c : element();
    if (below(3) == 0) b.c = ElementType::void_;
    if (below(8) == 0) b.d = ElementType::void_;
    if (below(2) == 0) b.aux = element();
    b.layout_c = layout();
    b.layout_d = layout();
    if (below(4) == 0) b.align_c = one_of({1, 2, 4, 8, 16, 32});
    if (below(4) == 0) b.align_d = one_of({1, 2, 4, 8, 16, 32});
    if (below(8) == 0) b.warpgroups = below(5);
    if (below(2) == 0) b.stages_c = 1 + below(5);
    if (below(2) == 0) b.stages_d = 1 + below(4);
    if (below(8) == 0) b.fragment_size = 1 << below(7);
    b.reuse_smem_c = one_of({Choice::automatic, Choice::automatic, Choice::no, Choice::yes});
    b.delay_tma_store = one_of({Choice::automatic, Choice::automatic, Choice::no, Choice::yes});
    b.fusion = {.bytes = one_of({0, 0, 1, 100, 4096}), .alignment = one_of({1, 16, 128, 1024})};
    if (below(2) == 0) leave_open(b);
    if (below(6) == 0) give_runs(b);
    return b;
  }

 private:
  // Most wishes that are often refused are left to the rules, so that enough is built.
  void leave_open(CollectiveBuilder& b) {
    b.schedule = one_of({EpilogueSchedule::tma_warp_specialized, EpilogueSchedule::tma_warp_specialized_cooperative});
    b.epi_tile = {};
    b.align_c = b.align_d = b.warpgroups = b.fragment_size = 0;
    b.reuse_smem_c = b.delay_tma_store = Choice::automatic;
  }

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }
  // Columns of a subtile in runs, and mostly a tile that they fill.
  void give_runs(CollectiveBuilder& b) {
    const int extent = 8 << below(3), count = 1 << below(3), stride = extent * (1 + below(4));
    b.epi_tile = make_tile(_64, make_layout(make_shape(Int(extent), Int(count)), make_stride(_1, Int(stride))));
    if (below(4) == 0) return;
    b.schedule = EpilogueSchedule::tma_warp_specialized;
    b.tile = {64 * (1 + below(2)), stride * count * (1 + below(2)), 64};
  }
  ElementType element() {
    return one_of({ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::tf32, ElementType::e4m3,
                   ElementType::e5m2, ElementType::s8, ElementType::u8, ElementType::s32, ElementType::f64,
                   ElementType::cf32, ElementType::s4, ElementType::u1, ElementType::s16, ElementType::e3m2});
  }
  LayoutTag layout() {
    LayoutTag tag = one_of({kRowMajor, kRowMajor, kRowMajor, kColumnMajor, kColumnMajor, kColumnMajor, kTensorNHWC});
    tag.per_group = below(16) == 0;
    return tag;
  }

  std::mt19937_64 random_;
};

template <class F>
void for_each_policy(const F& f) {
  for (const std::uint64_t seed : test::fixed_and_fresh_seed(20)) {
    RandomConfigurations configurations(seed);
    for (int i = 0; i < kCases; ++i) {
      const CollectiveBuilder asked = configurations.next();
      SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(seed));
      f(asked, asked.policy());
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Calls f for the policies that copy by TMA.
template <class F>
void for_each_built(const F& f) {
  int built = 0;
  for_each_policy([&](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    if (p.refused() || !p.uses_tma()) return;
    ++built;
    f(asked, p);
  });
  EXPECT_GT(built, kCases / 4);
}

TEST(RandomEpilogues, WhatIsRefusedSaysWhyInWholeSentences) {
  int refused = 0;
  for_each_policy([&refused](const CollectiveBuilder&, const EpiloguePolicy& p) {
    refused += p.refused() ? 1 : 0;
    for (const EpilogueReason& r : p.reasons) {
      const std::string said = describe(r).c_str();
      EXPECT_GT(said.size(), 40U) << said;
      EXPECT_EQ(said.find('{'), std::string::npos) << said;
      EXPECT_EQ(said.find("unknown"), std::string::npos) << said;
      EXPECT_NE(said.substr(said.size() - 3), "...") << said;
    }
    EXPECT_EQ(p.ok(), p.reasons.empty());
  });
  EXPECT_GT(refused, kCases / 10);
}

TEST(RandomEpilogues, SubtilesFillTheTileAndFragmentsTheSubtile) {
  for_each_built([](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    EXPECT_EQ(p.subtiles() * p.epi_tile.size(), asked.tile.m * asked.tile.n);
    EXPECT_EQ(p.epi_tile.size() % (p.threads() * p.fragment_size), 0);
    EXPECT_EQ(p.load_pipe_increment(), p.subtiles());
    EXPECT_EQ(p.epi_tile.n % 8, 0);
  });
}

// Each row and column of the CTA tile, and each accumulator, is one subtile's.
TEST(RandomEpilogues, SubtilesHaveEachAccumulatorOnce) {
  int with_runs = 0;
  for_each_built([&with_runs](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    if (!p.epi_tile.has_runs()) return;
    ++with_runs;
    const Subtiles cut = p.cut();
    std::vector<int> columns(static_cast<std::size_t>(cut.n)),
        registers(static_cast<std::size_t>(cut.m * cut.n / cut.threads()));
    for (int en = 0; en < cut.along_n(); ++en) {
      for (int i = 0; i < cut.epi_n; ++i)
        ++columns[static_cast<std::size_t>(cut.first_column(en) + cut.column_runs().at(i))];
      for (int em = 0; em < cut.along_m(); ++em) {
        for (int i = 0; i < cut.values(); ++i) ++registers[static_cast<std::size_t>(cut.register_of(em, en, i))];
      }
    }
    EXPECT_EQ(std::count(columns.begin(), columns.end(), 1), cut.n);
    EXPECT_EQ(std::count(registers.begin(), registers.end(), 1), asked.tile.m * asked.tile.n / cut.threads());
  });
  EXPECT_GT(with_runs, 20);
}

TEST(RandomEpilogues, WhatWasAskedForIsWhatIsBuilt) {
  for_each_built([](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    const auto kept = [](const auto& asked_value, const auto& built, const auto& open) {
      return asked_value == open || asked_value == built;
    };
    const auto chosen = [](bool built) { return built ? Choice::yes : Choice::no; };
    EXPECT_TRUE(kept(asked.epi_tile, p.epi_tile, EpiTile{}));
    EXPECT_TRUE(kept(asked.stages_c, p.stages_c, 0));
    EXPECT_TRUE(kept(asked.stages_d, p.stages_d, 0));
    EXPECT_TRUE(kept(asked.fragment_size, p.fragment_size, 0));
    EXPECT_TRUE(kept(asked.reuse_smem_c, chosen(p.reuse_smem_c), Choice::automatic));
    EXPECT_TRUE(kept(asked.delay_tma_store, chosen(p.delay_tma_store), Choice::automatic));
    EXPECT_TRUE(kept(asked.schedule, p.schedule, EpilogueSchedule::automatic));
  });
}

// The rules in words: StagesD up to 2, StagesC up to 4, more than StagesD with reuse; reuse for equal widths above a
// byte.
TEST(RandomEpilogues, OpenDecisionsFollowTheRules) {
  for_each_built([](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    const int tiles = p.subtiles();
    if (asked.stages_d == 0) {
      EXPECT_EQ(p.stages_d, std::min(tiles, 2));
    }
    if (asked.stages_c == 0) {
      EXPECT_EQ(p.stages_c, p.reuse_smem_c ? std::max(std::min(tiles, 4), p.stages_d + 1) : std::min(tiles, 4));
    }
    const int c_bits = element_bits(asked.c);
    const int d_bits = element_bits(asked.d);
    if (asked.reuse_smem_c == Choice::automatic && asked.stages_c == 0) {
      EXPECT_EQ(p.reuse_smem_c, c_bits == d_bits && d_bits > 8);
    }
    if (asked.delay_tma_store == Choice::automatic) {
      EXPECT_EQ(p.delay_tma_store, asked.c == ElementType::void_ && !p.pointer_array());
    }
  });
}

TEST(RandomEpilogues, ReuseIsFreeOfDeadlockAndOfOverlap) {
  for_each_built([](const CollectiveBuilder&, const EpiloguePolicy& p) {
    if (!p.reuse_smem_c) return;
    EXPECT_TRUE(p.c.exists() && p.d.exists());
    EXPECT_LE(p.stages_d, p.stages_c);
    EXPECT_EQ(p.c.stage_bytes(), p.d.stage_bytes());
    EXPECT_FALSE(p.delay_tma_store && p.stages_c <= p.stages_d);
    EXPECT_EQ(p.storage.c_offset, p.storage.d_offset);
  });
}

void expect_dense(const EpilogueOperand& x, const EpiloguePolicy& p) {
  const int elements = x.stages * p.epi_tile.size();
  ASSERT_TRUE(x.smem_layout().ok());
  EXPECT_EQ(size(x.smem_layout()), elements);
  EXPECT_EQ(cosize(x.smem_layout()), elements);
  EXPECT_EQ(size(x.smem_layout(), 0), x.part.m);
  EXPECT_EQ(size(x.smem_layout(), 1), x.part.n);
  EXPECT_EQ(x.stage_bytes() * 8, p.epi_tile.size() * element_bits(x.smem_element));
  EXPECT_EQ(x.stage_bytes() % x.smem_alignment(), 0) << "every stage starts at a period of the swizzle";
  if (x.box.exists()) {
    EXPECT_EQ(x.instructions() * x.box.instruction_bytes, x.stage_bytes());
  }
}

TEST(RandomEpilogues, StagesAreDenseAndStartAtAPeriodOfTheirSwizzle) {
  for_each_built([](const CollectiveBuilder&, const EpiloguePolicy& p) {
    expect_dense(p.c, p);
    expect_dense(p.d, p);
    EXPECT_EQ(p.c.stages, p.stages_c);
    EXPECT_EQ(p.d.stages, p.store_stages());
  });
}

// Every element of a stage has a place of its own, and neighbours along the contiguous mode share 16 bytes.
TEST(RandomEpilogues, TilesLieInSharedMemoryOnceEach) {
  int looked_at = 0;
  for_each_built([&looked_at](const CollectiveBuilder&, const EpiloguePolicy& p) {
    if (p.epi_tile.size() > 4096 || ++looked_at % 8 != 0) return;
    const ComposedLayout stage = take(p.d.smem_layout(), 0, 2);
    std::vector<bool> taken(static_cast<std::size_t>(p.epi_tile.size()));
    const int chunk = elements_per_chunk(element_bits(p.d.smem_element));
    for (int m = 0; m < p.d.part.m; ++m) {
      for (int n = 0; n < p.d.part.n; ++n) {
        const std::int64_t at = stage(m, n);
        ASSERT_FALSE(taken.at(static_cast<std::size_t>(at)));
        taken[static_cast<std::size_t>(at)] = true;
        const int along = p.d.m_major() ? m : n;
        if (along % chunk == 0) continue;
        EXPECT_EQ(at, (p.d.m_major() ? stage(m - 1, n) : stage(m, n - 1)) + 1);
      }
    }
  });
}

TEST(RandomEpilogues, PartsOfTheStorageAreAlignedAndDoNotOverlap) {
  for_each_built([](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    const EpilogueStorage& s = p.storage;
    struct Part {
      int offset, bytes, alignment;
    };
    std::vector<Part> parts;
    if (s.c_bytes > 0) parts.push_back({s.c_offset, s.c_bytes, p.c.smem_alignment()});
    if (s.d_bytes > 0 && !p.reuse_smem_c) parts.push_back({s.d_offset, s.d_bytes, p.d.smem_alignment()});
    parts.push_back({s.fusion_offset, s.fusion_bytes, asked.fusion.alignment});
    if (s.tensormap_bytes > 0) parts.push_back({s.tensormap_offset, s.tensormap_bytes, 128});
    parts.push_back({s.pipeline_offset, s.pipeline_bytes, 8});
    int end = 0;
    for (const Part& part : parts) {
      EXPECT_EQ(part.offset % part.alignment, 0);
      EXPECT_EQ(s.alignment % part.alignment, 0);
      EXPECT_GE(part.offset, end);
      end = part.offset + part.bytes;
    }
    EXPECT_GE(s.bytes, end);
    EXPECT_EQ(s.c_bytes, p.c.exists() ? p.stages_c * p.c.stage_bytes() : 0);
    EXPECT_EQ(s.pipeline_bytes, 16 * p.stages_c);
    EXPECT_EQ(p.reasons.has(RuleWeight::hopper), s.bytes > 232448);
  });
}

TEST(RandomEpilogues, PackedStorageIsNeverLargerThanStructures) {
  for_each_built([](const CollectiveBuilder& asked, const EpiloguePolicy& p) {
    if (p.buffers() == EpilogueBuffers::none) return;
    StorageQuestion q{.buffers = p.storage.buffers,
                      .c = {p.stages_c * p.c.stage_bytes(), p.c.smem_alignment()},
                      .d = {p.store_stages() * p.d.stage_bytes(), p.d.smem_alignment()},
                      .fusion = asked.fusion,
                      .tensormaps = p.pointer_array() ? 1 + p.map_warpgroups : 0,
                      .stages_c = p.stages_c,
                      .flavour = PolicyFlavour::gantry};
    const EpilogueStorage packed = epilogue_storage(q);
    q.flavour = PolicyFlavour::cutlass_compatible;
    const EpilogueStorage structures = epilogue_storage(q);
    EXPECT_LE(packed.bytes, structures.bytes);
    EXPECT_LE(packed.tensor_bytes, structures.tensor_bytes);
    EXPECT_EQ(structures.bytes % structures.alignment, 0);
  });
}

}  // namespace
}  // namespace gantry
