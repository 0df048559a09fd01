#include <gantry/epilogue/fusion/detail/print_definitions.hpp>
