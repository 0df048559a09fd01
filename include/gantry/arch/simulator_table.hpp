// The functions of the simulated SM as a table of pointers, so that a kernel in a shared object runs on the simulated
// SM of the program that loads it: there is one scheduler and one checker, whatever the program was linked from.
//
// The object defines the functions itself (GANTRY_DEFINE_SIMULATOR_FUNCTIONS), each calling through the table that it
// was handed. Names left for the loader to resolve would be shorter, but they ask every program for exported symbols
// (-rdynamic), keep a library from hiding its own, find nothing where that library was loaded locally, as extensions of
// Python are, and find the wrong one where two libraries have the simulated SM.
//
// Invariant: the list has every function of arch/detail/machine*.hpp (a test compares them), with its number of
// parameters.
//
// Example:
//     using namespace gantry;
//     const SimulatorTable table = simulator_table();  // needs the library gantry::sim
//     const bool there = table.wgmma != nullptr;
#pragma once

#include <tuple>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/arch/detail/machine_cp_async.hpp>
#include <gantry/arch/detail/machine_mma.hpp>

#define GANTRY_SIMULATOR_FUNCTIONS(X) \
  X(identity, 0)                      \
  X(shared_address, 2)                \
  X(map_shared_rank, 3)               \
  X(cta_rank_of, 2)                   \
  X(name_object, 2)                   \
  X(name_role, 1)                     \
  X(mbarrier_init, 3)                 \
  X(mbarrier_inval, 2)                \
  X(mbarrier_arrive, 2)               \
  X(mbarrier_expect_tx, 4)            \
  X(mbarrier_complete_tx, 3)          \
  X(mbarrier_pending_count, 1)        \
  X(mbarrier_wait, 2)                 \
  X(barrier_sync, 2)                  \
  X(barrier_arrive, 2)                \
  X(barrier_reduce, 3)                \
  X(cluster_arrive, 2)                \
  X(cluster_wait, 2)                  \
  X(warp_exchange, 3)                 \
  X(shuffle_segments, 2)              \
  X(fence, 4)                         \
  X(fence_tensormap_acquire, 3)       \
  X(fence_tensormap_release, 2)       \
  X(tensormap_copy_release, 4)        \
  X(tensormap_replace, 5)             \
  X(tensormap_prefetch, 2)            \
  X(tensor_copy, 2)                   \
  X(bulk_copy, 2)                     \
  X(bulk_commit_group, 1)             \
  X(bulk_wait_group, 3)               \
  X(remote_store, 2)                  \
  X(load, 5)                          \
  X(store, 5)                         \
  X(atomic, 3)                        \
  X(ldmatrix, 5)                      \
  X(stmatrix, 5)                      \
  X(wgmma, 2)                         \
  X(wgmma_fence, 1)                   \
  X(wgmma_commit_group, 1)            \
  X(wgmma_wait_group, 2)              \
  X(wgmma_touch, 2)                   \
  X(setmaxnreg, 3)                    \
  X(grid_dependency_wait, 1)          \
  X(grid_launch_dependents, 1)        \
  X(clock64, 1)                       \
  X(globaltimer, 1)                   \
  X(pause, 1)                         \
  X(cp_async, 2)                      \
  X(cp_async_commit_group, 1)         \
  X(cp_async_wait_group, 2)           \
  X(cp_async_wait_all, 1)             \
  X(cp_async_mbarrier_arrive, 3)      \
  X(mma, 3)

namespace gantry {

struct SimulatorTable {
#define GANTRY_X(name, parameters) decltype(&sim::name) name;
  GANTRY_SIMULATOR_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
};

// Those of the library that this program is linked with.
inline SimulatorTable simulator_table() {
  return {
#define GANTRY_X(name, parameters) .name = &sim::name,
      GANTRY_SIMULATOR_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
  };
}

namespace detail {

template <class Function>
struct SimulatorFunction;
template <class R, class... Parameters>
struct SimulatorFunction<R(Parameters...)> {
  using Result = R;
  template <int i>
  using Parameter = std::tuple_element_t<i, std::tuple<Parameters...>>;
};

}  // namespace detail

}  // namespace gantry

// Defines every function of the simulated SM, in the one translation unit of a shared object: each calls the one of
// `table`, a pointer to a SimulatorTable that is set before any of them is called.
#define GANTRY_DEFINE_SIMULATOR_FUNCTIONS(table)                      \
  namespace gantry::sim {                                             \
  static const ::gantry::SimulatorTable& calls() { return *(table); } \
  GANTRY_SIMULATOR_FUNCTIONS(GANTRY_SIMULATOR_FORWARD)                \
  }

#define GANTRY_SIMULATOR_FORWARD(name, parameters)                                                                   \
  ::gantry::detail::SimulatorFunction<decltype(name)>::Result name(GANTRY_SIMULATOR_PARAMETERS_##parameters(name)) { \
    return calls().name(GANTRY_SIMULATOR_VALUES_##parameters);                                                       \
  }
#define GANTRY_SIMULATOR_PARAMETER(name, i) ::gantry::detail::SimulatorFunction<decltype(name)>::Parameter<i> p##i
#define GANTRY_SIMULATOR_PARAMETERS_0(name)
#define GANTRY_SIMULATOR_PARAMETERS_1(name) GANTRY_SIMULATOR_PARAMETER(name, 0)
#define GANTRY_SIMULATOR_PARAMETERS_2(name) GANTRY_SIMULATOR_PARAMETERS_1(name), GANTRY_SIMULATOR_PARAMETER(name, 1)
#define GANTRY_SIMULATOR_PARAMETERS_3(name) GANTRY_SIMULATOR_PARAMETERS_2(name), GANTRY_SIMULATOR_PARAMETER(name, 2)
#define GANTRY_SIMULATOR_PARAMETERS_4(name) GANTRY_SIMULATOR_PARAMETERS_3(name), GANTRY_SIMULATOR_PARAMETER(name, 3)
#define GANTRY_SIMULATOR_PARAMETERS_5(name) GANTRY_SIMULATOR_PARAMETERS_4(name), GANTRY_SIMULATOR_PARAMETER(name, 4)
#define GANTRY_SIMULATOR_VALUES_0
#define GANTRY_SIMULATOR_VALUES_1 p0
#define GANTRY_SIMULATOR_VALUES_2 p0, p1
#define GANTRY_SIMULATOR_VALUES_3 p0, p1, p2
#define GANTRY_SIMULATOR_VALUES_4 p0, p1, p2, p3
#define GANTRY_SIMULATOR_VALUES_5 p0, p1, p2, p3, p4
