#include <gantry/arch/detail/simulator_definitions.hpp>
