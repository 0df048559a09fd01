// Expected<T, E>: what a host function made, or why it could not. The members have the names and the meaning of
// C++23's std::expected, as far as the library needs them.
//
// It is written here because the headers that stand in for std::expected in C++20 read <functional> and <memory>, which
// cost nvcc 1.2 s in its three passes over a source, a seventh of what a GEMM takes to compile.
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
//     const int zero = none.value_or(0);
#pragma once

#include <new>
#include <type_traits>
#include <utility>

namespace gantry {

template <class E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}

  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }

 private:
  E error_;
};

template <class E>
Unexpected<std::decay_t<E>> unexpected(E&& error) {
  return Unexpected<std::decay_t<E>>(std::forward<E>(error));
}

// Invariant: exactly one of value and error is alive. Requires moves of both that do not throw.
template <class T, class E>
class [[nodiscard]] Expected {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_constructible_v<E>);

 public:
  Expected(const T& value) : has_value_(true), value_(value) {}                 // NOLINT: a value is what is expected
  Expected(T&& value) noexcept : has_value_(true), value_(std::move(value)) {}  // NOLINT: likewise
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T>)
      Expected(U&& value)  // NOLINT: likewise
      : has_value_(true), value_(std::forward<U>(value)) {}
  template <class G>
  requires(std::is_convertible_v<const G&, E>) Expected(const Unexpected<G>& error)
      : has_value_(false), error_(error.error()) {}  // NOLINT: says what it is
  template <class G>
  requires(std::is_convertible_v<G, E>) Expected(Unexpected<G>&& error)
      : has_value_(false), error_(std::move(error).error()) {}  // NOLINT: likewise

  Expected(const Expected& other) : has_value_(other.has_value_) {
    if (has_value_) {
      new (&value_) T(other.value_);
    } else {
      new (&error_) E(other.error_);
    }
  }
  Expected(Expected&& other) noexcept : has_value_(other.has_value_) { take(std::move(other)); }
  Expected& operator=(Expected other) noexcept {
    destroy();
    has_value_ = other.has_value_;
    take(std::move(other));
    return *this;
  }
  ~Expected() { destroy(); }

  bool has_value() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }

  // Require a value.
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

  // Requires none.
  E& error() & noexcept { return error_; }
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }

  template <class U>
  T value_or(U&& other) const {
    return has_value_ ? value_ : static_cast<T>(std::forward<U>(other));
  }

 private:
  void take(Expected&& other) noexcept {
    if (has_value_) {
      new (&value_) T(std::move(other.value_));
    } else {
      new (&error_) E(std::move(other.error_));
    }
  }
  void destroy() noexcept {
    if (has_value_) {
      value_.~T();
    } else {
      error_.~E();
    }
  }

  bool has_value_;
  union {
    T value_;  // NOLINT(readability-identifier-naming): an anonymous union's are private like the rest
    E error_;  // NOLINT(readability-identifier-naming)
  };
};

}  // namespace gantry
