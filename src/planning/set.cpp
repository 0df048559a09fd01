#include <gantry/gemm/detail/set_definitions.hpp>
