#include <gantry/gemm/detail/device_definitions.hpp>
