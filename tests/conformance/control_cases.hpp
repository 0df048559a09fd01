// Registers moved between warpgroups, and a kernel that starts before the one before it has finished: both machines
// end, with the same bytes.
#pragma once

#include <gantry/arch.hpp>

#include "suite.hpp"

namespace gantry::conformance {

// One warpgroup gives registers back, the other two take them; then every thread writes.
struct DividesRegisters {
  static constexpr int kThreads = 384;
  struct Params {
    std::uint32_t* out;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    const std::uint32_t warpgroup = arch::warpgroup_rank();
    if (warpgroup == 0) {
      arch::setmaxnreg_dec<40>();
    } else {
      arch::setmaxnreg_inc<232>();
    }
    arch::st(arch::space_global, p.out + arch::thread_rank(), arch::thread_rank() * 4 + warpgroup);
  }
};

inline constexpr std::uint32_t kHandedOver = 4096;  // words

// Lets the next kernel start, and writes what that one reads.
struct HandsOver {
  static constexpr int kThreads = 128;
  struct Params {
    std::uint32_t* words;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    arch::griddepcontrol_launch_dependents();
    const std::uint32_t step = kThreads * arch::grid_dim().x;
    for (std::uint32_t i = arch::thread_rank() + kThreads * arch::block_index().x; i < kHandedOver; i += step) {
      arch::st(arch::space_global, p.words + i, i * 2654435761u);
    }
  }
};
struct TakesOver {
  static constexpr int kThreads = 64;
  struct Params {
    const std::uint32_t* words;
    std::uint32_t* out;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    arch::griddepcontrol_wait();
    const std::uint32_t step = kThreads * arch::grid_dim().x;
    for (std::uint32_t i = arch::thread_rank() + kThreads * arch::block_index().x; i < kHandedOver; i += step) {
      arch::st(arch::space_global, p.out + i, arch::ld(arch::space_global, p.words + i) + 1);
    }
  }
};

template <class Machine>
void add_control(Cases<Machine>& cases) {
  cases.push_back({"registers move from one warpgroup to two", [](Machine& m) {
                     constexpr std::size_t kBytes = 4 * DividesRegisters::kThreads;
                     DividesRegisters::Params params{reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kBytes)))};
                     m.template launch<DividesRegisters>({.block = {DividesRegisters::kThreads}, .name = "registers"},
                                                         params);
                     m.result(reinterpret_cast<const std::uint8_t*>(params.out), kBytes);
                   }});
  cases.push_back(
      {"a dependent kernel reads what the one before it wrote", [](Machine& m) {
         constexpr std::size_t kBytes = 4 * kHandedOver;
         auto* words = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kBytes)));
         auto* out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kBytes)));
         m.template launch_in_order<HandsOver, TakesOver>(
             {{.grid = {8}, .block = {HandsOver::kThreads}, .name = "hands_over"}, {words}},
             {{.grid = {4}, .block = {TakesOver::kThreads}, .name = "takes_over", .dependent = true}, {words, out}});
         m.result(reinterpret_cast<const std::uint8_t*>(out), kBytes);
       }});
}

}  // namespace gantry::conformance
