// Where the fields of the C interface's versioned structs begin. A caller's struct of an older version ends where one
// of them does, so that no field is read in part.
#pragma once

#include <cstddef>

#include <gantry/gantry.h>

namespace gantry::c_interface {

template <class Struct>
struct Fields;

#define GANTRY_X(field) offsetof(Struct, field),
#define GANTRY_FIELDS(name, last, list)                                                                              \
  template <>                                                                                                        \
  struct Fields<name> {                                                                                              \
    using Struct = name;                                                                                             \
    static constexpr std::size_t begins[] = {list(GANTRY_X) sizeof(Struct)};                                         \
    static_assert(sizeof(Struct) - offsetof(Struct, last) <= sizeof(void*), "gantry: a field is missing in a list"); \
  };

// clang-format off
#define GANTRY_OF_CONTEXT(X)                                                                                        \
  X(machine) X(device) X(policy) X(most_kernels) X(most_plans) X(compile_threads) X(cache_directory) X(tuning_file) \
  X(shipped) X(shipped_count) X(simulated_sms) X(simulated_seed) X(simulated_checker) X(reserved)                   \
  X(simulated_progress) X(simulated_progress_user) X(simulated_progress_seconds)
#define GANTRY_OF_GEMM(X)                                                                                           \
  X(a) X(b) X(c) X(d) X(epilogue) X(a_is_m_major) X(b_is_n_major) X(c_is_column_major) X(d_is_column_major)         \
  X(promote) X(tile_m) X(tile_n) X(cluster_m) X(cluster_n) X(stages) X(functions) X(function_count) X(groups)       \
  X(scale_a) X(scale_b) X(gate) X(gather_a) X(scatter_d) X(function_size) X(expected_rows) X(expected_gemms)        \
  X(expected_row_count) X(expected_gemm_count) X(schedule) X(swapped)
#define GANTRY_OF_CALL(X)                                                                                           \
  X(m) X(n) X(k) X(batch) X(a) X(b) X(c) X(d) X(arguments) X(argument_count) X(dependent) X(stream) X(workspace)    \
  X(workspace_bytes) X(group_offsets) X(group_counts) X(scale_a) X(scale_b) X(group_gemms) X(check)                 \
  X(argument_size) X(gather_index) X(gather_rows) X(scatter_index) X(scatter_rows)
#define GANTRY_OF_SIMULATION(X) X(seed) X(trace_file)
// clang-format on

GANTRY_FIELDS(gantry_context_options, simulated_progress_seconds, GANTRY_OF_CONTEXT)
GANTRY_FIELDS(gantry_gemm_options, swapped, GANTRY_OF_GEMM)
GANTRY_FIELDS(gantry_call, scatter_rows, GANTRY_OF_CALL)
GANTRY_FIELDS(gantry_simulation_options, trace_file, GANTRY_OF_SIMULATION)

#undef GANTRY_OF_SIMULATION
#undef GANTRY_OF_CALL
#undef GANTRY_OF_GEMM
#undef GANTRY_OF_CONTEXT
#undef GANTRY_FIELDS
#undef GANTRY_X

}  // namespace gantry::c_interface
