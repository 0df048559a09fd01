#include <gantry/epilogue/fusion/detail/arguments_definitions.hpp>
