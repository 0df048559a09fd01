#include <gantry/epilogue/fusion/detail/reference_definitions.hpp>
