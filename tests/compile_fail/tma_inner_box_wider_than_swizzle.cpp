// A map that the driver would refuse at run time is refused by the compiler, with the rule and the nearest value.
// EXPECT: gantry: the innermost extent is not wider than its swizzle
// EXPECT-REGEX: box\[0\] is 128, 256 bytes, and the swizzle covers 128: .*; the nearest value that works is 64|field<(gantry::TmaField::)?box>, gantry::said::index<0L?>, gantry::said::actual<128L?>, gantry::said::first<256L?>, gantry::said::second<128L?>, gantry::said::nearest<64L?>
// NO_PLACEHOLDERS
#include <gantry/tma/static_check.hpp>

constexpr gantry::TmaDescriptorParams kMap{.data_type = gantry::TmaDataType::bf16,
                                           .rank = 2,
                                           .dims = {4096, 4096},
                                           .strides = {8192},
                                           .box = {128, 64},
                                           .swizzle = gantry::TmaSwizzle::bytes_128};
GANTRY_TMA_STATIC_CHECK(kMap);
