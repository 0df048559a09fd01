// The device side of `arch/wgmma.hpp`: the instruction at every N.
#pragma once

#include <gantry/arch/detail/wgmma_text.hpp>
#include <gantry/arch/generated/wgmma_n104.hpp>
#include <gantry/arch/generated/wgmma_n112.hpp>
#include <gantry/arch/generated/wgmma_n120.hpp>
#include <gantry/arch/generated/wgmma_n128.hpp>
#include <gantry/arch/generated/wgmma_n136.hpp>
#include <gantry/arch/generated/wgmma_n144.hpp>
#include <gantry/arch/generated/wgmma_n152.hpp>
#include <gantry/arch/generated/wgmma_n16.hpp>
#include <gantry/arch/generated/wgmma_n160.hpp>
#include <gantry/arch/generated/wgmma_n168.hpp>
#include <gantry/arch/generated/wgmma_n176.hpp>
#include <gantry/arch/generated/wgmma_n184.hpp>
#include <gantry/arch/generated/wgmma_n192.hpp>
#include <gantry/arch/generated/wgmma_n200.hpp>
#include <gantry/arch/generated/wgmma_n208.hpp>
#include <gantry/arch/generated/wgmma_n216.hpp>
#include <gantry/arch/generated/wgmma_n224.hpp>
#include <gantry/arch/generated/wgmma_n232.hpp>
#include <gantry/arch/generated/wgmma_n24.hpp>
#include <gantry/arch/generated/wgmma_n240.hpp>
#include <gantry/arch/generated/wgmma_n248.hpp>
#include <gantry/arch/generated/wgmma_n256.hpp>
#include <gantry/arch/generated/wgmma_n32.hpp>
#include <gantry/arch/generated/wgmma_n40.hpp>
#include <gantry/arch/generated/wgmma_n48.hpp>
#include <gantry/arch/generated/wgmma_n56.hpp>
#include <gantry/arch/generated/wgmma_n64.hpp>
#include <gantry/arch/generated/wgmma_n72.hpp>
#include <gantry/arch/generated/wgmma_n8.hpp>
#include <gantry/arch/generated/wgmma_n80.hpp>
#include <gantry/arch/generated/wgmma_n88.hpp>
#include <gantry/arch/generated/wgmma_n96.hpp>

namespace gantry::arch::detail {

// `A` is a descriptor, or an array of four registers.
template <class Op, class Register, class A>
GANTRY_DEVICE __forceinline__ void wgmma_issue(Register (&d)[Op::kRegisters], const A& a, std::uint64_t b,
                                               int accumulate) {
  using Instruction = WgmmaInstruction<Op::kN>;
  if constexpr (Op::kD == MmaType::f32) {
    Instruction::template issue<Op>(d, a, b, accumulate);
  } else if constexpr (Op::kD == MmaType::f16) {
    Instruction::template issue_f16<Op>(d, a, b, accumulate);
  } else {
    Instruction::template issue_s32<Op>(d, a, b, accumulate);
  }
}

}  // namespace gantry::arch::detail
