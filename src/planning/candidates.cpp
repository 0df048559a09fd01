#include <gantry/gemm/detail/candidates_definitions.hpp>
