#include <gantry/tma/detail/encode_definitions.hpp>
