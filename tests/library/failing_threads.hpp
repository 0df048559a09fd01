// Threads that cannot be started: pthread_create, as this program calls it, fails while this says so.
#pragma once

#include <atomic>

namespace gantry::runtime::test {

inline std::atomic<bool> no_more_threads = false;

}  // namespace gantry::runtime::test
