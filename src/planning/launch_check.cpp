#include <gantry/arch/detail/launch_check_definitions.hpp>
