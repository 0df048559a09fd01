// What is no specification at all.
// EXPECT: a specification is a class with members such as options and graph
#include <gantry/gemm/types.hpp>

constexpr int stages = gantry::GemmTypes<int>::design.options.stages;
