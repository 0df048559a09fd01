// Register reallocation between warpgroups (`setmaxnreg`), programmatic dependent launch (`griddepcontrol`), and a
// value that a loop computes from anew.
//
// Example at namespace scope:
//     GANTRY_HD inline void divide_registers(bool producer) {
//       if (producer) {
//         gantry::arch::setmaxnreg_dec<40>();
//       } else {
//         gantry::arch::setmaxnreg_inc<232>();
//       }
//       gantry::arch::griddepcontrol_wait();  // before the first byte that the previous kernel wrote
//     }
#pragma once

#include <gantry/arch/site.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

namespace detail {
template <int Registers>
inline constexpr bool kRegisterCount = Registers >= 24 && Registers <= 256 && Registers % 8 == 0;
}

// All four warps of a warpgroup give registers back, down to `Registers` a thread.
template <int Registers>
GANTRY_INLINE void setmaxnreg_dec([[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kRegisterCount<Registers>, "setmaxnreg takes a multiple of 8 from 24 to 256");
#if GANTRY_ON_DEVICE
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#else
  sim::setmaxnreg(Registers, false, site);
#endif
}

// All four warps of a warpgroup wait until the CTA has enough registers to give them `Registers` a thread.
template <int Registers>
GANTRY_INLINE void setmaxnreg_inc([[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kRegisterCount<Registers>, "setmaxnreg takes a multiple of 8 from 24 to 256");
#if GANTRY_ON_DEVICE
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#else
  sim::setmaxnreg(Registers, true, site);
#endif
}

// The same value, of which the compiler knows nothing: what is computed from it in a loop is computed there, and takes
// no registers between iterations.
GANTRY_INLINE std::uint32_t opaque(std::uint32_t value) {
#if GANTRY_ON_DEVICE
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Waits until the grids that this one depends on have finished and their memory is visible.
GANTRY_INLINE void griddepcontrol_wait([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("griddepcontrol.wait;" ::: "memory");
#else
  sim::grid_dependency_wait(site);
#endif
}

// The dependent grid may start once every CTA has executed this or has ended. Promises nothing about memory.
GANTRY_INLINE void griddepcontrol_launch_dependents([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#else
  sim::grid_launch_dependents(site);
#endif
}

}  // namespace gantry::arch
