// What every test that runs on a GPU begins with: calls that may fail end the program with a sentence.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include <gantry/tma/encode.hpp>

namespace gantry_test {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline gantry::TmaDescriptor encode(const gantry::TmaDescriptorParams& params) {
  const gantry::EncodedTmaDescriptor encoded = gantry::encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

}  // namespace gantry_test
