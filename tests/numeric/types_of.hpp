// The types of a typed suite. The static analyser reads every instantiation for seconds, and one shows it all that it
// can see.
#pragma once

#include <gtest/gtest.h>

namespace gantry::test {

#ifdef __clang_analyzer__
template <class First, class...>
using TypesOf = testing::Types<First>;
#else
template <class... Ts>
using TypesOf = testing::Types<Ts...>;
#endif

}  // namespace gantry::test
