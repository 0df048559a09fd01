// Every synchronising call of the example kernels is needed, and the checker says so when it is left out.
#include <gtest/gtest.h>

#include "examples/all.hpp"
#include "gantry/arch/mutation_sweep.hpp"

namespace gantry::examples {
namespace {

TEST(MutationSweep, EveryChangeToTheExampleKernelsIsDetected) {
  int changes = 0, without_ordering = 0;
  for (const Example& example : all()) {
    const SweepReport report = mutation_sweep({.max_steps = 500'000}, 8, example.run, true);
    EXPECT_TRUE(report.original_clean) << example.name;
    for (const SweepEntry& entry : report.entries) {
      // A syncwarp may be there only to bring lanes together again before an aligned instruction, which waits for them
      // by itself here.
      if (entry.site.operation == "syncwarp") continue;
      // An arrival or a wait may be there for its count alone.
      if (entry.kind == MutationKind::relax) {
        without_ordering += entry.detected() ? 1 : 0;
        continue;
      }
      EXPECT_TRUE(entry.detected()) << example.name << ": " << entry.site.file << ":" << entry.site.line << " "
                                    << entry.site.operation << " (change " << static_cast<int>(entry.kind) << ")";
      ++changes;
    }
  }
  EXPECT_GE(changes, 40);
  EXPECT_GE(without_ordering, 5);
}

TEST(MutationSweep, ACallThatNothingNeedsIsSaidToBeSo) {
  struct Storage {
    std::uint32_t word[32];
  };
  const SweepReport report = mutation_sweep({}, 3, [](const SimulatorOptions& options) {
    return Simulator(options).run(
        {.block = {32}, .shared_bytes = sizeof(Storage)},
        [](const void*, SharedMemory shared) {
          arch::st(arch::space_shared, &shared.as<Storage>().word[arch::lane_rank()], 1u);
          arch::syncthreads();
        },
        nullptr);
  });
  ASSERT_EQ(report.entries.size(), 1u);
  EXPECT_FALSE(report.entries[0].detected());
  EXPECT_NE(report.text().find("not shown to be needed in 3 seeds"), std::string::npos) << report.text();
}

}  // namespace
}  // namespace gantry::examples
