#include <gantry/gemm/detail/tuning_definitions.hpp>
