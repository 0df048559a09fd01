// The engines of tensors: pointers with a memory space, arrays in registers, and counting iterators that yield
// coordinates.
//
// Pointer<memory, T> reads and writes elements through load_element and store_element (access.hpp); in registers it is
// a plain T&. Elements narrower than a byte lie packed, so their pointer is an address and a count of elements.
//
// All of them have one interface, so that a tensor need not know its engine: at(offset) is the element, moved(offset)
// the engine advanced by it. An offset has one number for every axis; memory has one axis.
//
// Example:
//     using namespace gantry;
//     float buffer[4] = {1, 2, 3, 4};
//     auto p = make_gmem_ptr(buffer);
//     p[1] = p[3];                             // buffer is now 1, 4, 3, 4
//     float* raw = raw_pointer_cast(p + 2);    // for operations that take an address
#pragma once

#include <gantry/numeric/packed.hpp>
#include <gantry/tensor/access.hpp>
#include <gantry/tensor/index.hpp>

namespace gantry {

// A distance, one number along each axis.
template <class Index, int axes>
struct Offset {
  Index along[axes];
};

namespace detail {

template <class T>
struct WithoutConst {
  using type = T;
};
template <class T>
struct WithoutConst<const T> {
  using type = T;
};
template <class T>
using without_const = typename WithoutConst<T>::type;

template <bool first, class A, class B>
struct Choose {
  using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using type = B;
};

// A byte that is const where T is.
template <class T>
struct ByteLike {
  using type = unsigned char;
};
template <class T>
struct ByteLike<const T> {
  using type = const unsigned char;
};

template <class T>
inline constexpr bool kIsConst = !__is_same(T, without_const<T>);

template <class T>
inline constexpr bool kIsPacked = SubByte<without_const<T>>;

// What memory holds: the elements, or the bytes that they are packed into.
template <class T, bool packed = kIsPacked<T>>
struct StoredAsImpl {
  using type = T;
};
template <class T>
struct StoredAsImpl<T, true> {
  using type = std::uint8_t;
};
template <class T>
using StoredAs = typename StoredAsImpl<T>::type;

// Shared memory and registers are small enough for 32-bit offsets.
template <Memory memory>
struct IndexOf {
  using type = int;
};
template <>
struct IndexOf<Memory::global> {
  using type = std::int64_t;
};

}  // namespace detail

// ---- Whole bytes

// Stored is the type of the objects in memory, where a recast looks at registers as another type.
template <Memory kMemory, class T, class Stored = T>
class Pointer {
 public:
  using value_type = detail::without_const<T>;
  using element_type = T;
  using Index = typename detail::IndexOf<kMemory>::type;
  using At = Offset<Index, 1>;
  static constexpr Memory memory = kMemory;
  static constexpr int axes = 1;

  Pointer() = default;
  GANTRY_INLINE constexpr explicit Pointer(T* p) : p_(p) {}

  GANTRY_INLINE constexpr T* get() const { return p_; }
  GANTRY_INLINE constexpr decltype(auto) operator[](Index i) const { return at({i}); }
  GANTRY_INLINE constexpr Pointer operator+(Index n) const { return Pointer(p_ + n); }

  GANTRY_INLINE constexpr decltype(auto) at(At offset) const {
    if constexpr (memory == Memory::registers && __is_same(T, Stored)) {
      return static_cast<T&>(p_[offset.along[0]]);
    } else {
      return ElementReference<memory, T>(p_ + offset.along[0]);
    }
  }
  GANTRY_INLINE constexpr Pointer moved(At offset) const { return *this + offset.along[0]; }
  GANTRY_INLINE constexpr Pointer address(At offset) const { return moved(offset); }
  GANTRY_INLINE Pointer moved_bytes(std::int64_t n) const {
    using Byte = typename detail::ByteLike<T>::type;
    return Pointer(reinterpret_cast<T*>(reinterpret_cast<Byte*>(p_) + n));
  }

 private:
  T* p_ = nullptr;
};

// ---- Parts of bytes

namespace detail {

// The smallest group of bytes that holds whole elements.
template <class T>
struct PackedGroup {
  static constexpr int width = sizeof_bits_v<T>;
  static constexpr int bytes = 8 % width == 0 ? 1 : width / 2;
  static constexpr int elements = 8 * bytes / width;
};
static_assert(PackedGroup<e3m2>::bytes == 3 && PackedGroup<e3m2>::elements == 4);

template <Memory memory, class T>
class PackedElementReference {
  using Value = without_const<T>;
  using Group = PackedGroup<Value>;

 public:
  GANTRY_INLINE PackedElementReference(std::uint8_t* bytes, std::int64_t index)
      : bytes_(bytes + index / Group::elements * Group::bytes), index_(static_cast<int>(index % Group::elements)) {}
  PackedElementReference(const PackedElementReference&) = default;

  GANTRY_INLINE operator Value() const {
    std::uint8_t group[Group::bytes];
    read(group);
    return load_packed<Value>(group, index_);
  }
  GANTRY_INLINE const PackedElementReference& operator=(Value value) const {
    static_assert(!kIsConst<T>, "gantry: this tensor's elements are const and cannot be written");
    std::uint8_t group[Group::bytes];
    read(group);
    store_packed(group, index_, value);
    for (int b = first(); b <= last(); ++b) store_element<memory>(bytes_ + b, group[b]);
    return *this;
  }
  GANTRY_INLINE const PackedElementReference& operator=(const PackedElementReference& other) const {
    return *this = static_cast<Value>(other);
  }
  GANTRY_INLINE PackedElementReference& operator=(const PackedElementReference& other) {
    static_cast<const PackedElementReference&>(*this) = static_cast<Value>(other);
    return *this;
  }

 private:
  GANTRY_INLINE int first() const { return index_ * Group::width / 8; }
  GANTRY_INLINE int last() const { return (index_ * Group::width + Group::width - 1) / 8; }
  GANTRY_INLINE void read(std::uint8_t (&group)[Group::bytes]) const {
    for (int b = first(); b <= last(); ++b) {
      group[b] = load_element<memory>(static_cast<const std::uint8_t*>(bytes_ + b));
    }
  }

  std::uint8_t* bytes_;
  int index_;
};

}  // namespace detail

template <Memory kMemory, class T, class Stored>
requires detail::kIsPacked<T>
class Pointer<kMemory, T, Stored> {
 public:
  using value_type = detail::without_const<T>;
  using element_type = T;
  using Index = typename detail::IndexOf<kMemory>::type;
  using At = Offset<Index, 1>;
  static constexpr Memory memory = kMemory;
  static constexpr int axes = 1;

  Pointer() = default;
  GANTRY_INLINE constexpr explicit Pointer(std::uint8_t* bytes, Index index = 0) : bytes_(bytes), index_(index) {}

  // The byte that holds the first bit of the element.
  GANTRY_INLINE constexpr std::uint8_t* get() const { return bytes_ + index_ * sizeof_bits_v<T> / 8; }
  GANTRY_INLINE constexpr auto operator[](Index i) const { return at({i}); }
  GANTRY_INLINE constexpr Pointer operator+(Index n) const { return Pointer(bytes_, index_ + n); }

  GANTRY_INLINE constexpr auto at(At offset) const {
    return detail::PackedElementReference<memory, T>(bytes_, index_ + offset.along[0]);
  }
  GANTRY_INLINE constexpr Pointer moved(At offset) const { return *this + offset.along[0]; }
  GANTRY_INLINE constexpr Pointer address(At offset) const { return moved(offset); }
  GANTRY_INLINE Pointer moved_bytes(std::int64_t n) const { return Pointer(bytes_ + n, index_); }

 private:
  std::uint8_t* bytes_ = nullptr;
  Index index_ = 0;
};

// ---- Making pointers

// Of packed elements, the address of the first byte.
template <class T>
GANTRY_INLINE constexpr auto make_gmem_ptr(T* p) {
  return Pointer<Memory::global, T>(p);
}
template <class T>
GANTRY_INLINE constexpr auto make_smem_ptr(T* p) {
  return Pointer<Memory::shared, T>(p);
}
template <class T>
GANTRY_INLINE constexpr auto make_rmem_ptr(T* p) {
  return Pointer<Memory::registers, T>(p);
}

namespace detail {

// A raw address as a pointer to elements of type T.
template <Memory memory, class T>
GANTRY_INLINE auto pointer_at(const void* p) {
  return Pointer<memory, T>(static_cast<StoredAs<T>*>(const_cast<void*>(p)));
}

}  // namespace detail

// Elements of type T in raw storage: make_smem_ptr<f16>(storage). Sub-byte elements are made so.
template <class T>
GANTRY_INLINE auto make_gmem_ptr(void* p) {
  return detail::pointer_at<Memory::global, T>(p);
}
template <class T>
GANTRY_INLINE auto make_gmem_ptr(const void* p) {
  return detail::pointer_at<Memory::global, const T>(p);
}
template <class T>
GANTRY_INLINE auto make_smem_ptr(void* p) {
  return detail::pointer_at<Memory::shared, T>(p);
}
template <class T>
GANTRY_INLINE auto make_smem_ptr(const void* p) {
  return detail::pointer_at<Memory::shared, const T>(p);
}

// The address that an operation of the hardware takes.
template <Memory memory, class T, class Stored>
GANTRY_INLINE constexpr auto raw_pointer_cast(const Pointer<memory, T, Stored>& p) {
  return p.get();
}

// ---- Registers

// n elements that belong to one thread. On the GPU they are registers where every index is a constant after unrolling.
template <class T, int n>
class RegisterArray {
 public:
  using value_type = T;
  using element_type = T;
  using Index = int;
  using At = Offset<int, 1>;
  static constexpr Memory memory = Memory::registers;
  static constexpr int axes = 1;

  GANTRY_INLINE constexpr auto data() { return Pointer<Memory::registers, T>(storage_); }
  GANTRY_INLINE constexpr auto data() const {
    if constexpr (detail::kIsPacked<T>) {
      return Pointer<Memory::registers, const T>(const_cast<std::uint8_t*>(storage_));
    } else {
      return Pointer<Memory::registers, const T>(storage_);
    }
  }
  GANTRY_INLINE constexpr decltype(auto) at(At offset) { return data().at(offset); }
  GANTRY_INLINE constexpr decltype(auto) at(At offset) const { return data().at(offset); }
  GANTRY_INLINE constexpr auto moved(At offset) { return data().moved(offset); }
  GANTRY_INLINE constexpr auto moved(At offset) const { return data().moved(offset); }

 private:
  using Stored = detail::StoredAs<T>;
  Stored storage_[detail::kIsPacked<T> ? bytes_for_bits(sizeof_bits_v<T>, n) : n];
};

// ---- Coordinates

// A point, one integer along each axis.
template <int axes>
struct Coordinate {
  int along[axes];

  GANTRY_INLINE constexpr int operator[](int axis) const { return along[axis]; }
  GANTRY_INLINE friend constexpr bool operator==(const Coordinate& a, const Coordinate& b) {
    for (int i = 0; i < axes; ++i) {
      if (a.along[i] != b.along[i]) return false;
    }
    return true;
  }
};

// Every axis of a is less than that of b: the coordinate a lies inside a box that ends at b.
template <int axes>
GANTRY_INLINE constexpr bool elem_less(const Coordinate<axes>& a, const Coordinate<axes>& b) {
  for (int i = 0; i < axes; ++i) {
    if (a.along[i] >= b.along[i]) return false;
  }
  return true;
}

// A counting iterator: the element at an offset is the coordinate reached.
template <int kAxes>
class CoordinateCounter {
 public:
  using value_type = Coordinate<kAxes>;
  using element_type = const value_type;
  using Index = int;
  using At = Offset<int, kAxes>;
  static constexpr int axes = kAxes;

  CoordinateCounter() = default;
  GANTRY_INLINE constexpr explicit CoordinateCounter(const value_type& origin) : origin_(origin) {}

  GANTRY_INLINE constexpr value_type at(const At& offset) const {
    value_type out = origin_;
    for (int i = 0; i < axes; ++i) out.along[i] += offset.along[i];
    return out;
  }
  GANTRY_INLINE constexpr CoordinateCounter moved(const At& offset) const { return CoordinateCounter(at(offset)); }
  GANTRY_INLINE constexpr const value_type& origin() const { return origin_; }

 private:
  value_type origin_ = {};
};

// A counter with further axes whose unit is a run-time number of steps along another: axis kAxes + k counts scale[k]
// along axis Targets::axis(k).
template <int kAxes, int kScales, class Targets>
class ScaledCounter {
 public:
  using value_type = Coordinate<kAxes>;
  using element_type = const value_type;
  using Index = int;
  using At = Offset<int, kAxes + kScales>;
  static constexpr int axes = kAxes + kScales;

  struct Scales {
    int of[kScales];
  };
  ScaledCounter() = default;
  GANTRY_INLINE constexpr ScaledCounter(const value_type& origin, const Scales& scales)
      : origin_(origin), scales_(scales) {}

  GANTRY_INLINE constexpr value_type at(const At& offset) const {
    value_type out = origin_;
    for (int i = 0; i < kAxes; ++i) out.along[i] += offset.along[i];
    add_scaled(out, offset, make_sequence<kScales>{});
    return out;
  }
  GANTRY_INLINE constexpr ScaledCounter moved(const At& offset) const { return {at(offset), scales_}; }
  GANTRY_INLINE constexpr const value_type& origin() const { return origin_; }

 private:
  template <int... ks>
  GANTRY_INLINE constexpr void add_scaled(value_type& out, const At& offset, Sequence<ks...>) const {
    ((out.along[Constant<Targets::axis(ks)>::value] += offset.along[kAxes + ks] * scales_.of[ks]), ...);
  }

  value_type origin_ = {};
  Scales scales_ = {};
};

// ---- Strides known at run time

// A pointer whose further axes step by run-time strides: axis 0 counts elements, axis i counts strides[i - 1].
template <class P, int kStrides>
class StridedPointer {
 public:
  using value_type = typename P::value_type;
  using element_type = typename P::element_type;
  using Index = typename P::Index;
  using At = Offset<Index, kStrides + 1>;
  static constexpr Memory memory = P::memory;
  static constexpr int axes = kStrides + 1;

  struct Strides {
    Index of[kStrides];
  };
  StridedPointer() = default;
  GANTRY_INLINE constexpr StridedPointer(P p, const Strides& strides) : p_(p), strides_(strides) {}

  GANTRY_INLINE constexpr P base() const { return p_; }
  GANTRY_INLINE constexpr const Strides& strides() const { return strides_; }
  GANTRY_INLINE constexpr decltype(auto) at(const At& offset) const { return p_.at({elements(offset)}); }
  GANTRY_INLINE constexpr StridedPointer moved(const At& offset) const { return {p_ + elements(offset), strides_}; }
  GANTRY_INLINE constexpr P address(const At& offset) const { return p_ + elements(offset); }

 private:
  GANTRY_INLINE constexpr Index elements(const At& offset) const {
    Index sum = offset.along[0];
    for (int i = 0; i < kStrides; ++i) sum += offset.along[i + 1] * strides_.of[i];
    return sum;
  }

  P p_;
  Strides strides_ = {};
};

}  // namespace gantry
