#include <gantry/arch/detail/launch_definitions.hpp>
