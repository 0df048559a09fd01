#include <gantry/gemm/detail/workspace_definitions.hpp>
