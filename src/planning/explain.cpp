#include <gantry/gemm/detail/explain_definitions.hpp>
