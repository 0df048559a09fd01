// A problem for an epilogue in host memory, made from a seed: accumulators, C, every argument of a graph, and room for
// what the epilogue writes, with padded rows. What lies between and behind the elements must stay as it was.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gantry/epilogue/fusion/reference.hpp>

namespace gantry::test {

struct MatrixSpec {
  ElementType element = ElementType::void_;  // void: there is none
  bool row_major = true;
};

struct ProblemOptions {
  fusion::ProblemShape shape;
  ElementType accumulator = ElementType::f32;
  MatrixSpec c{}, d{};
  std::uint64_t seed = 0;
  bool by_batch = false;   // vectors, scalars and reductions have one for each batch
  bool leave_out = false;  // what has a default is left out
  bool scalar_by_value = true;
};

// Bytes of a tensor, and which of them are its elements.
struct Buffer {
  std::vector<std::uint8_t> bytes;
  std::int64_t stride = 0, batch_stride = 0;
  bool row_major = true;
  ElementType element = ElementType::void_;
  fusion::ProblemShape shape{};  // of a matrix

  void* data() { return bytes.data(); }
  const void* data() const { return bytes.data(); }
  fusion::ReferenceTensor tensor() const {
    return {element, bytes.data(), row_major ? stride : 1, row_major ? 1 : stride, batch_stride};
  }
};

class Problem {
 public:
  Problem(const fusion::Graph& graph, const ProblemOptions& options);

  const fusion::Graph& graph() const { return graph_; }
  const ProblemOptions& options() const { return options_; }
  Buffer& accumulators() { return accumulators_; }
  Buffer& c() { return c_; }
  Buffer& d() { return d_; }
  Buffer& argument(int i) { return arguments_[static_cast<std::size_t>(i)]; }
  Buffer& argument(const char* name);
  fusion::FusionArguments& fusion() { return *fusion_; }
  const fusion::FusionArguments& fusion() const { return *fusion_; }

  // Poisons everything that the epilogue writes.
  void clear_outputs();

  fusion::ReferenceProblem reference() const;
  // By the reference, of a graph without user functions.
  fusion::ReferenceResult expected() const;

  // What is wrong with the outputs, in a sentence; empty: every element is in its interval, and nothing else was
  // written.
  std::string wrong(const fusion::ReferenceResult& expected) const;

 private:
  void make_argument(int i);
  std::string wrong_tensor(const std::string& name, const std::vector<fusion::Range>& expected,
                           const Buffer& buffer) const;
  std::string wrong_reduction(int i, const std::vector<fusion::Range>& expected) const;

  fusion::Graph graph_;
  ProblemOptions options_;
  std::mt19937_64 random_;
  Buffer accumulators_, c_, d_;
  std::vector<Buffer> arguments_;
  std::unique_ptr<fusion::FusionArguments> fusion_;
};

}  // namespace gantry::test
