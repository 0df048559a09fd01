// The device side of `arch/wgmma_sparse.hpp`: the instruction at every N.
#pragma once

#include <gantry/arch/detail/wgmma_text.hpp>
#include <gantry/arch/generated/wgmma_sp_n104.hpp>
#include <gantry/arch/generated/wgmma_sp_n112.hpp>
#include <gantry/arch/generated/wgmma_sp_n120.hpp>
#include <gantry/arch/generated/wgmma_sp_n128.hpp>
#include <gantry/arch/generated/wgmma_sp_n136.hpp>
#include <gantry/arch/generated/wgmma_sp_n144.hpp>
#include <gantry/arch/generated/wgmma_sp_n152.hpp>
#include <gantry/arch/generated/wgmma_sp_n16.hpp>
#include <gantry/arch/generated/wgmma_sp_n160.hpp>
#include <gantry/arch/generated/wgmma_sp_n168.hpp>
#include <gantry/arch/generated/wgmma_sp_n176.hpp>
#include <gantry/arch/generated/wgmma_sp_n184.hpp>
#include <gantry/arch/generated/wgmma_sp_n192.hpp>
#include <gantry/arch/generated/wgmma_sp_n200.hpp>
#include <gantry/arch/generated/wgmma_sp_n208.hpp>
#include <gantry/arch/generated/wgmma_sp_n216.hpp>
#include <gantry/arch/generated/wgmma_sp_n224.hpp>
#include <gantry/arch/generated/wgmma_sp_n232.hpp>
#include <gantry/arch/generated/wgmma_sp_n24.hpp>
#include <gantry/arch/generated/wgmma_sp_n240.hpp>
#include <gantry/arch/generated/wgmma_sp_n248.hpp>
#include <gantry/arch/generated/wgmma_sp_n256.hpp>
#include <gantry/arch/generated/wgmma_sp_n32.hpp>
#include <gantry/arch/generated/wgmma_sp_n40.hpp>
#include <gantry/arch/generated/wgmma_sp_n48.hpp>
#include <gantry/arch/generated/wgmma_sp_n56.hpp>
#include <gantry/arch/generated/wgmma_sp_n64.hpp>
#include <gantry/arch/generated/wgmma_sp_n72.hpp>
#include <gantry/arch/generated/wgmma_sp_n8.hpp>
#include <gantry/arch/generated/wgmma_sp_n80.hpp>
#include <gantry/arch/generated/wgmma_sp_n88.hpp>
#include <gantry/arch/generated/wgmma_sp_n96.hpp>

namespace gantry::arch::detail {

// `A` is a descriptor, or an array of four registers.
template <class Op, int Selector, class Register, class A>
GANTRY_DEVICE __forceinline__ void wgmma_sp_issue(Register (&d)[Op::kRegisters], const A& a, std::uint64_t b,
                                                  std::uint32_t metadata, int accumulate) {
  using Instruction = WgmmaSpInstruction<Op::kN>;
  if constexpr (Op::kD == MmaType::f32) {
    Instruction::template issue<Op, Selector>(d, a, b, metadata, accumulate);
  } else if constexpr (Op::kD == MmaType::f16) {
    Instruction::template issue_f16<Op, Selector>(d, a, b, metadata, accumulate);
  } else {
    Instruction::template issue_s32<Op, Selector>(d, a, b, metadata, accumulate);
  }
}

}  // namespace gantry::arch::detail
