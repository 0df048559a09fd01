#include <gantry/gemm/detail/check_definitions.hpp>
