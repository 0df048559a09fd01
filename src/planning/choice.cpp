#include <gantry/gemm/detail/choice_definitions.hpp>
