#include <gantry/gemm/detail/planner_definitions.hpp>
