#include <gantry/epilogue/detail/graph_host_definitions.hpp>
