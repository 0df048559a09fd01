// A map that the driver would refuse at run time is refused by the compiler, with the rule and the nearest value.
// EXPECT: the innermost extent spans {first} bytes, and the swizzle covers {second}
// EXPECT-REGEX: box.*128.*64
#include <gantry/tma/static_check.hpp>

constexpr gantry::TmaDescriptorParams kMap{.data_type = gantry::TmaDataType::bf16,
                                           .rank = 2,
                                           .dims = {4096, 4096},
                                           .strides = {8192},
                                           .box = {128, 64},
                                           .swizzle = gantry::TmaSwizzle::bytes_128};
GANTRY_TMA_STATIC_CHECK(kMap);
