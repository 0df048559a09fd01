// The kernel that adds scattered rows in a fixed order, alone, on the simulated SM.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/gemm/device.hpp>
#include <gantry/gemm/row_slots.hpp>

namespace gantry_test {
namespace {

using namespace gantry;

// Which slots hold a row: all, or those of groups.
struct Written {
  std::vector<std::int32_t> offsets{}, counts{};
  std::vector<bool> slots{};  // as the rules of groups say, written down by hand
};

class SlotsOfRows {
 public:
  SlotsOfRows(SlotExtents e, std::vector<std::int32_t> index, Written written = {})
      : e_(e),
        written_(std::move(written)),
        index_(index.size()),
        groups_(written_.offsets.size() + written_.counts.size()),
        slots_(index.size() * static_cast<std::size_t>((e.n + 3) / 4 * 4)),
        d_(static_cast<std::size_t>(e.batch * e.rows * e.d_stride)) {
    std::copy(index.begin(), index.end(), index_.begin());
    e_.d_batch_stride = e.rows * e.d_stride;
    p_ = row_slots(e_);
    std::mt19937 random(7);
    // Sums of three of these depend on their order.
    for (float& x : slots_) x = static_cast<float>(random() % 2000001) * 1e-3f - 1e3f;
    for (std::size_t i = 0; i < d_.size(); ++i) before_.push_back(static_cast<float>(i % 97) * 0.01f);
    p_.slots = slots_.data();
    p_.d = d_.data();
    p_.index = index_.data();
    const auto& groups = written_.counts.empty() ? written_.offsets : written_.counts;
    if (groups.empty()) return;
    std::copy(groups.begin(), groups.end(), groups_.begin());
    p_.groups.offsets = groups_.data();
    p_.groups.groups = static_cast<int>(groups.size()) - (written_.counts.empty() ? 1 : 0);
    p_.groups.capacity = written_.counts.empty() ? 0 : static_cast<int>(e.m) / p_.groups.groups;
    p_.groups.lines = static_cast<int>(e.m);
  }

  LaunchResult run(const SimulatorOptions& options) {
    std::copy(before_.begin(), before_.end(), d_.begin());
    return launch(Simulator(options), sum_config(p_, e_.sms), SumSlots{}, p_);
  }

  // D as it should be, bit for bit.
  void expect_sums() const {
    std::vector<float> expected = before_;
    for (std::size_t i = 0; i < index_.size(); ++i) {
      const std::int64_t to = index_[i], batch = static_cast<std::int64_t>(i) / e_.m;
      if (to < 0 || to >= e_.rows || (!written_.slots.empty() && !written_.slots[i])) continue;
      for (std::int64_t j = 0; j < e_.n; ++j) {
        expected[static_cast<std::size_t>((batch * e_.rows + to) * e_.d_stride + j)] +=
            slots_[i * static_cast<std::size_t>(p_.slot_stride) + static_cast<std::size_t>(j)];
      }
    }
    for (std::size_t i = 0; i < d_.size(); ++i) {
      ASSERT_EQ(d_[i], expected[i]) << "row " << static_cast<std::int64_t>(i) / e_.d_stride << ", column "
                                    << static_cast<std::int64_t>(i) % e_.d_stride;
    }
  }

  const SumSlots::Params& params() const { return p_; }

 private:
  SlotExtents e_;
  Written written_;
  Buffer<std::int32_t> index_, groups_;
  Buffer<float> slots_, d_;
  std::vector<float> before_;
  SumSlots::Params p_;
};

// Some name no row of D.
std::vector<std::int32_t> random_rows(std::size_t count, int rows) {
  std::mt19937 random(3);
  std::vector<std::int32_t> out(count);
  for (std::int32_t& x : out) x = static_cast<std::int32_t>(random() % static_cast<unsigned>(rows + 2)) - 1;
  return out;
}

void expect_sums(SlotsOfRows& rows, int seeds = 3) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    const LaunchResult result = rows.run({.seed = seed});
    ASSERT_TRUE(result) << describe(result);
    rows.expect_sums();
  }
}

TEST(RowSlots, AreAddedInTheirOrder) {
  SlotsOfRows rows({.m = 300, .n = 136, .batch = 2, .rows = 41, .d_stride = 136, .sms = 2}, random_rows(600, 41));
  expect_sums(rows);
}

// Rows of D that begin and end inside of 16 bytes, and columns that several CTAs share.
TEST(RowSlots, HaveAnyColumns) {
  for (const std::int64_t columns : {3, 514, 1543}) {
    SlotsOfRows rows({.m = 100, .n = columns, .rows = 9, .d_stride = columns + 2, .sms = 2}, random_rows(100, 9));
    EXPECT_EQ(rows.params().segments, (columns + 511) / 512);
    expect_sums(rows, 1);
  }
}

// More slots of a CTA's rows than its list holds.
TEST(RowSlots, AreAsManyAsThereAre) {
  SlotsOfRows rows({.m = 9000, .n = 4, .rows = 2, .d_stride = 4, .sms = 1}, random_rows(9000, 2));
  expect_sums(rows, 1);
}

// Rows [20, 50), none, [50, 60), one that falls, one that overlaps, [64, 65), one beyond, [90, 100).
TEST(RowSlots, AreThoseOfGroupsThatCount) {
  const std::vector<std::int32_t> offsets = {20, 50, 50, 60, 55, 64, 65, 101, 90, 100};
  std::vector<bool> written(100);
  const auto write = [&](int begin, int end) { std::fill(written.begin() + begin, written.begin() + end, true); };
  write(20, 50);
  write(50, 60);
  write(64, 65);
  write(90, 100);
  SlotsOfRows rows({.m = 100, .n = 8, .rows = 5, .d_stride = 8, .sms = 1}, random_rows(100, 5),
                   {.offsets = offsets, .slots = written});
  expect_sums(rows);
}

TEST(RowSlots, AreThoseBelowTheCount) {
  constexpr int kGroups = 40, kCapacity = 5;  // more groups than a warp has lanes
  std::vector<std::int32_t> counts;
  std::vector<bool> written;
  for (int g = 0; g < kGroups; ++g) {
    counts.push_back(g % 8 - 1);
    for (int i = 0; i < kCapacity; ++i) written.push_back(i < g % 8 - 1);
  }
  SlotsOfRows rows({.m = 200, .n = 8, .rows = 7, .d_stride = 8, .sms = 1}, random_rows(200, 7),
                   {.counts = counts, .slots = written});
  expect_sums(rows);
}

// More than one list, so that each part of it is written again.
TEST(RowSlots, NeedEachOfTheirBarriers) {
  const std::vector<std::int32_t> offsets = {0, 4000, 6500};
  SlotsOfRows rows({.m = 6500, .n = 4, .rows = 2, .d_stride = 4, .sms = 1}, random_rows(6500, 2), {.offsets = offsets});
  const SweepReport report = mutation_sweep(
      {}, 3, [&](const SimulatorOptions& options) { return rows.run(options).report(); }, true);
  EXPECT_TRUE(report.original_clean);
  EXPECT_EQ(report.entries.size(), 3u);  // barriers
  for (const SweepEntry& entry : report.entries) {
    EXPECT_TRUE(entry.detected()) << entry.site.file << ":" << entry.site.line << " " << entry.site.operation;
  }
}

}  // namespace
}  // namespace gantry_test
