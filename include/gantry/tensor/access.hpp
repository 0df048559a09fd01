// How one element is read from and written to memory. Tensors reach shared and global memory through load_element and
// store_element alone.
//
// On the GPU they are a load and a store. On the host they go through memory_hooks where a hook is set, so that the
// simulator sees every byte that a kernel accesses; without hooks they copy.
//
// Example:
//     using namespace gantry;
//     float x = 2;
//     store_element<Memory::global>(&x, 2 * load_element<Memory::global>(&x));
#pragma once

#include <gantry/config.hpp>

namespace gantry {

// Where an element lives.
enum class Memory : std::uint8_t { global, shared, registers };

// Watches every element access of this host thread to global and shared memory. A hook moves the bytes itself.
struct MemoryHooks {
  using Move = void (*)(Memory memory, void* to, const void* from, std::uint32_t bytes);
  Move load = nullptr;
  Move store = nullptr;
};
#if !defined(__CUDACC_RTC__)  // which knows no thread of the host
inline constinit thread_local MemoryHooks memory_hooks{};
#endif

template <Memory memory, class T>
GANTRY_INLINE T load_element(const T* from) {
#if GANTRY_ON_DEVICE
  return *from;
#else
  T value;
  if (memory != Memory::registers && memory_hooks.load != nullptr) {
    memory_hooks.load(memory, &value, from, sizeof(T));
  } else {
    __builtin_memcpy(static_cast<void*>(&value), static_cast<const void*>(from), sizeof(T));
  }
  return value;
#endif
}

template <Memory memory, class T>
GANTRY_INLINE void store_element(T* to, const T& value) {
#if GANTRY_ON_DEVICE
  *to = value;
#else
  if (memory != Memory::registers && memory_hooks.store != nullptr) {
    memory_hooks.store(memory, to, &value, sizeof(T));
  } else {
    __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(&value), sizeof(T));
  }
#endif
}

// Stands for one element, as T& does. Reading and writing it are a load_element and a store_element. Through T const it
// can only be read.
template <Memory memory, class T>
class ElementReference;

template <Memory memory, class T>
class ElementReference<memory, const T> {
 public:
  GANTRY_INLINE explicit ElementReference(const T* at) : at_(at) {}
  GANTRY_INLINE operator T() const { return load_element<memory>(at_); }

 private:
  const T* at_;
};

template <Memory memory, class T>
class ElementReference {
 public:
  GANTRY_INLINE explicit ElementReference(T* at) : at_(at) {}
  ElementReference(const ElementReference&) = default;

  GANTRY_INLINE operator T() const { return load_element<memory>(static_cast<const T*>(at_)); }
  GANTRY_INLINE const ElementReference& operator=(const T& value) const {
    store_element<memory>(at_, value);
    return *this;
  }
  // Assigns the element, as a reference does, and not the place.
  GANTRY_INLINE const ElementReference& operator=(const ElementReference& other) const {
    return *this = static_cast<T>(other);
  }
  GANTRY_INLINE ElementReference& operator=(const ElementReference& other) {
    store_element<memory>(at_, static_cast<T>(other));
    return *this;
  }

 private:
  T* at_;
};

}  // namespace gantry
