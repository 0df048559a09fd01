// The text of bulk tensor instructions: one for each rank, with the operands that a mode has.
#pragma once

#include <gantry/config.hpp>

#if GANTRY_ON_DEVICE

// One instruction at each rank, for a copy that starts at `start`. `before` and `after` surround the coordinates, which
// are operands 4 and up; the operands that the text names come first, always four, so that their numbers do not depend
// on the rank.
#define GANTRY_TENSOR_TILED(name, before, after, a, b, c, d)                                                          \
  if constexpr (Rank == 1) {                                                                                          \
    asm volatile(name ".1d" before "{%4}" after ::a, b, c, d, "r"(start.coordinates[0]) : "memory");                  \
  } else if constexpr (Rank == 2) {                                                                                   \
    asm volatile(name ".2d" before "{%4,%5}" after ::a, b, c, d, "r"(start.coordinates[0]), "r"(start.coordinates[1]) \
                 : "memory");                                                                                         \
  } else if constexpr (Rank == 3) {                                                                                   \
    asm volatile(name ".3d" before "{%4,%5,%6}" after ::a, b, c, d, "r"(start.coordinates[0]),                        \
                 "r"(start.coordinates[1]), "r"(start.coordinates[2])                                                 \
                 : "memory");                                                                                         \
  } else if constexpr (Rank == 4) {                                                                                   \
    asm volatile(name ".4d" before "{%4,%5,%6,%7}" after ::a, b, c, d, "r"(start.coordinates[0]),                     \
                 "r"(start.coordinates[1]), "r"(start.coordinates[2]), "r"(start.coordinates[3])                      \
                 : "memory");                                                                                         \
  } else {                                                                                                            \
    asm volatile(name ".5d" before "{%4,%5,%6,%7,%8}" after ::a, b, c, d, "r"(start.coordinates[0]),                  \
                 "r"(start.coordinates[1]), "r"(start.coordinates[2]), "r"(start.coordinates[3]),                     \
                 "r"(start.coordinates[4])                                                                            \
                 : "memory");                                                                                         \
  }

// The same for im2col loads, which exist at ranks 3 to 5 and take rank - 2 offsets after the barrier.
#define GANTRY_TENSOR_IM2COL(name, before, middle, after, a, b, c, d)                                                \
  if constexpr (Rank == 3) {                                                                                         \
    asm volatile(name ".3d" before "{%4,%5,%6}" middle "{%7}" after ::a, b, c, d, "r"(start.coordinates[0]),         \
                 "r"(start.coordinates[1]), "r"(start.coordinates[2]), "h"(start.offsets[0])                         \
                 : "memory");                                                                                        \
  } else if constexpr (Rank == 4) {                                                                                  \
    asm volatile(name ".4d" before "{%4,%5,%6,%7}" middle "{%8,%9}" after ::a, b, c, d, "r"(start.coordinates[0]),   \
                 "r"(start.coordinates[1]), "r"(start.coordinates[2]), "r"(start.coordinates[3]),                    \
                 "h"(start.offsets[0]), "h"(start.offsets[1])                                                        \
                 : "memory");                                                                                        \
  } else {                                                                                                           \
    asm volatile(name ".5d" before "{%4,%5,%6,%7,%8}" middle "{%9,%10,%11}" after ::a, b, c, d,                      \
                 "r"(start.coordinates[0]), "r"(start.coordinates[1]), "r"(start.coordinates[2]),                    \
                 "r"(start.coordinates[3]), "r"(start.coordinates[4]), "h"(start.offsets[0]), "h"(start.offsets[1]), \
                 "h"(start.offsets[2])                                                                               \
                 : "memory");                                                                                        \
  }

#define GANTRY_LOAD_QUALIFIERS(mode) ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes"

// The mask of a multicast with a hint has no place among the four fixed operands: it travels in the upper half of the
// barrier's, and is taken out again in a block that the instruction closes.
#define GANTRY_BARRIER_AND_MASK \
  "{\n.reg .b32 bar, wide;\n.reg .b16 mask, none;\nmov.b64 {bar, wide}, %2;\nmov.b32 {mask, none}, wide;\n"

// `statement` with the name of the reduction `Op`.
#define GANTRY_EACH_REDUCTION(statement) \
  if constexpr (Op == ReduceOp::add) {   \
    statement("add")                     \
  }                                      \
  if constexpr (Op == ReduceOp::min) {   \
    statement("min")                     \
  }                                      \
  if constexpr (Op == ReduceOp::max) {   \
    statement("max")                     \
  }                                      \
  if constexpr (Op == ReduceOp::inc) {   \
    statement("inc")                     \
  }                                      \
  if constexpr (Op == ReduceOp::dec) {   \
    statement("dec")                     \
  }                                      \
  if constexpr (Op == ReduceOp::and_) {  \
    statement("and")                     \
  }                                      \
  if constexpr (Op == ReduceOp::or_) {   \
    statement("or")                      \
  }                                      \
  if constexpr (Op == ReduceOp::xor_) {  \
    statement("xor")                     \
  }

#endif
