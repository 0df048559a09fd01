#include <gantry/gemm/detail/reference_definitions.hpp>
