// How a kernel was come by, in words: compiled now, or found in the cache.
#pragma once

#include <string>

#include <gantry/runtime/cache.hpp>

namespace gantry::tool {

// "compiled in 2.3 s and kept in the cache". The image may be gone.
std::string origin_of(const runtime::CachedKernel& kernel);

}  // namespace gantry::tool
