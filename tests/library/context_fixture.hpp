// A context on the pretended GPU, with a cache and a tuning file of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <gantry/context.hpp>
#include <gantry/gantry.h>

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
  // The same in C; the caller destroys the context.
  gantry_context* context_in_c() const {
    const std::string cache = folder_ / "cache";
    gantry_context_options on = GANTRY_CONTEXT_OPTIONS;
    on.machine = GANTRY_MACHINE_GPU;
    on.cache_directory = cache.c_str();
    gantry_context* out = nullptr;
    EXPECT_EQ(gantry_context_create(&on, &out), GANTRY_OK) << gantry_error_message();
    return out;
  }
  static gantry_call small_call_in_c() {
    gantry_call out = GANTRY_CALL;
    out.m = out.n = out.k = 512;
    out.a.data = address(1);
    out.b.data = address(2);
    out.d.data = address(3);
    return out;
  }
  static std::vector<FakeLaunch> launches() {
    const std::lock_guard<std::mutex> lock(fake_gpu().mutex);
    return fake_gpu().launches;
  }

  Folder folder_;
  Variable nvrtc_, tuning_;
};

}  // namespace gantry::runtime::test
