// Expected<T, E>: what a host function made, or why it could not. It is tl::expected (the package libexpected-dev),
// which has the interface of C++23's std::expected.
//
// Example:
//     using namespace gantry;
//     const auto half = [](int x) -> Expected<int, const char*> {
//       if (x % 2 != 0) return unexpected("the number is odd");
//       return x / 2;
//     };
//     const Expected<int, const char*> three = half(6), none = half(7);
//     const int six = three ? *three * 2 : 0;
//     const bool said = !none && none.error()[0] == 't';
#pragma once

#include <utility>

#include <tl/expected.hpp>

namespace gantry {

template <class T, class E>
using Expected = tl::expected<T, E>;

template <class E>
tl::unexpected<std::decay_t<E>> unexpected(E&& error) {
  return tl::unexpected<std::decay_t<E>>(std::forward<E>(error));
}

}  // namespace gantry
