#include <gantry/gemm/detail/cost_model_definitions.hpp>
