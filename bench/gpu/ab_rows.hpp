// The kernels that the A/B harness compares: each size of README's table with each of its epilogues, bf16, in the
// configuration that is chosen for it automatically on an H200.
//
// The configurations are written out, so that both sides of a comparison compile the same one whatever their commits
// would choose; a test holds them against today's choice. Nothing of Gantry is included but jobs.hpp: ab_options.hpp
// makes options of a row.
//
//   const AbRow& row = kAbRows[GANTRY_AB_ROW];
#pragma once

#include "jobs.hpp"

namespace gantry::bench {

struct AbSize {
  int m, n, k;
};

// Subtiles of the epilogue and their buffers; {}: D is stored in whole tiles, overlapped with the next tile.
struct AbEpilogue {
  int columns = 0, stages_c = 0, stages_d = 0;
  bool reuse = false;
};

enum class AbSchedule { cooperative, pingpong };

struct AbRow {
  AbSize size;
  Job job;
  AbSchedule schedule;
  struct {
    int m, n;
  } tile, cluster;
  int warpgroups, stages;
  AbEpilogue epilogue = {};
  bool dependent = false;  // launched before the run before it has ended
};

namespace detail {
inline constexpr AbSchedule kTogether = AbSchedule::cooperative, kInTurn = AbSchedule::pingpong;
}

// scripts/ptxas_record.py reads size and job of each line, in this order.
// clang-format off
inline constexpr AbRow kAbRows[] = {
    {{8192, 8192, 8192}, Job::plain, detail::kTogether, {128, 256}, {2, 1}, 2, 4},
    {{8192, 8192, 8192}, Job::c, detail::kInTurn, {128, 192}, {2, 1}, 2, 4, {64, 2, 2}},
    {{8192, 8192, 8192}, Job::bias_gelu, detail::kInTurn, {128, 192}, {2, 1}, 2, 4, {192, 2, 1}},
    {{8192, 8192, 8192}, Job::bias_gelu_aux, detail::kInTurn, {128, 192}, {2, 1}, 2, 4, {64, 2, 1}},
    {{4096, 4096, 4096}, Job::plain, detail::kTogether, {128, 256}, {2, 1}, 2, 4},
    {{4096, 4096, 4096}, Job::c, detail::kTogether, {128, 256}, {2, 1}, 2, 3, {64, 2, 2}},
    {{4096, 4096, 4096}, Job::bias_gelu, detail::kTogether, {128, 256}, {2, 1}, 2, 4, {128, 2, 1}},
    {{4096, 4096, 4096}, Job::bias_gelu_aux, detail::kTogether, {128, 256}, {2, 1}, 2, 3, {64, 2, 2}},
    {{16384, 4096, 4096}, Job::plain, detail::kTogether, {128, 256}, {2, 1}, 2, 4},
    {{16384, 4096, 4096}, Job::c, detail::kInTurn, {192, 128}, {1, 2}, 2, 4, {64, 2, 2}},
    {{16384, 4096, 4096}, Job::bias_gelu, detail::kInTurn, {192, 128}, {1, 2}, 2, 4, {128, 2, 1}},
    {{16384, 4096, 4096}, Job::bias_gelu_aux, detail::kInTurn, {192, 128}, {1, 2}, 2, 4, {64, 2, 1}},
    {{8192, 8192, 256}, Job::plain, detail::kInTurn, {128, 192}, {2, 1}, 2, 4, {192, 2, 1}, true},
    {{8192, 8192, 256}, Job::c, detail::kInTurn, {128, 128}, {2, 1}, 3, 5, {64, 2, 1, true}, true},
    {{8192, 8192, 256}, Job::bias_gelu, detail::kInTurn, {128, 128}, {2, 1}, 3, 4, {128, 2, 1}, true},
    {{8192, 8192, 256}, Job::bias_gelu_aux, detail::kInTurn, {128, 128}, {2, 1}, 2, 4, {128, 2, 1}, true},
    {{128, 4096, 4096}, Job::plain, detail::kTogether, {64, 64}, {2, 1}, 1, 12, {64, 2, 2}, true},
    {{128, 4096, 4096}, Job::c, detail::kTogether, {64, 64}, {2, 1}, 1, 12, {64, 2, 2}, true},
    {{128, 4096, 4096}, Job::bias_gelu, detail::kTogether, {64, 64}, {2, 1}, 1, 12, {64, 2, 2}, true},
    {{128, 4096, 4096}, Job::bias_gelu_aux, detail::kTogether, {64, 64}, {2, 1}, 1, 12, {64, 2, 2}, true},
};
// clang-format on
inline constexpr int kAbRowCount = sizeof kAbRows / sizeof kAbRows[0];

}  // namespace gantry::bench
