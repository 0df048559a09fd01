#include <gantry/config.hpp>

int main() { return gantry::is_constant_evaluated() ? 1 : 0; }
