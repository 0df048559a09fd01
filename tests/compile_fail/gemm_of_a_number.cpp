// The surface of the host says the same as a kernel's types.
// EXPECT: a specification is a class with members such as options and graph
#include <gantry/gemm/gemm.hpp>

constexpr auto bytes = sizeof(gantry::Gemm<int>);
