// Qualifiers as the text of an instruction, for operands with the constraint "C". Device code only.
#pragma once

#include <gantry/arch/tags.hpp>

namespace gantry::arch::detail {

template <auto Qualifier>
struct QualifierText;

#define GANTRY_QUALIFIER_TEXT(qualifier, text) \
  template <>                                  \
  struct QualifierText<qualifier> {            \
    static constexpr char value[] = text;      \
  };
GANTRY_QUALIFIER_TEXT(Semantics::relaxed, "relaxed")
GANTRY_QUALIFIER_TEXT(Semantics::acquire, "acquire")
GANTRY_QUALIFIER_TEXT(Semantics::release, "release")
GANTRY_QUALIFIER_TEXT(Semantics::acq_rel, "acq_rel")
GANTRY_QUALIFIER_TEXT(Semantics::sc, "sc")
GANTRY_QUALIFIER_TEXT(Scope::cta, "cta")
GANTRY_QUALIFIER_TEXT(Scope::cluster, "cluster")
GANTRY_QUALIFIER_TEXT(Scope::gpu, "gpu")
GANTRY_QUALIFIER_TEXT(Scope::sys, "sys")
GANTRY_QUALIFIER_TEXT(Space::global, "global")
GANTRY_QUALIFIER_TEXT(Space::shared, "shared::cta")
GANTRY_QUALIFIER_TEXT(Space::cluster, "shared::cluster")
GANTRY_QUALIFIER_TEXT(ReduceOp::add, "add")
GANTRY_QUALIFIER_TEXT(ReduceOp::min, "min")
GANTRY_QUALIFIER_TEXT(ReduceOp::max, "max")
GANTRY_QUALIFIER_TEXT(ReduceOp::inc, "inc")
GANTRY_QUALIFIER_TEXT(ReduceOp::dec, "dec")
GANTRY_QUALIFIER_TEXT(ReduceOp::and_, "and")
GANTRY_QUALIFIER_TEXT(ReduceOp::or_, "or")
GANTRY_QUALIFIER_TEXT(ReduceOp::xor_, "xor")
#undef GANTRY_QUALIFIER_TEXT

}  // namespace gantry::arch::detail
