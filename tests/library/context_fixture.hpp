// A context on the pretended GPU, with a cache and a tuning file of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <gantry/context.hpp>

#include "fake_gpu.hpp"
#include "stand_in.hpp"

namespace gantry::runtime::test {

class ContextTest : public testing::Test {
 protected:
  ContextTest() : nvrtc_("GANTRY_NVRTC", GANTRY_FAKE_COMPILER), tuning_("GANTRY_TUNING", folder_ / "tuning") {
    fake_gpu().reset();
    fake_nvrtc().reset();
  }

  ContextOptions options(CompilePolicy policy = CompilePolicy::wait) const {
    ContextOptions out;
    out.policy = policy;
    out.cache_directory = folder_ / "cache";
    return out;
  }

  // Nothing is computed: any address does.
  static void* address(std::uintptr_t i) { return reinterpret_cast<void*>(i << 32); }  // NOLINT
  static GemmCall call(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.m = m, .n = n, .k = k, .a = address(1), .b = address(2), .d = address(3)};
  }
  static std::vector<FakeLaunch> launches() {
    const std::lock_guard<std::mutex> lock(fake_gpu().mutex);
    return fake_gpu().launches;
  }

  Folder folder_;
  Variable nvrtc_, tuning_;
};

}  // namespace gantry::runtime::test
