#include "failing_threads.hpp"

#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

// Stands before the C library's, which it calls.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*begin)(void*), void* argument) noexcept {
  if (gantry::runtime::test::no_more_threads) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, begin, argument);
}
