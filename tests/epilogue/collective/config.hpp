// Configurations of EpilogueKernel for tests: what most of them share, and the problems that they ask for.
#pragma once

#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>

#include "problem.hpp"

namespace gantry::test {

struct Plain {
  using Functions = fusion::UserFunctions<>;
};

// The problem that a configuration's policy asks for.
template <class Config>
ProblemOptions options_for(ProblemOptions options) {
  // In constant expressions only: nvcc would want a policy that is read otherwise on the device as well.
  constexpr MatrixSpec c{Config::policy.c.element, !Config::policy.c.m_major()};
  constexpr MatrixSpec d{Config::policy.d.element, !Config::policy.d.m_major()};
  constexpr ElementType accumulator = Config::policy.element_acc;
  options.accumulator = accumulator;
  options.c = c;
  options.d = d;
  return options;
}

// A buffer as the operand that a configuration takes for it, at `pointer`. As a tensor, rows are the pixels of images
// of 5, 5 x 4 or 5 x 4 x 2, so that tiles begin anywhere in an image.
template <int kAxes>
EpilogueMatrix operand_of(const Buffer& buffer, void* pointer, const fusion::ProblemShape&, const EpilogueMatrix&) {
  return {pointer, buffer.stride, buffer.batch_stride};
}
template <int kAxes>
EpilogueTensor operand_of(const Buffer& buffer, void* pointer, const fusion::ProblemShape& shape,
                          const EpilogueTensor&) {
  EpilogueTensor out;
  out.pointer = pointer;
  constexpr int kExtents[] = {5, 4, 2};
  std::int64_t pixels = 1;
  for (int i = 0; i < kAxes; ++i) {
    out.extent[i] = kExtents[i];
    out.strides[i] = pixels * buffer.stride;
    pixels *= kExtents[i];
  }
  out.images = shape.m / pixels;
  out.strides[kAxes] = pixels * buffer.stride;
  return out;
}

template <class Config, class Operand>
void hand_over_c(Operand& to, const Buffer& buffer, void* pointer, const fusion::ProblemShape& shape) {
  constexpr int kAxes = spatial_rank(Config::policy.c.layout);
  to = operand_of<kAxes>(buffer, pointer, shape, to);
}
template <class Config, class Operand>
void hand_over_d(Operand& to, const Buffer& buffer, void* pointer, const fusion::ProblemShape& shape) {
  constexpr int kAxes = spatial_rank(Config::policy.d.layout);
  to = operand_of<kAxes>(buffer, pointer, shape, to);
}

}  // namespace gantry::test
