// A kernel on the simulated SM of the installed package: clean as it is, and caught when it forgets to wait.
#include <cstdint>
#include <cstdio>

#include <gantry/arch.hpp>
#include <gantry/arch/simulator.hpp>

template <bool waits>
struct Reverse {
  static constexpr int kThreads = 64;
  struct Params {
    const std::uint32_t* from;
    std::uint32_t* to;
  };
  struct Storage {
    std::uint32_t values[kThreads];
  };

  static void run(const Params& p, gantry::SharedMemory shared) {
    using namespace gantry::arch;
    auto& s = shared.as<Storage>();
    const std::uint32_t i = thread_rank();
    st(space_shared, &s.values[i], ld(space_global, p.from + i));
    if constexpr (waits) barrier_sync(0, kThreads);
    st(space_global, p.to + i, ld(space_shared, &s.values[kThreads - 1 - i]));
  }
};

template <bool waits>
gantry::Report reverse(std::uint32_t* to) {
  std::uint32_t from[64];
  for (std::uint32_t i = 0; i < 64; ++i) from[i] = i;
  using Kernel = Reverse<waits>;
  const gantry::LaunchConfig config{.block = {64}, .shared_bytes = sizeof(typename Kernel::Storage)};
  return gantry::Simulator({.seed = 1}).run<Kernel>(config, {from, to});
}

int main() {
  std::uint32_t to[64] = {};
  const gantry::Report clean = reverse<true>(to);
  if (!clean.clean() || to[0] != 63 || to[63] != 0) return std::puts(clean.text().c_str()), 1;
  if (reverse<false>(to).clean()) return std::puts("a missing barrier was not found"), 1;
  return 0;
}
