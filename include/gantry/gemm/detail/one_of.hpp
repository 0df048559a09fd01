// A value of one of several types, which is moved and not copied, and its number among them: what std::variant is,
// whose header each of nvcc's passes would read.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace gantry::detail {

template <class... Types>
class OneOf {
 public:
  // Requires: `Type` is the type of this number.
  template <class Type>
  OneOf(int number, Type value) : number_(number) {
    new (storage_) Type(std::move(value));
  }
  OneOf(OneOf&& other) noexcept : number_(other.number_) {
    other.visit([this]<class Type>(Type& value) { new (storage_) Type(std::move(value)); });
  }
  OneOf& operator=(OneOf other) noexcept {
    destroy();
    number_ = other.number_;
    other.visit([this]<class Type>(Type& value) { new (storage_) Type(std::move(value)); });
    return *this;
  }
  ~OneOf() { destroy(); }

  template <class Function>
  auto visit(const Function& function) const {
    return visit_from<0, Types...>(*this, function);
  }
  template <class Function>
  auto visit(const Function& function) {
    return visit_from<0, Types...>(*this, function);
  }

 private:
  template <int number, class First, class... Others, class Self, class Function>
  static auto visit_from(Self& self, const Function& function) {
    if constexpr (sizeof...(Others) > 0) {
      if (self.number_ != number) return visit_from<number + 1, Others...>(self, function);
    }
    return function(self.template as<First>());
  }
  template <class Type>
  Type& as() {
    return *std::launder(reinterpret_cast<Type*>(storage_));
  }
  template <class Type>
  const Type& as() const {
    return *std::launder(reinterpret_cast<const Type*>(storage_));
  }
  void destroy() {
    visit([]<class Type>(Type& value) { value.~Type(); });
  }

  static constexpr std::size_t largest() {
    std::size_t out = 0;
    for (const std::size_t size : {sizeof(Types)...}) out = size > out ? size : out;
    return out;
  }

  alignas(Types...) unsigned char storage_[largest()];
  int number_;
};

}  // namespace gantry::detail
