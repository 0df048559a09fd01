// An older standard, nvcc's default among them, is named before anything else goes wrong.
// EXPECT: Gantry is C++20: compile with -std=c++20, nvcc too
#undef __cplusplus
#define __cplusplus 201703L
#include <gantry/config.hpp>
